// One client's connection: it serves requests one after the other, within limits of time and size. Everything runs on
// the thread of the server's io_context, except handlers: each has its own thread while it runs. A slow, idle or
// vanished client holds no thread.
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

namespace inkling::web {

class Connection;

struct HttpRoute {
    std::string method, path;
    HttpHandler handler;
    HttpAccess access;
};

// What the connections of a server share.
struct HttpService {
    HttpOptions options;
    std::vector<HttpRoute> routes = {};
    std::atomic<bool> ending = false;
    std::atomic<std::size_t> open = 0, busy = 0;  // connections that are served; requests that came before the end
    std::set<Connection*> connections = {};       // all, those that are refused, too; of io's thread
    boost::asio::io_context io{1};
};

class Connection : public std::enable_shared_from_this<Connection> {
  public:
    Connection(boost::asio::ip::tcp::socket socket, HttpService& service);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    void serve();        // refuses where there are too many
    void end_if_idle();  // when no request runs
    void cut();          // whatever it does

  private:
    using Then = void (Connection::*)(bool ok);
    void receive(Then then);  // appends to ahead_
    void write(std::string text, std::function<void(bool ok)> then);
    void set_deadline(double seconds);  // after which what is received or written is not ok

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
    bool late_ = false;  // the deadline is over
    std::array<char, 8192> buffer_;
    std::string ahead_, out_;  // received, and not yet read; being written
    std::size_t unread_ = 0;   // bytes to be thrown away at the end

    std::optional<RequestParser> parser_;
    bool begun_ = false, busy_ = false;  // the request has a first byte, and a whole head
    bool last_ = true;                   // the connection ends with this request
    bool counted_ = false;               // in open
    double start_ = seconds_now();       // of the request
    const HttpRoute* route_ = nullptr;
    HttpResponse response_;
    std::optional<bool> streamed_;  // whether all of a stream has been sent; none: no stream
    std::jthread thread_;           // of the handler
};

}  // namespace inkling::web
