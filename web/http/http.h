// A small HTTP server that withstands slow, broken and hostile clients: routes, limits, API keys, security headers,
// errors in OpenAI's format, whole or streamed responses, graceful shutdown.
//   HttpServer server({.port = 8080});            // binds; an address other than loopback needs keys, or `insecure`
//   server.route("GET", "/health", [](const HttpRequest&) { return HttpResponse{.body = R"({"status":"ok"})"}; });
//   server.route("GET", "/runs/*", show_run);      // a final * matches any rest
//   server.start();                                // one thread per running request
//   server.stop();                                 // running requests may finish; new ones get 503
// Handlers run concurrently. Exceptions become responses: HttpError with its status, BadInput 400, others 500. An
// unknown path gets 404, a known path with another method 405.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "web/http/http_error.h"

namespace inkling::web {

struct HttpOptions {
    std::string host = "127.0.0.1";
    int port = 8080;  // 0: any free port
    // A request must send one of these, as `Authorization: Bearer KEY` or `X-Api-Key: KEY`; empty: no key needed.
    std::vector<std::string> keys = {};
    bool insecure = false;  // allows a non-loopback address without keys
    // Host names that requests may use besides the address, and origins of web pages that may send requests.
    std::vector<std::string> allow_hosts = {}, allow_origins = {};

    std::size_t max_body = 1 << 20;     // bytes; more: 413
    std::size_t max_connections = 256;  // more: 503
    double header_time = 10;            // seconds from a request's first byte to the end of its headers; more: 408
    double idle_time = 60;              // seconds without a request, waiting for a body, or without reading a response

    // Called after each response: the route's path ("": no route), the status and the seconds taken.
    std::function<void(const std::string& path, int status, double seconds)> observe = nullptr;
};

struct HttpRequest {
    std::string method = "", path = "", body = "";    // the path without the query, decoded
    std::map<std::string, std::string> query = {};    // ?name=value, decoded
    std::map<std::string, std::string> headers = {};  // lower-case names; the first of several
    std::function<bool()> hung_up =
        nullptr;  // whether the client has disconnected, not only closed its side; any thread may call it meanwhile

    std::string header(const std::string& name) const { return headers.contains(name) ? headers.at(name) : ""; }
    std::string parameter(const std::string& name) const { return query.contains(name) ? query.at(name) : ""; }
};

// Sends a piece of a streamed response; false: the client has disconnected.
using HttpSend = std::function<bool(std::string_view)>;

struct HttpResponse {
    int status = 200;
    std::string type = "application/json";
    std::string body = "";
    std::vector<std::pair<std::string, std::string>> headers = {};  // override the server's own
    std::function<void(const HttpSend&)> stream = nullptr;          // replaces the body; must not throw HttpError
};

// A body of JSON; bytes of its texts that are not UTF-8 become U+FFFD.
HttpResponse json_response(const nlohmann::ordered_json& json);

using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

enum class HttpAccess { with_key, open };  // open: no key needed

class HttpServer {
  public:
    // Throws Error if the address cannot be bound, or needs keys.
    explicit HttpServer(HttpOptions options);
    ~HttpServer();  // stops
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    void route(const std::string& method, const std::string& path, HttpHandler handler,
               HttpAccess access = HttpAccess::with_key);  // before start
    void start();
    // Gives running requests `grace` seconds; then calls `give_up` to end them, and closes their connections a moment
    // later.
    void stop(double grace = 3, const std::function<void()>& give_up = nullptr);

    int port() const;
    std::string url() const;          // "http://127.0.0.1:8080", which this machine can open
    std::string places() const;       // the same, and which other addresses it listens on, for messages
    std::size_t connections() const;  // open now

  private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

// Whether an address is loopback: localhost, 127.x.x.x, ::1.
bool is_loopback(const std::string& host);

// "8080", "localhost:8080", "[::1]:8080" -> host and port, 0 to 65535; the default host is "127.0.0.1".
// Throws Error.
std::pair<std::string, int> parse_address(const std::string& text);

// allow_hosts, "inkling.example", and allow_origins, "https://chat.example:3000", as requests spell them. Throw Error.
std::string parse_host(const std::string& text);
std::string parse_origin(const std::string& text);

// One key per line; empty lines and lines that begin with # are skipped. Throws BadInput, beginning with `what`, for a
// key that no header can hold.
std::vector<std::string> parse_keys(const std::string& text, const std::string& what);

}  // namespace inkling::web
