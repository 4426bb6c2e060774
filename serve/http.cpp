// cpp-httplib parses the heads of requests and writes answers. Connections are ours, with their time limits
// (connection.h), their threads (listener.h) and their bodies (http_body.h). Of its versions, 0.11 and 0.18 compile.
#include "serve/http.h"

#include <httplib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "engine/clock.h"
#include "serve/connection.h"
#include "serve/http_answer.h"
#include "serve/http_body.h"
#include "serve/http_rules.h"
#include "serve/listener.h"
#include "serve/open_connections.h"

namespace inkling::serve {
namespace {

constexpr std::size_t kMaxTarget = 1024;  // bytes of a path and its query

// What one request has to do with its connection; of the thread that serves it.
struct Exchange {
    Connection& connection;
    const HttpHead& head;
    bool stopping;
    bool body_read = false, last = false;
    std::string route = "";
    int status = 0;
};
thread_local Exchange* current = nullptr;

bool body_is_read() { return current->body_read || !current->head.has_body(); }

// What the library reads: the head alone. A body would be read by its own, lenient rules.
class Stream : public httplib::Stream {
  public:
    Stream(Connection& connection, std::string_view head) : connection_(connection), head_(head) {}
    bool is_readable() const override { return true; }
    bool is_writable() const override { return !Connection::hung_up(connection_.socket()); }
    ssize_t read(char* data, size_t size) override {
        const std::size_t n = head_.copy(data, size);
        head_.remove_prefix(n);
        return static_cast<ssize_t>(n);
    }
    ssize_t write(const char* data, size_t size) override {
        return connection_.write(data, size) ? static_cast<ssize_t>(size) : -1;
    }
    void get_remote_ip_and_port(std::string&, int&) const override {}
    void get_local_ip_and_port(std::string&, int&) const override {}
    socket_t socket() const override { return connection_.socket(); }

  private:
    Connection& connection_;
    std::string_view head_;
};

}  // namespace

class HttpServer::Implementation : public httplib::Server {
  public:
    explicit Implementation(HttpOptions options) : options_(std::move(options)) {
        check(is_loopback(options_.host) || !options_.keys.empty() || options_.insecure,
              "serve: on {} anybody who reaches this machine may use the models: give keys, or say --insecure",
              options_.host);
        set_limits();
        set_handlers();
        bind();
    }

    void add_route(const std::string& method, const std::string& path, HttpHandler handler, HttpAccess access) {
        routes_[path][method] = {std::move(handler), access};
    }

    void start() {
        listener_.emplace(
            svr_sock_, options_.max_connections, [this](int socket) { serve(socket); },
            refusal_text({503, "too many connections", "", "too_many_connections"}));
    }

    void end(double grace, const std::function<void()>& give_up) {
        open_.end(grace, give_up);
        listener_.reset();
        if (const socket_t bound = svr_sock_.exchange(INVALID_SOCKET); bound != INVALID_SOCKET) ::close(bound);
    }

    std::size_t connections() const { return open_.count(); }
    const HttpOptions& options() const { return options_; }

  private:
    struct Route {
        HttpHandler handler;
        HttpAccess access;
    };

    void set_limits() {
        set_tcp_nodelay(true);
        set_socket_options([](socket_t socket) {  // the library's own let two servers share a port
            const int yes = 1;
            setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        });
        set_keep_alive_timeout(static_cast<time_t>(options_.idle_time));
        set_keep_alive_max_count(1'000'000);  // what the header Keep-Alive says
    }

