// cpp-httplib parses requests and writes answers; sockets with their time limits are ours (connection.h). Of its
// versions, 0.11 and 0.18 compile.
#include "serve/http.h"

#include <httplib.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <list>
#include <mutex>
#include <thread>

#include "engine/clock.h"
#include "serve/connection.h"
#include "serve/http_answer.h"
#include "serve/http_head.h"

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

class Stream : public httplib::Stream {
  public:
    explicit Stream(Connection& connection) : connection_(connection) {}
    bool is_readable() const override { return true; }
    bool is_writable() const override { return !Connection::hung_up(connection_.socket()); }
    ssize_t read(char* data, size_t size) override { return connection_.read(data, size); }
    ssize_t write(const char* data, size_t size) override {
        return connection_.write(data, size) ? static_cast<ssize_t>(size) : -1;
    }
    void get_remote_ip_and_port(std::string&, int&) const override {}
    void get_local_ip_and_port(std::string&, int&) const override {}
    socket_t socket() const override { return connection_.socket(); }

  private:
    Connection& connection_;
};

// A thread for each connection; one that comes beyond `max` is run on the spot, to be refused.
class Threads : public httplib::TaskQueue {
  public:
    explicit Threads(std::size_t max) : max_(max) {}
    static thread_local bool beyond;

    using Enqueued = decltype(std::declval<httplib::TaskQueue&>().enqueue(nullptr));  // void, then bool
    Enqueued enqueue(std::function<void()> serve) override {
        std::unique_lock lock(mutex_);
        ended_.clear();  // joins
        if (running_.size() >= max_) {
            lock.unlock();
            beyond = true;
            serve();
            beyond = false;
            return Enqueued(true);
        }
        const auto place = running_.emplace(running_.end());
        *place = std::jthread([this, place, work = std::move(serve)] {
            work();
            const std::lock_guard end(mutex_);
            ended_.splice(ended_.end(), running_, place);
            empty_.notify_all();
        });
        return Enqueued(true);
    }
    void shutdown() override {
        std::unique_lock lock(mutex_);
        empty_.wait(lock, [&] { return running_.empty(); });
        ended_.clear();
    }

