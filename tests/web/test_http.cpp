// The HTTP server by itself: responses, and broken requests.
#include "tests/web/echo_server.h"
#include "web/http/http_request.h"

TEST_CASE("http: routes, methods, queries and streams", "[serve]") {
    const EchoServer server;
    CHECK(ask(server.port(), "POST", "/echo", "hello").body == "hello");
    CHECK(get(server.port(), "/echo?q=a%20%3C").body == "a <");
    CHECK_ALL(get(server.port(), "/under/a/b").body == "/under/a/b", ask(server.port(), "HEAD", "/echo").status == 200);
    const Answer stream = get(server.port(), "/stream");
    CHECK_ALL(stream.body == "data: a\n\ndata: b\n\n", stream.has_header("Content-Type: text/event-stream"));
    for (const char* path : {"/", "/echo/", "/under", "/../etc/passwd"}) {
        const Answer a = get(server.port(), path);
        INFO(path);
        check_refused(a, 404, "not_found");
    }
    for (const char* method : {"PUT", "PATCH", "DELETE", "OPTIONS"}) {
        INFO(method);
        check_refused(ask(server.port(), method, "/echo", ""), 405, "method_not_allowed");
    }
    const Answer bad = get(server.port(), "/bad");
    CHECK_ALL(bad.status == 400, bad.error() == "not like this");
    CHECK(bad.json()["error"]["type"] == "invalid_request_error");
    const Answer fails = get(server.port(), "/fails");
    CHECK_ALL(fails.status == 500, fails.json()["error"]["type"] == "server_error");
}

TEST_CASE("http: several requests on one connection, and bodies in chunks", "[serve]") {
    const EchoServer server;
    Wire wire(server.port());
    wire.send(request_text("POST", "/echo", "one") + request_text("POST", "/echo", "two"));
    CHECK_ALL(wire.answer().body == "one", wire.answer().body == "two");
    wire.send(
        "POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n");
    CHECK(wire.answer().body == "abcd");
    wire.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    CHECK(wire.until("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
    wire.send("ab");
    CHECK(wire.answer().body == "ab");
    wire.send(request_text("GET", "/open", "", "Connection: close\r\n"));
    CHECK_ALL(wire.answer().status == 200, wire.rest().empty());
}

TEST_CASE("http: headers that keep browsers from harm", "[serve]") {
    const EchoServer server;
    for (const char* path : {"/echo", "/open", "/nothing", "/stream"}) {
        const Answer a = get(server.port(), path);
        INFO(path << "\n" << a.head);
        CHECK_ALL(a.has_header("X-Content-Type-Options: nosniff"), a.has_header("X-Frame-Options: DENY"));
        CHECK(a.head.find("frame-ancestors 'none'") != std::string::npos);
        CHECK(a.head.find("unsafe-inline") == std::string::npos);
        CHECK(a.head.find("Access-Control") == std::string::npos);
    }
    check_refused(get(server.port(), "/open", "Origin: http://evil.example\r\n"), 403, "foreign_origin");
    CHECK(get(server.port(), "/open", "Origin: http://localhost\r\n").status == 200);
    check_refused(server.raw("GET /open HTTP/1.1\r\nHost: evil.example:8080\r\n\r\n"), 403, "foreign_host");
}

TEST_CASE("http: malformed requests get status 400, 405 or the like", "[serve]") {
    const EchoServer server;
    const std::pair<std::string, int> table[] = {
        {"garbage\r\n\r\n", 400},
        {"BREW /echo HTTP/1.1\r\nHost: localhost\r\n\r\n", 405},
        {"GET /echo HTTP/9.9\r\n\r\n", 400},
        {"GET /echo\r\n\r\n", 400},
        {"\r\n\r\n", 400},
        {"GET  /echo HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},
        {"GET /echo HTTP/1.1\r\nHost: localhost\r\nNo colon\r\n\r\n", 400},
        {"GET /echo HTTP/1.1\r\nHost: localhost\r\n: value\r\n\r\n", 400},
        {"GET /echo HTTP/1.1\r\nHost: localhost\r\nA : b\r\n\r\n", 400},
        {std::string("GET /echo HTTP/1.1\r\nA: \0b\r\n\r\n", 29), 400},
        {"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n", 400},
        {"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5x\r\n\r\n", 400},
        {"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400},
        {"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
        {"POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n", 400},
        {"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\na", 415},
        {"POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
        {"GET /under/%u0062 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},
        {"GET /under/a%2 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},
        {"GET /under/% HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},
        {"GET /echo?q=%zz HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},
        {"GET /" + std::string(2000, 'a') + " HTTP/1.1\r\nHost: localhost\r\n\r\n", 414},
        {"GET /echo HTTP/1.1\r\nHost: localhost\r\nA: " + std::string(40000, 'a') + "\r\n\r\n", 431},
        {"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999999\r\n\r\n", 400},
        {"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 18446744073709551615\r\n\r\n", 413},
        {"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1048577\r\n\r\n", 413},
        {"GET /open HTTP/1.1\r\n\r\n", 400},  // without Host
        {"POST /echo HTTP/1.1\r\nContent-Length: 1\r\n\r\na", 400},
        {"OPTIONS /open HTTP/1.1\r\nOrigin: null\r\nAccess-Control-Request-Method: GET\r\n\r\n", 400},
        {"GET /open HTTP/1.1\r\nHost:\r\n\r\n", 400},
    };
    for (const auto& [bytes, status] : table) {
        INFO(bytes.substr(0, 100));
        const Answer a = server.raw(bytes);
        CHECK_ALL(a.status == status, a.json()["error"]["message"].is_string());
    }
    CHECK(ask(server.port(), "POST", "/echo", std::string(1 << 20, 'a')).status == 200);
    CHECK(server.raw("POST /echo HTTP/1.1\r\nHost: localhost\r\n\r\n").status == 200);  // no body is an empty one
    CHECK(server.raw("GET /open HTTP/1.0\r\n\r\n").status == 200);
}

TEST_CASE("http: what a request says", "[serve]") {
    const auto read = [](const std::string& lines) {
        web::RequestParser parser(0);
        std::string bytes;
        for (const char c : lines + "\r\n") {  // it comes byte by byte
            REQUIRE_FALSE(parser.complete());
            bytes += c;
            if (parser.read_head(bytes)) break;
        }
        CHECK(parser.complete());
        return parser.request();
    };
    const web::HttpRequest request =
        read("POST /a%20b%2Fc?d=e%26f&g&=h&i= HTTP/1.1\r\nX: a\tb \r\nHost:  A:1 \r\nx: c\r\n");
    CHECK_ALL(request.method == "POST", request.path == "/a b/c");
    CHECK(request.query == std::map<std::string, std::string>{{"d", "e&f"}, {"g", ""}, {"", "h"}, {"i", ""}});
    CHECK_ALL(request.header("host") == "A:1", request.header("x") == "a\tb", request.header("y").empty());
    CHECK_NOTHROW(read("POST / HTTP/1.1\r\nContent-Encoding: Identity\r\n"));
    CHECK_THROWS_WITH(read("GET / HTTP/1.1\r\nA: \x7F\r\n"), contains("bad value"));
    for (const char* length : {"", "x", "5x", "+5", "1, 2"})
        CHECK_THROWS_WITH(read(fmt::format("GET / HTTP/1.1\r\nContent-Length: {}\r\n", length)),
                          contains("Content-Length"));  // "bad", or "multiple" in newer ones
}
