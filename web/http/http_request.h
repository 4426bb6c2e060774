// Reads requests from the bytes of a connection; Boost.Beast parses them. It refuses everything that is not strictly
// HTTP/1.1, since a proxy and a server that disagree on where a request ends allow request smuggling.
//   RequestParser parser(1 << 20);
//   while (!parser.read_head(bytes)) bytes += receive();  // consumes from `bytes`
//   check(parser.request());
//   while (!parser.read_body(bytes)) bytes += receive();  // the next request begins there
//   answer(parser.request());
#pragma once

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "web/http/http.h"

namespace inkling::web {

class RequestParser {
  public:
    explicit RequestParser(std::size_t max_body);

    // Whether the head, or the body, is complete. Throw HttpError 400, 413, 414, 415 and 431.
    bool read_head(std::string& bytes);
    bool read_body(std::string& bytes);

    const HttpRequest& request() const { return request_; }
    HttpRequest& request() { return request_; }
    bool http_1_0() const { return parser_.get().version() == 10; }  // no chunks and no 100 Continue for its clients
    bool keep_alive() const { return parser_.keep_alive() && !http_1_0(); }
    bool complete() const { return parser_.is_done(); }

  private:
    void read(std::string& bytes);
    void take_head();

    const std::size_t max_body_;
    boost::beast::http::request_parser<boost::beast::http::string_body> parser_;
    HttpRequest request_;
};

}  // namespace inkling::web
