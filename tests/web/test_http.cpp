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
    for (const char* method : {"PUT", "PATCH", "DELETE", "OPTIONS"})
        WITH_INFO(method, check_refused(ask(server.port(), method, "/echo", ""), 405, "method_not_allowed"));
    const Answer bad = get(server.port(), "/bad");
    CHECK_ALL(bad.status == 400, bad.error() == "not like this");
    CHECK(bad.json()["error"]["type"] == "invalid_request_error");
    const Answer fails = get(server.port(), "/fails");
    CHECK_ALL(fails.status == 500, fails.json()["error"]["type"] == "server_error");
}

TEST_CASE("http: several requests on one connection, bodies in chunks, and headers against harm", "[serve]") {
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
    const auto refused = [&](int status, const std::string& bytes) {
        INFO(bytes.substr(0, 100));
        const Answer a = server.raw(bytes + "\r\n\r\n");
        CHECK_ALL(a.status == status, a.json()["error"]["message"].is_string());
    };
    const std::string host = " HTTP/1.1\r\nHost: localhost", get = "GET /echo" + host + "\r\n",
                      post = "POST /echo" + host + "\r\n";
    for (const char* bytes : {"garbage", "GET /echo HTTP/9.9", "GET /echo", "", "GET /open HTTP/1.1",  // without Host
                              "GET /open HTTP/1.1\r\nHost:", "POST /echo HTTP/1.1\r\nContent-Length: 1\r\n\r\na",
                              "OPTIONS /open HTTP/1.1\r\nOrigin: null\r\nAccess-Control-Request-Method: GET"})
        refused(400, bytes);
    for (const char* path : {" /echo", "/under/%u0062", "/under/a%2", "/under/%", "/echo?q=%zz"})
        refused(400, std::string("GET ") + path + host);
    for (const std::string& header :
         {std::string("No colon"), std::string(": value"), std::string("A : b"), std::string("A: \0b", 5)})
        refused(400, get + header);
    for (const char* headers :
         {"Content-Length: -5", "Content-Length: 5x", "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
          "Content-Length: 1\r\nTransfer-Encoding: chunked", "Transfer-Encoding: gzip",
          "Transfer-Encoding: chunked\r\n\r\nzz", "Content-Length: 99999999999999999999999"})
        refused(400, post + headers);
    refused(405, "BREW /echo" + host), refused(414, "GET /" + std::string(2000, 'a') + host);
    refused(415, post + "Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\na");
    for (const char* length : {"18446744073709551615", "1048577"}) refused(413, post + "Content-Length: " + length);
    refused(431, get + "A: " + std::string(40000, 'a'));
    CHECK(ask(server.port(), "POST", "/echo", std::string(1 << 20, 'a')).status == 200);
    CHECK(server.raw("POST /echo HTTP/1.1\r\nHost: localhost\r\n\r\n").status == 200);  // no body is an empty one
    CHECK(server.raw("GET /open HTTP/1.0\r\n\r\n").status == 200);
}

TEST_CASE("http: what a request says", "[serve]") {
    const auto read = [](const std::string& lines) {
        RequestParser parser(0);
        std::string bytes;
        for (const char c : lines + "\r\n") {  // it comes byte by byte
            REQUIRE_FALSE(parser.complete());
            bytes += c;
            if (parser.read_head(bytes)) break;
        }
        CHECK(parser.complete());
        return parser.request();
    };
    const HttpRequest request = read("POST /a%20b%2Fc?d=e%26f&g&=h&i= HTTP/1.1\r\nX: a\tb \r\nHost:  A:1 \r\nx: c\r\n");
    CHECK_ALL(request.method == "POST", request.path == "/a b/c");
    CHECK(request.query == std::map<std::string, std::string>{{"d", "e&f"}, {"g", ""}, {"", "h"}, {"i", ""}});
    CHECK_ALL(request.header("host") == "A:1", request.header("x") == "a\tb", request.header("y").empty());
    CHECK_NOTHROW(read("POST / HTTP/1.1\r\nContent-Encoding: Identity\r\n"));
    CHECK_THROWS_WITH(read("GET / HTTP/1.1\r\nA: \x7F\r\n"), contains("bad value"));
    for (const char* length : {"", "x", "5x", "+5", "1, 2"})
        CHECK_THROWS_WITH(read(fmt::format("GET / HTTP/1.1\r\nContent-Length: {}\r\n", length)),
                          contains("Content-Length"));  // "bad", or "multiple" in newer ones
}