    void set_handlers() {
        using httplib::Request, httplib::Response;
        constexpr const char* kAny = R"([\s\S]*)";
        const Handler without_body = [this](const Request& request, Response& response) {
            answer(request, response, "");
        };
        const HandlerWithContentReader with_body = [this](const Request& request, Response& response,
                                                          const httplib::ContentReader&) {
            answer(request, response, body_of(current->connection, current->head));
        };
        Get(kAny, without_body).Options(kAny, without_body);
        Post(kAny, with_body).Put(kAny, with_body).Patch(kAny, with_body).Delete(kAny, with_body);
        set_pre_routing_handler([this](const Request& request, Response& response) {
            if (!is_preflight(request)) {
                check_request(request);
                return HandlerResponse::Unhandled;
            }
            set_preflight(response, request.get_header_value("Access-Control-Request-Headers"));
            return HandlerResponse::Handled;
        });
        set_post_routing_handler([this](const Request&, Response& response) {
            if (is_allowed_origin(options_, current->head)) set_allowed_origin(response, current->head.origin);
        });
        set_logger([](const Request&, const Response& response) { current->status = response.status; });
        set_expect_100_continue_handler([this](const Request& request, Response& response) {
            try {
                check_request(request);
                return 100;
            } catch (const HttpError& e) {
                set_error(response, e, !body_is_read());
                return e.status;
            }
        });
        set_exception_handler([](const Request&, Response& response, std::exception_ptr e) {
            set_exception(response, std::move(e), !body_is_read());
        });
        set_error_handler(HandlerWithResponse([](const Request&, Response& response) {
            if (response.body.empty()) {
                set_error(response, {response.status, "the request is not as HTTP/1.1 has it"}, true);
                current->last = true;
            }
            return HandlerResponse::Handled;  // so that Content-Length is there
        }));
    }

    void bind() {
        // A system without /etc/hosts does not know it, and others may take it for ::1 alone.
        const std::string host = options_.host == "localhost" ? "127.0.0.1" : options_.host;
        if (options_.port == 0) {
            options_.port = bind_to_any_port(host);
            check(options_.port > 0, "serve: {} cannot be bound: {}", options_.host, std::strerror(errno));
        } else {
            check(bind_to_port(host, options_.port), "serve: {}:{} cannot be bound: {}", options_.host, options_.port,
                  std::strerror(errno));
        }
        ::listen(svr_sock_, 1024);  // the library's queue of connections is 5 long
    }

    void serve(int socket) {
        const std::size_t max_read = 8 * options_.max_body + (64 << 10);  // chunks of a few bytes each
        Connection connection(socket, {options_.header_time, options_.idle_time, 32 << 10, max_read});
        struct Leave {
            OpenConnections& open;
            int socket;
            ~Leave() { open.leave(socket); }
        } const leave{open_, socket};
        open_.set_busy(socket, false);
        while (serve_request(connection)) continue;
        connection.finish();
    }

    // One request; false: the last of its connection.
    bool serve_request(Connection& connection) {
        using Head = Connection::Head;
        const Head result = connection.read_head();
        if (result == Head::closed) return false;
        const bool stopping = open_.set_busy(connection.socket(), true);
        const double start = seconds_now();
        bool more = false;
        try {
            if (result == Head::late) throw HttpError(408, "the headers of the request did not come in time");
            if (result == Head::too_long) throw HttpError(431, "the headers of the request are too long");
            const HttpHead head = parse_head(connection.head());
            Exchange exchange{connection, head, stopping};
            current = &exchange;
            Stream stream(connection, head.text);
            const bool last = stopping || head.http_1_0;
            const bool answered = call(&Implementation::process_request, stream, last, exchange.last);
            more = answered && !exchange.last && !last && body_is_read();
            observe(exchange.route, exchange.status, start);
        } catch (const HttpError& e) {
            const std::string text = refusal_text(e);
            connection.write(text.data(), text.size());
            observe("", e.status, start);
        }
        current = nullptr;
        return !open_.set_busy(connection.socket(), false) && more;
    }

    void observe(const std::string& route, int status, double start) const {
        if (options_.observe) options_.observe(route, status, seconds_now() - start);
    }

