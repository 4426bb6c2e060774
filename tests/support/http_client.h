// A small HTTP client that controls every byte, so that it can also misbehave.
//   const Answer a = post(port, "/v1/completions", R"({"prompt":"a"})");     // a.status, a.json()
//   Wire wire(port);  wire.send("GET / HT");  wire.close();
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <stdexcept>

#include "web/http/http.h"

namespace inkling::testing {

// Works on any thread; Catch2's assertions work only on the test's thread.
inline void require(bool ok, const char* what) {
    if (!ok) throw std::runtime_error(what);
}

struct Answer {
    int status = 0;  // 0: the server closed the connection without an answer
    std::string head, body;
    nlohmann::json json() const { return nlohmann::json::parse(body); }
    std::string error() const { return json().at("error").at("message").get<std::string>(); }
    bool has_header(const std::string& line) const { return head.find("\r\n" + line + "\r\n") != std::string::npos; }
};

class Wire {
  public:
    explicit Wire(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET, address.sin_port = htons(static_cast<std::uint16_t>(port));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const timeval most{60, 0};
        setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
        setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
        require(connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0,
                "the server cannot be reached");
    }
    ~Wire() { close(); }
    Wire(const Wire&) = delete;
    Wire& operator=(const Wire&) = delete;

    bool send(const std::string& bytes) {
        for (std::size_t done = 0; done < bytes.size();) {
            const auto n = ::send(socket_, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
            if (n <= 0) return false;
            done += static_cast<std::size_t>(n);
        }
        return true;
    }
    void end() { shutdown(socket_, SHUT_WR); }  // closes only the sending side
    void close() {
        if (socket_ >= 0) ::close(socket_);
        socket_ = -1;
    }
    // Reads up to and including `end`, or all there is once the server closes.
    std::string until(const std::string& end) {
        std::size_t at;
        while ((at = ahead_.find(end)) == std::string::npos)
            if (!receive()) return std::exchange(ahead_, "");
        return take(at + end.size());
    }
    Answer answer(bool head_only = false) {
        Answer a;
        do a.head = until("\r\n\r\n");
        while (a.head.starts_with("HTTP/1.1 100 "));  // an interim response
        if (a.head.empty()) return a;
        a.status = std::stoi(a.head.substr(a.head.find(' ') + 1));
        if (head_only || a.status == 204) return a;
        if (a.has_header("Transfer-Encoding: chunked"))
            while (true) {
                const std::string line = until("\r\n");
                const std::size_t n = line.empty() ? 0 : std::stoul(line, nullptr, 16);
                if (n > 0) a.body += exactly(n);
                until("\r\n");
                if (n == 0) return a;
            }
        const std::size_t at = a.head.find("Content-Length: ");
        require(at != std::string::npos, "the answer has no Content-Length");
        a.body = exactly(std::stoul(a.head.substr(at + 16)));
        return a;
    }
    std::string rest() {
        while (receive()) continue;
        return std::exchange(ahead_, "");
    }

  private:
    bool receive() {
        char buffer[4096];
        const auto n = recv(socket_, buffer, sizeof buffer, 0);
        if (n > 0) ahead_.append(buffer, static_cast<std::size_t>(n));
        return n > 0;
    }
    std::string exactly(std::size_t n) {
        while (ahead_.size() < n && receive()) continue;
        return take(std::min(n, ahead_.size()));
    }
    std::string take(std::size_t n) {
        std::string part = ahead_.substr(0, n);
        ahead_.erase(0, n);
        return part;
    }

    int socket_;
    std::string ahead_;
};

inline std::string request_text(const std::string& method, const std::string& path, const std::string& body,
                                const std::string& headers = "") {
    const std::string length = method == "GET" ? "" : "Content-Length: " + std::to_string(body.size()) + "\r\n";
    return method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n" + length + headers + "\r\n" + body;
}

inline Answer ask(int port, const std::string& method, const std::string& path, const std::string& body = "",
                  const std::string& headers = "") {
    Wire wire(port);
    wire.send(request_text(method, path, body, headers));
    return wire.answer(method == "HEAD");
}

// The same; returns status 0 if no server listens.
inline Answer try_ask(int port, const std::string& method, const std::string& path, const std::string& body = "") {
    try {
        return ask(port, method, path, body);
    } catch (const std::runtime_error&) {
        return {};
    }
}

inline Answer get(int port, const std::string& path, const std::string& headers = "") {
    return ask(port, "GET", path, "", headers);
}

inline Answer post(int port, const std::string& path, const nlohmann::json& body) {
    return ask(port, "POST", path, body.dump());
}

// Checks the status of a refusal, and its code or the field that it names.
inline void check_refused(const Answer& a, int status, const std::string& what) {
    INFO(a.body);
    CHECK(a.status == status);
    const nlohmann::json error = a.json()["error"];
    CHECK((error["code"].is_null() ? error["param"] : error["code"]) == what);
}

// A port that is free now.
inline int free_port() { return web::HttpServer({.port = 0}).port(); }

// Waits until a server on this port has this page.
inline void wait_for(int port, const std::string& path) {
    wait_until([&] { return try_ask(port, "GET", path).status == 200; });
}

// The events of a stream, without the last one, [DONE].
inline std::vector<nlohmann::json> events(const Answer& a) {
    std::vector<nlohmann::json> result;
    std::string rest = a.body;
    require(rest.ends_with("data: [DONE]\n\n"), "the stream has no end");
    for (std::size_t end; (end = rest.find("\n\n")) != std::string::npos; rest.erase(0, end + 2)) {
        require(rest.starts_with("data: "), "no event of a stream");
        if (const std::string data = rest.substr(6, end - 6); data != "[DONE]")
            result.push_back(nlohmann::json::parse(data));
    }
    return result;
}

}  // namespace inkling::testing
