// Access to a server: keys, addresses, host names and pages of other origins.
#include "web/http/http_rules.h"

#include "tests/web/echo_server.h"
#include "web/http/http_request.h"

TEST_CASE("http: keys, and files of keys", "[serve]") {
    const EchoServer server({.port = 0, .keys = {"first", "second-key"}});
    const auto status = [&](const std::string& headers) { return get(server.port(), "/echo", headers).status; };
    CHECK(status("Authorization: Bearer first\r\n") == 200);
    for (const char* right : {"authorization: bearer second-key", "Authorization: BEARER  first", "X-Api-Key: first",
                              "x-api-key: second-key", "X-Api-Key: wrong\r\nAuthorization: Bearer first"})
        WITH_INFO(right, CHECK(status(std::string(right) + "\r\n") == 200));
    CHECK_ALL(status("X-Api-Key: Bearer first\r\n") == 401, status("X-Api-Key: firs\r\n") == 401);
    for (const char* wrong : {"", "Bearer", "Bearer ", "Bearer firs", "Bearer firstt", "Bearer firstfirst",
                              "Bearerfirst", "Basic first", "first", "Bearer second-ke\xC3"})
        WITH_INFO(wrong, CHECK(status(std::string("Authorization: ") + wrong + "\r\n") == 401));
    const Answer without = get(server.port(), "/echo");
    check_refused(without, 401, "invalid_api_key");
    CHECK_ALL(without.has_header("WWW-Authenticate: Bearer"), get(server.port(), "/open").status == 200);
    CHECK(get(server.port(), "/nothing").status == 404);
    // no part of a refused request's body counts as the next request
    Wire wire(server.port());
    wire.send(request_text("POST", "/echo", request_text("GET", "/open", "")));
    CHECK_ALL(wire.answer().status == 401, wire.rest().empty());
    using Keys = std::vector<std::string>;  // files of keys
    CHECK(web::parse_keys("\xEF\xBB\xBF"
                          "a-1\r\n# b\n\t c d \t\n\n\xC3\xA9",
                          "f") == Keys{"a-1", "c d", "\xC3\xA9"});
    for (const std::string& bad :
         {std::string("a\0b", 3), std::string("a\tb"), std::string("ok\na\x7F"), std::string("a\rb")})
        CHECK_THROWS_WITH(web::parse_keys(bad, "f"), contains("f: line ", "no request can send"));
    for (const char* none : {"", "\n# a\n", "\xEF\xBB\xBF\n"})
        CHECK_THROWS_WITH(web::parse_keys(none, "f"), contains("f: ", "has none"));
}

TEST_CASE("http: addresses", "[serve]") {
    using web::is_loopback;
    using web::parse_address;
    for (const char* host : {"localhost", "127.0.0.1", "127.9.9.9", "::1"}) CHECK(is_loopback(host));
    for (const char* host :
         {"0.0.0.0", "::", "10.0.0.1", "127.0.0.1.evil.example", "", "localhost.evil.example", "1270.0.1"})
        CHECK_FALSE(is_loopback(host));
    CHECK(parse_address("80") == std::pair<std::string, int>("127.0.0.1", 80));
    CHECK(parse_address("0.0.0.0:0") == std::pair<std::string, int>("0.0.0.0", 0));
    CHECK(parse_address("[::1]:8080") == std::pair<std::string, int>("::1", 8080));
    for (const char* text : {"", "a", ":80", "a:", "a:65536", "1.2.3.4:-1", "::1:80", "80x"})
        CHECK_THROWS_WITH(parse_address(text), contains("HOST:PORT"));
    HttpOptions everywhere{.host = "0.0.0.0", .port = 0};
    CHECK_THROWS_WITH(HttpServer(everywhere), contains("--insecure"));
    everywhere.insecure = true;
    const int freed = HttpServer(everywhere).port();
    CHECK(freed > 0);
    everywhere.port = freed;  // it was closed
    CHECK(HttpServer(everywhere).port() == freed);
    const EchoServer server;
    CHECK_THROWS_WITH(HttpServer({.port = server.port()}), contains("cannot be bound"));
}

