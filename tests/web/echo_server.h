// A server on a free port that returns the bodies it receives:
//   const EchoServer server;
//   ask(server.port(), "POST", "/echo", "hello").body;      // "hello"
#pragma once

#include "tests/support/http_client.h"
#include "web/http/http.h"

namespace inkling::testing {

struct EchoServer {
    explicit EchoServer(web::HttpOptions options = {.port = 0}) : http(std::move(options)) {
        http.route("POST", "/echo", [](const web::HttpRequest& r) { return web::HttpResponse{.body = r.body}; });
        http.route("GET", "/echo", [](const web::HttpRequest& r) {
            return web::HttpResponse{.type = "text/html", .body = r.parameter("q")};
        });
        http.route(
            "GET", "/open", [](const web::HttpRequest&) { return web::HttpResponse{.body = "{}"}; },
            web::HttpAccess::open);
        http.route("GET", "/under/*", [](const web::HttpRequest& r) { return web::HttpResponse{.body = r.path}; });
        http.route("GET", "/fails",
                   [](const web::HttpRequest&) -> web::HttpResponse { throw std::runtime_error("broken \xFF"); });
        http.route("GET", "/bad",
                   [](const web::HttpRequest&) -> web::HttpResponse { throw BadInput("not like this"); });
        http.route("GET", "/stream", [](const web::HttpRequest&) {
            web::HttpResponse r{.type = "text/event-stream"};
            r.stream = [](const web::HttpSend& send) {
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
    web::HttpServer http;
};

}  // namespace inkling::testing
