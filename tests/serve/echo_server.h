// A server that gives bodies back, on a port of its own:
//   const EchoServer server;
//   ask(server.port(), "POST", "/echo", "hello").body;      // "hello"
#pragma once

#include "serve/http.h"
#include "tests/support/http_client.h"

namespace inkling::testing {

inline serve::HttpOptions on_any_port() {
    serve::HttpOptions options;
    options.port = 0;
    return options;
}

struct EchoServer {
    explicit EchoServer(serve::HttpOptions options = on_any_port()) : http(std::move(options)) {
        http.route("POST", "/echo", [](const serve::HttpRequest& r) { return serve::HttpResponse{.body = r.body}; });
        http.route("GET", "/echo", [](const serve::HttpRequest& r) {
            return serve::HttpResponse{.type = "text/html", .body = r.query.contains("q") ? r.query.at("q") : ""};
        });
        http.route(
            "GET", "/open", [](const serve::HttpRequest&) { return serve::HttpResponse{.body = "{}"}; },
            serve::HttpAccess::open);
        http.route("GET", "/under/*", [](const serve::HttpRequest& r) { return serve::HttpResponse{.body = r.path}; });
        http.route("GET", "/fails",
                   [](const serve::HttpRequest&) -> serve::HttpResponse { throw std::runtime_error("broken \xFF"); });
        http.route("GET", "/bad",
                   [](const serve::HttpRequest&) -> serve::HttpResponse { throw BadInput("not like this"); });
        http.route("GET", "/stream", [](const serve::HttpRequest&) {
            serve::HttpResponse r{.type = "text/event-stream"};
            r.stream = [](const serve::HttpSend& send) {
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
    serve::HttpServer http;
};

inline std::string code_of(const Answer& a) { return a.json()["error"]["code"].dump(); }

}  // namespace inkling::testing
