// Addresses and keys.
#include <arpa/inet.h>

#include <charconv>

#include "serve/http.h"

namespace inkling::serve {

bool is_loopback(const std::string& host) {
    if (host == "localhost" || host == "::1" || host == "[::1]") return true;
    in_addr v4{};
    return inet_pton(AF_INET, host.c_str(), &v4) == 1 && (ntohl(v4.s_addr) >> 24) == 127;
}

std::pair<std::string, int> parse_address(const std::string& text) {
    const std::size_t colon = text.rfind(':');
    std::string host = colon == std::string::npos ? "127.0.0.1" : text.substr(0, colon);
    const bool brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (brackets) host = host.substr(1, host.size() - 2);
    const std::string digits = colon == std::string::npos ? text : text.substr(colon + 1);
    int port = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    const bool number = error == std::errc() && end == digits.data() + digits.size() && port >= 0 && port <= 65535;
    check(number && !host.empty() && (brackets || host.find(':') == std::string::npos),
          "PORT or HOST:PORT is required, as 8080 or localhost:8080 or [::1]:8080, got {}", text);
    return {host, port};
}

bool key_matches(const std::vector<std::string>& keys, std::string_view authorization) {
    constexpr std::string_view kScheme = "Bearer ";
    if (!authorization.starts_with(kScheme)) return false;
    const std::string_view given = authorization.substr(kScheme.size());
    unsigned matches = 0;
    for (const std::string& key : keys) {
        unsigned different = key.size() != given.size() || key.empty();
        for (std::size_t i = 0; i < given.size(); ++i)
            different |= static_cast<unsigned char>(given[i]) ^
                         static_cast<unsigned char>(key.empty() ? '\0' : key[i % key.size()]);
        matches |= static_cast<unsigned>(different == 0);
    }
    return matches != 0;
}

}  // namespace inkling::serve
