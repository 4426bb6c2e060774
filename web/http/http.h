// A small HTTP server that stands up to slow, broken and hostile clients: routes, limits, keys, security headers,
// errors in OpenAI's form, answers as a whole or as a stream, a clean end.
//   HttpServer server({.port = 8080});            // binds; an address other than loopback needs keys, or `insecure`
//   server.route("GET", "/health", [](const HttpRequest&) { return HttpResponse{.body = R"({"status":"ok"})"}; });
//   server.route("GET", "/runs/*", show_run);      // * at the end: whatever follows
//   server.start();                                // in threads of its own, one for each request that runs
//   server.stop();                                 // requests that run have time to end, others are answered 503
// Handlers run at the same time, on different threads. What they throw is answered: an HttpError as it says, BadInput
// with 400, all else with 500. A path that has no route is answered 404, one that has none of this method 405.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "web/http/http_error.h"

namespace inkling::web {

struct HttpOptions {
    std::string host = "127.0.0.1";
    int port = 8080;  // 0: any that is free
    // A request needs one of them, as `Authorization: Bearer KEY` or `X-Api-Key: KEY`; none: open to all.
    std::vector<std::string> keys = {};
    bool insecure = false;  // an address other than loopback without keys
    // By which names requests may call the server, beside its address, and the web pages that may use it.
    std::vector<std::string> allow_hosts = {}, allow_origins = {};

    std::size_t max_body = 1 << 20;     // bytes; more: 413
    std::size_t max_connections = 256;  // more: 503
    double header_time = 10;            // seconds from a request's first byte to the end of its headers; more: 408
    double idle_time = 60;              // seconds without a request, for a body to come, or without reading an answer

    // Is told of each answer: the path of its route, "" for what none has, the status, and the seconds that it took.
    std::function<void(const std::string& path, int status, double seconds)> observe = nullptr;
};

struct HttpRequest {
    std::string method = "", path = "", body = "";    // the path without the query, decoded
    std::map<std::string, std::string> query = {};    // ?name=value, decoded
    std::map<std::string, std::string> headers = {};  // by names in lower case; of several of a name, the first
    std::function<bool()> hung_up = nullptr;  // whether the client has gone; any thread may ask while the request runs

    std::string header(const std::string& name) const { return headers.contains(name) ? headers.at(name) : ""; }
};

// Sends a piece of a streamed answer; false: the client has gone.
using HttpSend = std::function<bool(std::string_view)>;

struct HttpResponse {
    int status = 200;
    std::string type = "application/json";
    std::string body = "";
    std::vector<std::pair<std::string, std::string>> headers = {};  // take the place of the server's own of that name
    std::function<void(const HttpSend&)> stream = nullptr;  // in place of the body; it must not throw HttpErrors
};

using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

enum class HttpAccess { with_key, open };  // open: without a key, too

class HttpServer {
  public:
    // Throws Error where the address cannot be bound, or may not without keys.
    explicit HttpServer(HttpOptions options);
    ~HttpServer();  // stops
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    void route(const std::string& method, const std::string& path, HttpHandler handler,
               HttpAccess access = HttpAccess::with_key);  // before start
    void start();
    // Requests that run have `grace` seconds to end; then `give_up` is to end them, and a moment later their
    // connections are closed.
    void stop(double grace = 3, const std::function<void()>& give_up = nullptr);

    int port() const;
    std::string url() const;          // "http://127.0.0.1:8080"
    std::size_t connections() const;  // just now

  private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

// Whether only programs of this machine reach an address: localhost, 127.x.x.x, ::1.
bool is_loopback(const std::string& host);

// "8080", "localhost:8080", "[::1]:8080" -> host and port, 0 to 65535; the host is "127.0.0.1" where none is given.
// Throws Error.
std::pair<std::string, int> parse_address(const std::string& text);

// allow_hosts, "inkling.example", and allow_origins, "https://chat.example:3000", as requests have them. Throw Error.
std::string parse_host(const std::string& text);
std::string parse_origin(const std::string& text);

// Each line of a file is a key; empty lines and those that begin with # are none. Throws BadInput, which begins with
// `what`, for a key that no header can hold.
std::vector<std::string> parse_keys(const std::string& text, const std::string& what);

// Whether a key is one of them; takes as long whichever bytes differ.
bool key_matches(const std::vector<std::string>& keys, std::string_view key);

}  // namespace inkling::web
