// The HTTP server by itself: what is served, and what becomes of requests that are slow, broken or hostile.
#include <future>

#include "serve/http_head.h"
#include "tests/serve/client.h"

using namespace inkling;
using namespace inkling::testing;
using serve::HttpOptions;
using serve::HttpRequest;
using serve::HttpResponse;
using serve::HttpSend;
using serve::HttpServer;

namespace {

HttpOptions on_any_port() {
    HttpOptions options;
    options.port = 0;
    return options;
}

// A server that gives bodies back.
struct EchoServer {
    explicit EchoServer(HttpOptions options = on_any_port()) : http(std::move(options)) {
        http.route("POST", "/echo", [](const HttpRequest& r) { return HttpResponse{.body = r.body}; });
        http.route("GET", "/echo", [](const HttpRequest& r) {
            return HttpResponse{.type = "text/html", .body = r.query.contains("q") ? r.query.at("q") : ""};
        });
        http.route(
            "GET", "/open", [](const HttpRequest&) { return HttpResponse{.body = "{}"}; }, serve::HttpAccess::open);
        http.route("GET", "/under/*", [](const HttpRequest& r) { return HttpResponse{.body = r.path}; });
        http.route("GET", "/fails",
                   [](const HttpRequest&) -> HttpResponse { throw std::runtime_error("broken \xFF"); });
        http.route("GET", "/bad", [](const HttpRequest&) -> HttpResponse { throw BadInput("not like this"); });
        http.route("GET", "/stream", [](const HttpRequest&) {
            HttpResponse r{.type = "text/event-stream"};
            r.stream = [](const HttpSend& send) {
                for (const char* piece : {"data: a\n\n", "", "data: b\n\n"}) send(piece);
            };
            return r;
        });
        http.start();
    }
    int port() const { return http.port(); }
    Answer raw(const std::string& bytes) const {
        Wire wire(port());
        wire.send(bytes);
        return wire.answer();
    }
    HttpServer http;
};

std::string code_of(const Answer& a) { return a.json()["error"]["code"].dump(); }

}  // namespace

TEST_CASE("http: routes, methods, queries and streams", "[serve]") {
    const EchoServer server;
    CHECK(ask(server.port(), "POST", "/echo", "hello").body == "hello");
    CHECK(get(server.port(), "/echo?q=a%20%3C").body == "a <");
    CHECK(get(server.port(), "/under/a/b").body == "/under/a/b");
    CHECK(ask(server.port(), "HEAD", "/echo").status == 200);
    const Answer stream = get(server.port(), "/stream");
    CHECK(stream.body == "data: a\n\ndata: b\n\n");
    CHECK(stream.has_header("Content-Type: text/event-stream"));
    for (const char* path : {"/", "/echo/", "/under", "/../etc/passwd", "/under/..%2f..%2fx%00"}) {
        const Answer a = get(server.port(), path);
        INFO(path);
        if (std::string(path).starts_with("/under/")) continue;
        CHECK(a.status == 404);
        CHECK(code_of(a) == "\"not_found\"");
    }
    for (const char* method : {"GET", "PUT", "PATCH", "DELETE", "OPTIONS"}) {
        const Answer a = ask(server.port(), method, method == std::string("GET") ? "/fails" : "/echo", "");
        INFO(method);
        CHECK(a.status == (method == std::string("GET") ? 500 : 405));
        CHECK(a.json()["error"]["message"].is_string());
    }
    const Answer bad = get(server.port(), "/bad");
    CHECK(bad.status == 400);
    CHECK(bad.error() == "not like this");
    CHECK(bad.json()["error"]["type"] == "invalid_request_error");
    CHECK(get(server.port(), "/fails").json()["error"]["type"] == "server_error");
}