  private:
    std::size_t max_;
    std::mutex mutex_;
    std::condition_variable empty_;
    std::list<std::jthread> running_, ended_;
};
thread_local bool Threads::beyond = false;

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
        thread_ = std::jthread([this] { listen_after_bind(); });
        while (!is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }

    void end() {
        {
            std::unique_lock lock(mutex_);
            stopping_ = true;
            for (const auto& [socket, busy] : open_)
                if (!busy) shutdown(socket, SHUT_RD);
            changed_.wait(lock, [&] { return busy() == 0; });
            changed_.wait_for(lock, std::chrono::seconds(1), [&] { return open_.empty(); });
            for (const auto& [socket, busy] : open_) shutdown(socket, SHUT_RDWR);
        }
        if (thread_.joinable()) {
            stop();
            thread_.join();
        } else if (const socket_t bound = svr_sock_.exchange(INVALID_SOCKET); bound != INVALID_SOCKET) {
            ::close(bound);  // it was never started, and the library closes what it listens on alone
        }
    }

    std::size_t connections() const {
        const std::lock_guard lock(mutex_);
        return open_.size();
    }
    const HttpOptions& options() const { return options_; }

  private:
    struct Route {
        HttpHandler handler;
        HttpAccess access;
    };

    void set_limits() {
        new_task_queue = [this] { return new Threads(options_.max_connections); };
        set_tcp_nodelay(true);
        set_socket_options([](socket_t socket) {  // the library's own let two servers share a port
            const int yes = 1;
            setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        });
        set_payload_max_length(SIZE_MAX);  // read_body has the limit, in each version
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
                                                          const httplib::ContentReader& read) {
            answer(request, response, read_body(read));
        };
        Get(kAny, without_body).Options(kAny, without_body).Delete(kAny, without_body);
        Post(kAny, with_body).Put(kAny, with_body).Patch(kAny, with_body);
        set_pre_routing_handler([this](const Request& request, Response&) {
            check_request(request);
            return HandlerResponse::Unhandled;
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

    std::size_t busy() const {
        return static_cast<std::size_t>(
            std::count_if(open_.begin(), open_.end(), [](const auto& entry) { return entry.second; }));
    }
    // Whether the server stops: then the connection is not counted as busy.
    bool set_busy(int socket, bool busy) {
        const std::lock_guard lock(mutex_);
        open_[socket] = busy && !stopping_;
        changed_.notify_all();
        return stopping_;
    }

    bool process_and_close_socket(socket_t socket) override {
        const std::size_t max_read = 8 * options_.max_body + (64 << 10);  // chunks of a few bytes each
        Connection connection(socket, {options_.header_time, options_.idle_time, 32 << 10, max_read});
        if (Threads::beyond) {
            refuse(connection, {503, "too many connections", "", "too_many_connections"});
            return false;
        }
        set_busy(socket, false);
        while (serve_request(connection)) continue;
        const std::lock_guard lock(mutex_);
        open_.erase(socket);
        changed_.notify_all();
        return true;
    }

    // One request; false: the last of its connection.
    bool serve_request(Connection& connection) {
        using Head = Connection::Head;
        const Head result = connection.read_head();
        if (result == Head::closed) return false;
        const bool stopping = set_busy(connection.socket(), true);
        const double start = seconds_now();
        bool more = false;
        try {
            if (result == Head::late) throw HttpError(408, "the headers of the request did not come in time");
            if (result == Head::too_long) throw HttpError(431, "the headers of the request are too long");
            const HttpHead head = parse_head(connection.head());
            connection.set_head(head.text);
            Exchange exchange{connection, head, stopping};
            current = &exchange;
            Stream stream(connection);
            const bool answered = call(&Implementation::process_request, stream, stopping, exchange.last);
            more = answered && !exchange.last && !stopping && body_is_read();
            observe(exchange.route, exchange.status, start);
        } catch (const HttpError& e) {
            refuse(connection, e);
            observe("", e.status, start);
        }
        current = nullptr;
        return !set_busy(connection.socket(), false) && more;
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

    // An answer to what the library never sees.
    static void refuse(Connection& connection, const HttpError& error) {
        httplib::Response response;
        set_error(response, error, true);
        set_header(response, "Content-Length", std::to_string(response.body.size()));
        std::string text = fmt::format("HTTP/1.1 {} Refused\r\n", error.status);
        for (const auto& [name, value] : response.headers) text += name + ": " + value + "\r\n";
        text += "\r\n" + response.body;
        connection.write(text.data(), text.size());
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
        if (is_foreign(head, is_loopback(options_.host) && options_.keys.empty()))
            throw HttpError(403, "a page of another site sent this request", "", "foreign_origin");
        if (request.target.size() > kMaxTarget) throw HttpError(414, "the path is too long");
        const auto& [path, route] = find_route(request);
        current->route = path;
        if (route.access == HttpAccess::with_key && !options_.keys.empty() &&
            !key_matches(options_.keys, head.authorization))
            throw HttpError(
                401, head.authorization.empty() ? "a key is required: Authorization: Bearer KEY" : "the key is wrong",
                "", "invalid_api_key");
        if (head.content_length.value_or(0) > options_.max_body) throw too_large();
    }

    HttpError too_large() const {
        return {413, fmt::format("a body of at most {} bytes is required", options_.max_body), "", "body_too_large"};
    }

    std::string read_body(const httplib::ContentReader& read) const {
        std::string body;
        bool fits = true;
        const bool whole = read([&](const char* data, size_t size) {
            fits = size <= options_.max_body - body.size();
            if (fits) body.append(data, size);
            return fits;
        });
        if (!fits) throw too_large();
        if (!whole && current->connection.late()) throw HttpError(408, "the body of the request did not come in time");
        if (!whole) throw HttpError(400, "the body of the request is not whole");
        current->body_read = true;
        return body;
    }

    void answer(const httplib::Request& request, httplib::Response& response, std::string body) const {
        const int socket = current->connection.socket();
        const HttpRequest ours{
            request.method, request.path, std::move(body), {request.params.begin(), request.params.end()}, [socket] {
                return Connection::hung_up(socket);
            }};
        set_answer(response, find_route(request).second.handler(ours));
    }

    HttpOptions options_;
    std::map<std::string, std::map<std::string, Route>> routes_;  // by path and method
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::map<int, bool> open_;  // sockets, and whether a request is being answered on them
    bool stopping_ = false;
    std::jthread thread_;
};

HttpServer::HttpServer(HttpOptions options) : implementation_(std::make_unique<Implementation>(std::move(options))) {}
HttpServer::~HttpServer() { stop(); }
void HttpServer::route(const std::string& method, const std::string& path, HttpHandler handler, HttpAccess access) {
    implementation_->add_route(method, path, std::move(handler), access);
}
void HttpServer::start() { implementation_->start(); }
void HttpServer::stop() { implementation_->end(); }
int HttpServer::port() const { return implementation_->options().port; }
std::size_t HttpServer::connections() const { return implementation_->connections(); }
std::string HttpServer::url() const {
    const std::string& host = implementation_->options().host;
    return fmt::format("http://{}:{}", host.find(':') == std::string::npos ? host : "[" + host + "]", port());
}

}  // namespace inkling::serve
