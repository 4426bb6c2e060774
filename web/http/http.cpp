// Boost.Asio moves the bytes, on one thread for all connections (connection.h), and Boost.Beast parses them
// (http_request.h).
#include "web/http/http.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include "engine/base/clock.h"
#include "web/http/connection.h"

namespace inkling::web {

namespace asio = boost::asio;
using asio::ip::tcp;

class HttpServer::Implementation {
  public:
    explicit Implementation(HttpOptions options) : service_{std::move(options)} {
        HttpOptions& o = service_.options;
        check(is_loopback(o.host) || !o.keys.empty() || o.insecure,
              "serve: on {} every machine that reaches this one could use the models: use keys or --insecure", o.host);
        // A system without /etc/hosts does not resolve localhost, and others may resolve it to ::1 alone.
        const std::string host = o.host == "localhost" ? "127.0.0.1" : o.host;
        try {
            const auto found = tcp::resolver(service_.io).resolve(host, std::to_string(o.port), tcp::resolver::passive);
            acceptor_ = tcp::acceptor(service_.io, found.begin()->endpoint());
            o.port = acceptor_.local_endpoint().port();
        } catch (const boost::system::system_error& e) {
            throw Error(fmt::format("serve: {}:{} cannot be bound: {}: choose another address or port", o.host, o.port,
                                    e.code().message()));
        }
    }

    HttpService& service() { return service_; }

    void start() {
        accept();
        thread_ = std::thread([this] {
            for (bool more = true; more;) {
                try {
                    if (!accepting_ && acceptor_.is_open()) accept();
                    service_.io.run();
                    more = false;
                } catch (const std::exception&) {  // out of memory for a connection, which is closed
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
                    // It may have been thrown between the end of an accept and its handler, which then never runs.
                    boost::system::error_code ignored;
                    acceptor_.cancel(ignored);
                    accepting_ = false;
                }
            }
        });
    }

    void end(double grace, const std::function<void()>& give_up) {
        constexpr double kMoment = 0.5;
        if (!thread_.joinable()) return;
        const auto none_busy = [this] { return service_.busy == 0; };
        service_.ending = true;
        asio::post(service_.io, [this] {
            for (Connection* const connection : service_.connections) connection->end_if_idle();
        });
        if (!wait_until(none_busy, grace) && give_up) {
            give_up();
            wait_until(none_busy, kMoment);
        }
        const auto none_open = [this] { return service_.open == 0; };
        wait_until(none_open, kMoment);
        asio::post(service_.io, [this] {
            acceptor_.close();
            for (Connection* const connection : service_.connections) connection->cut();
        });
        while (!none_open()) wait_until(none_open, kMoment);  // wait for handlers
        work_.reset();
        thread_.join();
    }

  private:
    void accept() {
        acceptor_.async_accept([this](const boost::system::error_code& error, tcp::socket socket) {
            if (error == asio::error::operation_aborted) return;  // cancelled: another accept has begun
            accepting_ = false;
            if (!acceptor_.is_open()) return;
            if (!error) {
                try {
                    begin(std::move(socket));
                } catch (const std::exception&) {  // out of memory: the socket is closed
                }
                return accept();
            }
            retry_.expires_after(std::chrono::milliseconds(10));  // out of file descriptors
            retry_.async_wait([this](const boost::system::error_code&) {
                if (!accepting_) accept();
            });
        });
        accepting_ = true;
    }

    void begin(tcp::socket socket) {
        constexpr std::size_t kMostRefused = 256;  // at once; more are closed without a response
        if (service_.connections.size() >= service_.options.max_connections + kMostRefused) return;
        boost::system::error_code ignored;
        socket.set_option(tcp::no_delay(true), ignored);
        std::make_shared<Connection>(std::move(socket), service_)->serve();
    }

    template <class Condition>
    static bool wait_until(const Condition& condition, double seconds) {
        const double end = seconds_now() + seconds;
        while (!condition() && seconds_now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        return condition();
    }

    HttpService service_;
    tcp::acceptor acceptor_{service_.io};
    asio::steady_timer retry_{service_.io};
    asio::executor_work_guard<asio::io_context::executor_type> work_{service_.io.get_executor()};
    bool accepting_ = false;
    std::thread thread_;
};

static bool listens_everywhere(const std::string& host) { return host == "0.0.0.0" || host == "::"; }

HttpServer::HttpServer(HttpOptions options) : implementation_(std::make_unique<Implementation>(std::move(options))) {}
HttpServer::~HttpServer() { stop(); }
void HttpServer::route(const std::string& method, const std::string& path, HttpHandler handler, HttpAccess access) {
    implementation_->service().routes.push_back({method, path, std::move(handler), access});
}
void HttpServer::start() { implementation_->start(); }
void HttpServer::stop(double grace, const std::function<void()>& give_up) { implementation_->end(grace, give_up); }
int HttpServer::port() const { return implementation_->service().options.port; }
std::size_t HttpServer::connections() const { return implementation_->service().open; }
std::string HttpServer::url() const {
    std::string host = implementation_->service().options.host;
    if (listens_everywhere(host)) host = host == "::" ? "::1" : "127.0.0.1";  // no browser opens http://0.0.0.0
    return fmt::format("http://{}:{}", host.find(':') == std::string::npos ? host : "[" + host + "]", port());
}

std::string HttpServer::places() const {
    const bool everywhere = listens_everywhere(implementation_->service().options.host);
    return url() + (everywhere ? " and this machine's other addresses" : "");
}

}  // namespace inkling::web