TEST_CASE("http: several requests on one connection, and bodies in chunks", "[serve]") {
    const EchoServer server;
    Wire wire(server.port());
    wire.send(request_text("POST", "/echo", "one") + request_text("POST", "/echo", "two"));
    CHECK(wire.answer().body == "one");
    CHECK(wire.answer().body == "two");
    wire.send("POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n");
    CHECK(wire.answer().body == "abcd");
    wire.send(request_text("GET", "/open", "", "Expect: 100-continue\r\n"));
    CHECK(wire.until("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
    CHECK(wire.answer().body == "{}");
    wire.send(request_text("GET", "/open", "", "Connection: close\r\n"));
    CHECK(wire.answer().status == 200);
    CHECK(wire.rest().empty());
}

TEST_CASE("http: headers that keep browsers from harm", "[serve]") {
    const EchoServer server;
    for (const char* path : {"/echo", "/open", "/nothing", "/stream"}) {
        const Answer a = get(server.port(), path);
        INFO(path << "\n" << a.head);
        CHECK(a.has_header("X-Content-Type-Options: nosniff"));
        CHECK(a.has_header("X-Frame-Options: DENY"));
        CHECK(a.head.find("frame-ancestors 'none'") != std::string::npos);
        CHECK(a.head.find("unsafe-inline") == std::string::npos);
        CHECK(a.head.find("Access-Control") == std::string::npos);
    }
    CHECK(get(server.port(), "/open", "Origin: http://evil.example\r\n").status == 403);
    CHECK(get(server.port(), "/open", "Origin: null\r\n").status == 403);
    CHECK(get(server.port(), "/open", "Origin: http://localhost\r\n").status == 200);
    CHECK(server.raw("GET /open HTTP/1.1\r\nHost: evil.example:8080\r\n\r\n").status == 403);
    for (const char* host : {"127.0.0.1:8080", "[::1]:80", "LOCALHOST", "localhost:1"}) {
        INFO(host);
        CHECK(server.raw(std::string("GET /open HTTP/1.1\r\nHost: ") + host + "\r\n\r\n").status == 200);
    }
}

TEST_CASE("http: keys", "[serve]") {
    HttpOptions options = on_any_port();
    options.keys = {"first", "second-key"};
    const EchoServer server(options);
    const auto status = [&](const std::string& headers) { return get(server.port(), "/echo", headers).status; };
    CHECK(status("Authorization: Bearer first\r\n") == 200);
    CHECK(status("authorization: Bearer second-key\r\n") == 200);
    for (const char* wrong : {"", "Bearer", "Bearer ", "Bearer firs", "Bearer firstt", "Bearer firstfirst",
                              "bearer first", "Basic first", "first", "Bearer second-ke\xC3"}) {
        INFO(wrong);
        CHECK(status(std::string("Authorization: ") + wrong + "\r\n") == 401);
    }
    const Answer without = get(server.port(), "/echo");
    CHECK(without.status == 401);
    CHECK(without.has_header("WWW-Authenticate: Bearer"));
    CHECK(code_of(without) == "\"invalid_api_key\"");
    CHECK(get(server.port(), "/open").status == 200);
    CHECK(get(server.port(), "/nothing").status == 404);
    // of a refused request's body, nothing is taken for the next request
    Wire wire(server.port());
    wire.send(request_text("POST", "/echo", request_text("GET", "/open", "")));
    CHECK(wire.answer().status == 401);
    CHECK(wire.rest().empty());
}

TEST_CASE("http: addresses", "[serve]") {
    using serve::is_loopback;
    using serve::parse_address;
    for (const char* host : {"localhost", "127.0.0.1", "127.9.9.9", "::1"}) CHECK(is_loopback(host));
    for (const char* host :
         {"0.0.0.0", "::", "10.0.0.1", "127.0.0.1.evil.example", "", "localhost.evil.example", "1270.0.1"})
        CHECK_FALSE(is_loopback(host));
    CHECK(parse_address("80") == std::pair<std::string, int>("127.0.0.1", 80));
    CHECK(parse_address("0.0.0.0:0") == std::pair<std::string, int>("0.0.0.0", 0));
    CHECK(parse_address("[::1]:8080") == std::pair<std::string, int>("::1", 8080));
    for (const char* text : {"", "a", ":80", "a:", "a:65536", "1.2.3.4:-1", "::1:80", "80x"})
        CHECK_THROWS_WITH(parse_address(text), ContainsSubstring("HOST:PORT"));
    HttpOptions everywhere = on_any_port();
    everywhere.host = "0.0.0.0";
    CHECK_THROWS_WITH(HttpServer(everywhere), ContainsSubstring("--insecure"));
    everywhere.insecure = true;
    const int freed = HttpServer(everywhere).port();
    CHECK(freed > 0);
    everywhere.port = freed;  // it was closed
    CHECK(HttpServer(everywhere).port() == freed);
    const EchoServer server;
    HttpOptions taken;
    taken.port = server.port();
    CHECK_THROWS_WITH(HttpServer(taken), ContainsSubstring("cannot be bound"));
}

TEST_CASE("http: what is no request is answered as such", "[serve]") {
    const EchoServer server;
    const std::pair<std::string, int> table[] = {
        {"garbage\r\n\r\n", 400},
        {"BREW /echo HTTP/1.1\r\n\r\n", 400},
        {"GET /echo HTTP/9.9\r\n\r\n", 400},
        {"GET /echo\r\n\r\n", 400},
        {"\r\n\r\n", 400},
        {"GET  /echo HTTP/1.1\r\n\r\n", 400},
        {"GET /echo HTTP/1.1\r\nNo colon\r\n\r\n", 400},
        {"GET /echo HTTP/1.1\r\n: value\r\n\r\n", 400},
        {"GET /echo HTTP/1.1\r\nA : b\r\n\r\n", 400},
        {std::string("GET /echo HTTP/1.1\r\nA: \0b\r\n\r\n", 29), 400},
        {"POST /echo HTTP/1.1\r\nContent-Length: -5\r\n\r\n", 400},
        {"POST /echo HTTP/1.1\r\nContent-Length: 5x\r\n\r\n", 400},
        {"POST /echo HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400},
        {"POST /echo HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
        {"POST /echo HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 400},
        {"POST /echo HTTP/1.1\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\na", 415},
        {"POST /echo HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 1\r\n\r\na", 415},
        {"POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
        {"GET /" + std::string(2000, 'a') + " HTTP/1.1\r\n\r\n", 414},
        {"GET /echo HTTP/1.1\r\nA: " + std::string(40000, 'a') + "\r\n\r\n", 431},
        {"POST /echo HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n", 413},
        {"POST /echo HTTP/1.1\r\nContent-Length: 1048577\r\n\r\n", 413},
    };
    for (const auto& [bytes, status] : table) {
        INFO(bytes.substr(0, 100));
        const Answer a = server.raw(bytes);
        CHECK(a.status == status);
        CHECK(a.json()["error"]["message"].is_string());
    }
    CHECK(ask(server.port(), "POST", "/echo", std::string(1 << 20, 'a')).status == 200);
    CHECK(server.raw("POST /echo HTTP/1.1\r\n\r\n").status == 200);  // no body is an empty one
}

TEST_CASE("http: limits of time", "[serve]") {
    HttpOptions options = on_any_port();
    options.header_time = options.idle_time = 1;
    options.max_body = 1000;
    const EchoServer server(options);
    SECTION("headers") {
        Wire wire(server.port());
        std::atomic<bool> open = true;
        std::thread drip([&] {
            wire.send("GET /open HTTP/1.1\r\n");
            while (open && wire.send("A: b\r\n")) std::this_thread::sleep_for(std::chrono::milliseconds(20));
        });
        CHECK(wire.answer().status == 408);
        open = false;
        drip.join();
    }
    SECTION("a body") { CHECK(server.raw("POST /echo HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc").status == 408); }
    SECTION("nothing at all") {
        Wire wire(server.port());
        CHECK(wire.rest().empty());
        Wire again(server.port());
        again.send(request_text("GET", "/open", ""));
        CHECK(again.answer().status == 200);
        CHECK(again.rest().empty());
    }
    SECTION("a body in chunks") {
        std::string chunks = "POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
        for (int i = 0; i < 300; ++i) chunks += "4\r\nabcd\r\n";
        CHECK(server.raw(chunks + "0\r\n\r\n").status == 413);
        CHECK(
            server.raw("POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + std::string(100000, '0')).status ==
            400);
    }
}

TEST_CASE("http: a limit of connections", "[serve]") {
    HttpOptions options = on_any_port();
    options.max_connections = 2;
    const EchoServer server(options);
    Wire one(server.port()), two(server.port());
    one.send("GET");
    two.send("GET");
    while (server.http.connections() < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const Answer a = get(server.port(), "/open");
    CHECK(a.status == 503);
    CHECK(code_of(a) == "\"too_many_connections\"");
    one.close();
    two.close();
    while (server.http.connections() > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(get(server.port(), "/open").status == 200);
}

TEST_CASE("http: a client that does not read is given up, one that hangs up is noticed", "[serve]") {
    HttpOptions options = on_any_port();
    options.idle_time = 0.3;
    HttpServer http(options);
    std::promise<bool> sent, gone;
    http.route("GET", "/endless", [&](const HttpRequest&) {
        HttpResponse r;
        r.stream = [&](const HttpSend& send) {
            while (send(std::string(100000, 'a'))) continue;
            sent.set_value(true);
        };
        return r;
    });
    http.route("GET", "/waits", [&](const HttpRequest& r) {
        while (!r.hung_up()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        gone.set_value(true);
        return HttpResponse{};
    });
    http.start();
    Wire slow(http.port());
    slow.send(request_text("GET", "/endless", ""));
    CHECK(sent.get_future().get());
    {
        Wire wire(http.port());
        wire.send(request_text("GET", "/waits", ""));
    }
    CHECK(gone.get_future().get());
}

TEST_CASE("http: stopping lets what runs end, and answers others", "[serve]") {
    HttpServer http(on_any_port());
    std::promise<void> begun, finish;
    http.route("GET", "/slow", [&](const HttpRequest&) {
        begun.set_value();
        finish.get_future().wait();
        return HttpResponse{.body = "done"};
    });
    http.route("GET", "/open", [&](const HttpRequest&) { return HttpResponse{}; });
    http.start();
    Wire idle(http.port()), busy(http.port());
    busy.send(request_text("GET", "/slow", ""));
    begun.get_future().wait();
    std::thread stop([&] { http.stop(); });
    CHECK(idle.rest().empty());  // closed at once
    const Answer refused = get(http.port(), "/open");
    CHECK(refused.status == 503);
    CHECK(code_of(refused) == "\"shutting_down\"");
    finish.set_value();
    const Answer done = busy.answer();
    CHECK(done.body == "done");
    CHECK(busy.rest().empty());
    stop.join();
}

TEST_CASE("http: heads lose what no answer needs", "[serve]") {
    const serve::HttpHead head =
        serve::parse_head("POST / HTTP/1.1\r\nRange: bytes=0-\r\nAccept-Encoding: br\r\nX: y\r\nHost:  A:1 \r\n\r\n");
    CHECK(head.text == "POST / HTTP/1.1\r\nX: y\r\nHost:  A:1 \r\nContent-Length: 0\r\n\r\n");
    CHECK(head.host == "a:1");
    CHECK_FALSE(head.has_body());
    const serve::HttpHead same = serve::parse_head(
        "POST / HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 2\r\nContent-Encoding: Identity\r\nT: a\tb\r\n\r\n");
    CHECK(same.content_length.value() == 2);
    CHECK_THROWS_WITH(serve::parse_head("GET / HTTP/1.1\r\nA: \x7F\r\n\r\n"), ContainsSubstring("control character"));
    CHECK_THROWS_WITH(serve::parse_head("GET / HTTP/1.1\r\nA : b\r\n\r\n"), ContainsSubstring("not `Name: value`"));
    CHECK_THROWS_WITH(serve::parse_head("GET / HTTP/1.1\r\nA\r\n\r\n"), ContainsSubstring("not `Name: value`"));
    for (const char* length : {"", "x", "5x"})
        CHECK_THROWS_WITH(serve::parse_head(fmt::format("GET / HTTP/1.1\r\nContent-Length: {}\r\n\r\n", length)),
                          ContainsSubstring("a number of bytes is required"));
}

TEST_CASE("http: pages of other places", "[serve]") {
    const auto foreign = [](const char* host, const char* origin, bool only_loopback = true) {
        return serve::is_foreign(
            serve::parse_head(fmt::format("GET / HTTP/1.1\r\nHost: {}\r\nOrigin: {}\r\n\r\n", host, origin)),
            only_loopback);
    };
    CHECK_FALSE(foreign("localhost:8080", ""));
    CHECK_FALSE(foreign("localhost:8080", "http://localhost:8080"));
    CHECK_FALSE(foreign("localhost", "https://localhost"));
    CHECK_FALSE(foreign("[::1]", ""));
    CHECK_FALSE(foreign("[::1]:80", "http://[::1]:80"));
    CHECK_FALSE(foreign("", ""));
    CHECK_FALSE(foreign("example.com", "https://example.com", false));
    CHECK(foreign("localhost:8080", "http://localhost:8081"));
    CHECK(foreign("localhost:8080", "https://example.com"));
    CHECK(foreign("example.com:80", ""));
    CHECK(foreign("example.com", "https://example.com"));
}