TEST_CASE("http: pages and names of other places", "[serve]") {
    HttpOptions options;
    const auto code = [&](const std::string& host, const std::string& origin = "") {
        const std::string lines =
            (host.empty() ? "" : "Host: " + host + "\r\n") + (origin.empty() ? "" : "Origin: " + origin + "\r\n");
        try {
            web::RequestParser parser(0);
            std::string bytes = "GET / HTTP/1.1\r\n" + lines + "\r\n";
            REQUIRE(parser.read_head(bytes));
            web::check_source(options, parser.request());
        } catch (const web::HttpError& e) {
            CHECK(e.status == (e.code.empty() ? 400 : 403));
            return e.code;
        }
        return std::string("ours");
    };
    CHECK_ALL(code("localhost:8080") == "ours", code("localhost:8080", "http://localhost:8080") == "ours");
    CHECK_ALL(code("localhost", "https://localhost") == "ours", code("[::1]") == "ours");
    CHECK_ALL(code("[::1]:80", "http://[::1]:80") == "ours", code("LOCALHOST") == "ours");
    CHECK_ALL(code("127.0.0.1:8080") == "ours", code("") == "ours");
    CHECK(code("localhost:8080", "http://localhost:8081") == "foreign_origin");
    CHECK(code("localhost:8080", "https://example.com") == "foreign_origin");
    CHECK_ALL(code("localhost:8080", "null") == "foreign_origin", code("example.com:80") == "foreign_host");
    CHECK(code("example.com", "https://example.com") == "foreign_host");
    CHECK_ALL(code("localhost.example.com") == "foreign_host", code("127.0.0.1.example.com") == "foreign_host");
    for (const char* bad :
         {"localhost:80@evil.com", "localhost@evil.com", "localhost:80/", "localhost:8o", "localhost:-1",
          "localhost:123456", "[::1", "[::1]x", "[::1]@evil.com", "[localhost]:80@a", "localhost,evil.com",
          "localhost evil.com", "localhost:80:80", ":80", "::1", "loc%61lhost", "localhost?a", "[]"})
        CHECK(code(bad).empty());
    CHECK(code("localhost:") == "ours");  // RFC 3986 has an empty port
    options.allow_hosts = {web::parse_host("Inkling.Example")};
    options.allow_origins = {web::parse_origin("https://Chat.example:3000/")};
    CHECK_ALL(code("inkling.example:8080") == "ours", code("INKLING.example", "https://chat.EXAMPLE:3000") == "ours");
    CHECK(code("inkling.example.com") == "foreign_host");
    CHECK(code("localhost", "https://chat.example") == "foreign_origin");
    CHECK(code("localhost", "http://chat.example:3000") == "foreign_origin");
    options.host = "0.0.0.0";  // where others reach it, an address may be its own, and a name may be anybody's
    CHECK_ALL(code("192.168.1.5:8080") == "ours", code("[fe80::1]:8080", "http://[fe80::1]:8080") == "ours");
    CHECK_ALL(code("inkling.example") == "ours", code("rebound.example", "http://rebound.example") == "foreign_host");
    CHECK(code("1.2.3.4.example") == "foreign_host");
    options.keys = {"key"};  // which no page of another site knows
    CHECK_ALL(code("any.example") == "ours", code("any.example", "https://other.example") == "foreign_origin");
    CHECK(code("any.example", "https://chat.example:3000") == "ours");
    for (const char* bad : {"", "a:80", "http://a", "a b", "*"})
        CHECK_THROWS_WITH(web::parse_host(bad), contains("without a port"));
    for (const char* bad : {"", "chat.example", "https://", "https:///", "https://a/b", "https://*", "://a", "*"})
        CHECK_THROWS_WITH(web::parse_origin(bad), contains("https://chat.example:3000"));
}

TEST_CASE("http: a page that may use the server is told so", "[serve]") {
    const EchoServer server({.port = 0, .keys = {"key"}, .allow_origins = {"https://chat.example"}});
    const std::string page = "Origin: https://chat.example\r\n", key = "Authorization: Bearer key\r\n";
    const Answer before = ask(server.port(), "OPTIONS", "/echo", "",
                              page +
                                  "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: "
                                  "authorization,x-stainless-os\r\n");
    CHECK_ALL(before.status == 204, before.has_header("Access-Control-Allow-Origin: https://chat.example"));
    CHECK(before.has_header("Access-Control-Allow-Headers: authorization,x-stainless-os"));
    CHECK(before.has_header("Access-Control-Allow-Methods: GET, POST"));
    const Answer asked = ask(server.port(), "POST", "/echo", "a", page + key);
    CHECK_ALL(asked.body == "a", asked.has_header("Access-Control-Allow-Origin: https://chat.example"));
    CHECK(asked.has_header("Vary: Origin"));
    const Answer without = ask(server.port(), "POST", "/echo", "a", page);  // and it can read why not
    CHECK_ALL(without.status == 401, without.has_header("Access-Control-Allow-Origin: https://chat.example"));
    CHECK(get(server.port(), "/stream", page + key).has_header("Access-Control-Allow-Origin: https://chat.example"));
    for (const std::string& other :
         {std::string("Origin: https://other.example\r\n"), std::string("Origin: null\r\n")}) {
        const Answer refused = ask(server.port(), "POST", "/echo", "a", other + key);
        CHECK_ALL(refused.status == 403, refused.head.find("Access-Control") == std::string::npos);
        const Answer preflight =
            ask(server.port(), "OPTIONS", "/echo", "", other + "Access-Control-Request-Method: POST\r\n");
        CHECK_ALL(preflight.status == 403, preflight.head.find("Access-Control") == std::string::npos);
    }
    CHECK(ask(server.port(), "OPTIONS", "/echo", "", page).status == 405);
}
