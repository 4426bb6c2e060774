#include "web/http/connection.h"

#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <future>
#include <utility>

#include "formats/ascii.h"
#include "web/http/http_answer.h"
#include "web/http/http_rules.h"

namespace inkling::web {

namespace asio = boost::asio;
using boost::system::error_code;

Connection::Connection(asio::ip::tcp::socket socket, HttpService& service)
    : service_(service), socket_(std::move(socket)), timer_(service.io) {
    parser_.emplace(service.options.max_body);
    service_.connections.insert(this);
}

Connection::~Connection() {
    set_busy(false);
    service_.connections.erase(this);
    if (counted_) --service_.open;
}

void Connection::serve() {
    if (service_.open >= service_.options.max_connections)
        return refuse({503, "too many connections", "", "too_many_connections"});
    counted_ = true;
    ++service_.open;
    next_request();
}

void Connection::end_if_idle() {
    error_code ignored;
    if (!busy_) socket_.shutdown(asio::socket_base::shutdown_receive, ignored);
}

// Does not close the socket, because a handler may still ask whether the client is there.
void Connection::cut() {
    error_code ignored;
    socket_.shutdown(asio::socket_base::shutdown_both, ignored);
}

void Connection::set_busy(bool busy) {
    if (busy && !busy_) ++service_.busy;
    if (!busy && busy_) --service_.busy;
    busy_ = busy;
}

void Connection::set_deadline(double seconds) {
    late_ = false;
    timer_.expires_after(std::chrono::milliseconds(static_cast<std::int64_t>(1000 * seconds)));
    timer_.async_wait([weak = weak_from_this()](const error_code& error) {
        const auto self = weak.lock();
        if (error || !self || self->timer_.expiry() > asio::steady_timer::clock_type::now()) return;
        self->late_ = true;
        error_code ignored;
        self->socket_.cancel(ignored);
    });
}

void Connection::receive(Then then) {
    socket_.async_read_some(asio::buffer(buffer_),
                            [self = shared_from_this(), then](const error_code& error, std::size_t size) {
                                self->ahead_.append(self->buffer_.data(), size);
                                ((*self).*then)(!error && !self->late_);
                            });
}

// The deadline restarts whenever the client has read a part.
void Connection::write(std::string text, std::function<void(bool ok)> then) {
    constexpr std::size_t kPart = 64 << 10;
    out_ = std::move(text);
    const auto self = shared_from_this();
    const auto more = [this](const error_code& error, std::size_t) {
        if (error) return std::size_t{0};
        set_deadline(service_.options.idle_time);
        return kPart;
    };
    asio::async_write(socket_, asio::buffer(out_), more,
                      [self, then = std::move(then)](const error_code& error, std::size_t) { then(!error); });
}

void Connection::next_request() {
    parser_.emplace(service_.options.max_body);
    route_ = nullptr;
    last_ = true;
    begun_ = false;
    set_deadline(service_.options.idle_time);
    read_head(true);
}

void Connection::read_head(bool ok) {
    if (!ok && !(late_ && begun_)) return;  // the client left or is idle
    try {
        if (!ok) throw HttpError(408, "the headers of the request did not come in time");
        if (!begun_ && !ahead_.empty()) {
            begun_ = true;
            start_ = seconds_now();
            set_deadline(service_.options.header_time);
        }
        if (parser_->read_head(ahead_)) return check_request();
    } catch (const HttpError& e) {
        return refuse(e);
    }
    receive(&Connection::read_head);
}

// Checks the head, before the body is read.
void Connection::check_request() {
    const HttpOptions& options = service_.options;
    const HttpRequest& request = parser_->request();
    start_ = seconds_now();
    last_ = !parser_->keep_alive() || service_.ending;
    set_busy(!service_.ending);
    if (service_.ending) throw HttpError(503, "the server is shutting down", "", "shutting_down");
    if (!parser_->http_1_0() && !request.headers.contains("host"))  // RFC 9112, 3.2
        throw HttpError(400, "Host: HTTP/1.1 requires one");
    if (is_preflight(request) && is_allowed_origin(options, request)) {
        response_ = preflight_response(request);
        return answer();
    }
    check_source(options, request);
    route_ = &find_route(service_.routes, request);
    if (route_->access == HttpAccess::with_key && !options.keys.empty()) check_key(options.keys, request);
    set_deadline(options.idle_time);
    if (parser_->read_body(ahead_)) return run();
    if (formats::lower(request.header("expect")) != "100-continue" || parser_->http_1_0())
        return receive(&Connection::read_body);
    write("HTTP/1.1 100 Continue\r\n\r\n", [this](bool ok) { read_body(ok); });
}

void Connection::read_body(bool ok) {
    try {
        if (!ok && late_) throw HttpError(408, "the body of the request did not come in time");
        if (!ok) throw HttpError(400, "the body of the request is not whole");
        if (parser_->read_body(ahead_)) return run();
    } catch (const HttpError& e) {
        return refuse(e);
    }
    receive(&Connection::read_body);
}

void Connection::run() {
    timer_.cancel();
    streamed_.reset();
    peer_ = std::make_shared<Peer>(socket_.native_handle(), !parser_->http_1_0());
    parser_->request().hung_up = [peer = peer_] { return peer->left(); };
    try {
        thread_ = std::jthread([self = shared_from_this()] { self->handle(); });
    } catch (const std::system_error&) {
        refuse({503, "no thread is left for the request", "", "no_thread"});
    }
}

void Connection::handle() {
    try {
        try {
            response_ = route_->handler(parser_->request());
        } catch (...) {
            response_ = error_response(std::current_exception());
        }
        if (response_.stream && parser_->request().method != "HEAD") streamed_ = stream();
    } catch (...) {  // the response has begun: it can only be cut off
        streamed_ = false;
    }
    if (streamed_) response_.stream = nullptr;  // on this thread, which takes its cached buffers with it
    const auto end = [self = shared_from_this()] {
        self->thread_.join();
        self->streamed_ ? self->finish(*self->streamed_) : self->answer();
    };
    for (bool posted = false; !posted;) {
        try {
            asio::post(service_.io, end);
            posted = true;
        } catch (const std::bad_alloc&) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    }
}

// The head goes with the first piece: until then it is the interim response that finds a client gone.
bool Connection::stream() {
    const bool chunked = !parser_->http_1_0();
    bool there = true;
    std::string begin = head();
    response_.stream([&](std::string_view piece) {
        if (there && !piece.empty())
            there = send(std::exchange(begin, "") + (chunked ? chunk_text(piece) : std::string(piece)));
        return there;
    });
    const std::string end = begin + (chunked ? chunk_text("") : "");
    return there && (end.empty() || send(end));
}

bool Connection::send(std::string text) {
    peer_->begin_answer();
    auto sent = std::make_shared<std::promise<bool>>();
    std::future<bool> result = sent->get_future();
    asio::post(service_.io, [this, text = std::move(text), sent = std::move(sent)]() mutable {
        write(std::move(text), [sent = std::move(sent)](bool ok) { sent->set_value(ok); });
    });
    return result.get();  // throws if memory ran out
}

std::string Connection::head() {
    if (is_allowed_origin(service_.options, parser_->request())) allow_origin(response_, parser_->request());
    return head_text(response_, !parser_->http_1_0(), last_);
}

void Connection::refuse(const HttpError& error) {
    response_ = error_response(error);
    answer();
}

void Connection::answer() {
    if (!parser_->complete()) last_ = true;  // the end of the request is unknown
    if (peer_) peer_->begin_answer();
    std::string text = head();
    if (parser_->request().method != "HEAD") text += response_.body;
    write(std::move(text), [this](bool ok) { finish(ok); });
}

void Connection::finish(bool ok) {
    const HttpOptions& options = service_.options;
    if (peer_) peer_->begin_answer();  // also if the handler ended before it began: the socket may close
    if (options.observe) options.observe(route_ ? route_->path : "", response_.status, seconds_now() - start_);
    set_busy(false);
    response_ = {};
    if (ok && !last_ && !service_.ending) return next_request();
    error_code ignored;
    socket_.shutdown(asio::socket_base::shutdown_send, ignored);
    set_deadline(1);
    unread_ = 4 << 20;
    drain(ok);
}

// If a socket is closed with unread data, the system drops the last writes. So the rest of a refused body is read for a
// moment and discarded.
void Connection::drain(bool ok) {
    if (!ok || ahead_.size() >= unread_) return;
    unread_ -= ahead_.size();
    ahead_.clear();
    receive(&Connection::drain);
}

}  // namespace inkling::web