    // Of the library's versions.
    using Setup = std::function<void(httplib::Request&)>;
    bool call(bool (httplib::Server::*process)(httplib::Stream&, bool, bool&, const Setup&), Stream& stream, bool close,
              bool& last) {
        return (this->*process)(stream, close, last, nullptr);
    }
    bool call(bool (httplib::Server::*process)(httplib::Stream&, const std::string&, int, const std::string&, int, bool,
                                               bool&, const Setup&),
              Stream& stream, bool close, bool& last) {
        return (this->*process)(stream, "", 0, "", 0, close, last, nullptr);
    }

    std::pair<std::string, const Route&> find_route(const httplib::Request& request) const {
        const auto found = std::find_if(routes_.begin(), routes_.end(), [&](const auto& entry) {
            const std::string_view path = entry.first;
            const bool more = path.ends_with("*");
            return more ? request.path.starts_with(path.substr(0, path.size() - 1)) : path == request.path;
        });
        if (found == routes_.end()) throw HttpError(404, "nothing is at " + request.path, "", "not_found");
        const auto& [path, methods] = *found;
        const auto method = methods.find(request.method == "HEAD" ? "GET" : request.method);
        if (method == methods.end())
            throw HttpError(405, request.path + " is for " + methods.begin()->first, "", "method_not_allowed");
        return {path, method->second};
    }

    // Before the body is read.
    void check_request(const httplib::Request& request) const {
        const HttpHead& head = current->head;
        if (current->stopping) throw HttpError(503, "the server is shutting down", "", "shutting_down");
        check_source(options_, head);
        if (request.target.size() > kMaxTarget) throw HttpError(414, "the path is too long");
        const auto& [path, route] = find_route(request);
        current->route = path;
        if (route.access == HttpAccess::with_key && !options_.keys.empty()) check_key(options_.keys, head);
        if (head.content_length.value_or(0) > options_.max_body) throw body_too_large(options_.max_body);
    }

    // What a browser asks before a page of another site may send a request.
    bool is_preflight(const httplib::Request& request) const {
        return request.method == "OPTIONS" && request.has_header("Access-Control-Request-Method") &&
               is_allowed_origin(options_, current->head);
    }

    std::string body_of(Connection& connection, const HttpHead& head) const {
        const auto read = [&](char* to, std::size_t size) {
            const std::ptrdiff_t n = connection.read(to, size);
            if (n <= 0 && connection.late()) throw HttpError(408, "the body of the request did not come in time");
            return n;
        };
        std::string body = read_body(read, head, options_.max_body);
        current->body_read = true;
        return body;
    }

    void answer(const httplib::Request& request, httplib::Response& response, std::string body) const {
        const int socket = current->connection.socket();
        const HttpRequest ours{
            request.method, request.path, std::move(body), {request.params.begin(), request.params.end()}, [socket] {
                return Connection::hung_up(socket);
            }};
        set_answer(response, find_route(request).second.handler(ours), !current->head.http_1_0);
    }

    HttpOptions options_;
    std::map<std::string, std::map<std::string, Route>> routes_;  // by path and method
    OpenConnections open_;
    std::optional<Listener> listener_;  // the last: its threads use all of the others
};

HttpServer::HttpServer(HttpOptions options) : implementation_(std::make_unique<Implementation>(std::move(options))) {}
HttpServer::~HttpServer() { stop(); }
void HttpServer::route(const std::string& method, const std::string& path, HttpHandler handler, HttpAccess access) {
    implementation_->add_route(method, path, std::move(handler), access);
}
void HttpServer::start() { implementation_->start(); }
void HttpServer::stop(double grace, const std::function<void()>& give_up) { implementation_->end(grace, give_up); }
int HttpServer::port() const { return implementation_->options().port; }
std::size_t HttpServer::connections() const { return implementation_->connections(); }
std::string HttpServer::url() const {
    const std::string& host = implementation_->options().host;
    return fmt::format("http://{}:{}", host.find(':') == std::string::npos ? host : "[" + host + "]", port());
}

}  // namespace inkling::serve
