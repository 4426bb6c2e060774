// One client's connection. It serves requests in sequence, within limits of time and size. Everything runs on the
// thread of the server's io_context, except handlers, each of which has its own thread. A slow, idle or vanished client
// holds no thread.
#pragma once

#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <optional>
#include <set>
#include <thread>

#include "engine/base/clock.h"
#include "web/http/http_request.h"
#include "web/http/peer.h"
#include "web/http/routes.h"

namespace inkling::web {

class Connection;

// State shared by all connections of a server.
struct HttpService {
    HttpOptions options;
    std::vector<HttpRoute> routes = {};
    std::atomic<bool> ending = false;
    std::atomic<std::size_t> open = 0, busy = 0;  // served connections; requests accepted before the shutdown
    std::set<Connection*> connections = {};       // all, including refused ones; only io's thread uses it
    boost::asio::io_context io{1};
};

class Connection : public std::enable_shared_from_this<Connection> {
  public:
    Connection(boost::asio::ip::tcp::socket socket, HttpService& service);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    void serve();        // or refuses, if there are too many
    void end_if_idle();  // if no request runs
    void cut();          // at once

  private:
    using Then = void (Connection::*)(bool ok);
    void receive(Then then);  // appends to ahead_
    void write(std::string text, std::function<void(bool ok)> then);
    void set_deadline(double seconds);  // later receives and writes fail

    void next_request();
    void read_head(bool ok);
    void check_request();
    void read_body(bool ok);
    void run();
    void set_busy(bool busy);

    // On the thread of the handler.
    void handle();
    bool stream();
    bool send(std::string text);

    std::string head();
    void refuse(const HttpError& error);
    void answer();  // response_
    void finish(bool ok);
    void drain(bool ok);

    HttpService& service_;
    boost::asio::ip::tcp::socket socket_;
    boost::asio::steady_timer timer_;
    bool late_ = false;  // the deadline has passed
    std::array<char, 8192> buffer_;
    std::string ahead_, out_;  // received but not parsed; being written
    std::size_t unread_ = 0;   // bytes to discard at the end

    std::optional<RequestParser> parser_;
    bool begun_ = false, busy_ = false;  // the first byte has come; the whole head has
    bool last_ = true;                   // close after this request
    bool counted_ = false;               // counted in open
    double start_ = seconds_now();       // time of the request's first byte
    const HttpRoute* route_ = nullptr;
    std::shared_ptr<Peer> peer_;  // of the running request
    HttpResponse response_;
    std::optional<bool> streamed_;  // whether the whole stream was sent; none: no stream
    std::jthread thread_;           // runs the handler
};

}  // namespace inkling::web
