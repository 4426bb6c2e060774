// Requests to a server on loopback, one for each connection:
//   const HttpAnswer a = http(port, "POST", "/api/sample", R"({"prompt":"Once"})");   // a.status 0: nobody answers
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

#include "tests/catch.h"

namespace inkling::testing {

struct HttpAnswer {
    int status = 0;
    std::string head, body;
};

inline sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

inline HttpAnswer http(int port, const std::string& method, const std::string& path, const std::string& body = "") {
    HttpAnswer answer;
    const int connection = socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in address = loopback(port);
    std::string text;
    if (connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
        const std::string request = method + " " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" +
                                    (method == "GET" ? "" : "Content-Length: " + std::to_string(body.size()) + "\r\n") +
                                    "\r\n" + body;
        send(connection, request.data(), request.size(), MSG_NOSIGNAL);
        char part[4096];
        for (ssize_t n; (n = recv(connection, part, sizeof part, 0)) > 0;)
            text.append(part, static_cast<std::size_t>(n));
    }
    close(connection);
    const std::size_t end = text.find("\r\n\r\n");
    if (end == std::string::npos) return answer;
    answer.head = text.substr(0, end);
    answer.body = text.substr(end + 4);
    answer.status = std::stoi(text.substr(text.find(' ') + 1));
    return answer;
}

// One that nobody has just now.
inline int unused_port() {
    const int any = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    REQUIRE(bind(any, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(getsockname(any, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    close(any);
    return ntohs(address.sin_port);
}

// Until a server answers there.
inline bool wait_for_port(int port) {
    for (int i = 0; i < 3000; ++i) {
        if (http(port, "GET", "/").status != 0) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
}

}  // namespace inkling::testing
