#include "web/http/http_rules.h"

#include <arpa/inet.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "engine/base/names.h"
#include "formats/ascii.h"
#include "formats/sha256.h"
#include "web/http/http_request.h"

namespace inkling::web {
namespace {

bool contains(const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
}

// "[::1]:8080" -> "::1", "a.example:80" -> "a.example"; none unless it is a name or an address, and a port or none.
std::optional<std::string> without_port(const std::string& host) {
    const bool brackets = host.starts_with("[");
    const std::size_t end = brackets ? host.find(']') : std::min(host.find(':'), host.size());
    if (end == std::string::npos) return std::nullopt;
    const std::string name = host.substr(brackets, end - brackets), port = host.substr(end + brackets);
    const auto is_of_name = [&](unsigned char c) {
        return std::isalnum(c) || c == '-' || c == '.' || c == '_' || c == (brackets ? ':' : '.');
    };
    const auto digits = [](std::string_view text) {
        return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c >= '0' && c <= '9'; });
    };
    if (name.empty() || !std::all_of(name.begin(), name.end(), is_of_name)) return std::nullopt;
    if (!port.empty() && !(port[0] == ':' && port.size() <= 6 && digits(std::string_view(port).substr(1))))
        return std::nullopt;
    return name;
}

bool is_ip_address(const std::string& host) {
    in6_addr any{};
    return inet_pton(AF_INET, host.c_str(), &any) == 1 || inet_pton(AF_INET6, host.c_str(), &any) == 1;
}

std::string machine_name() {
    char name[256] = {};
    return gethostname(name, sizeof name - 1) == 0 ? formats::lower(name) : "";
}

// An attacker can make a name point here, but not an address.
bool is_own_name(const HttpOptions& options, const std::string& host) {
    if (is_loopback(host) || contains(options.allow_hosts, host)) return true;
    return !is_loopback(options.host) &&
           (is_ip_address(host) || host == formats::lower(options.host) || host == machine_name());
}

constexpr std::size_t kShown = 100;  // bytes of a header in a message

// Compares digests, so that the time does not depend on the keys.
bool is_one_of(const std::vector<std::string>& keys, const std::string& given) {
    const std::string digest = formats::sha256(given);
    return std::any_of(keys.begin(), keys.end(), [&](const std::string& k) { return formats::sha256(k) == digest; });
}

// The key of `Authorization: Bearer KEY`; "" for other schemes.
std::string bearer_key(const HttpRequest& request) {
    const std::string text = request.header("authorization");
    const std::size_t key = text.find_first_not_of(" \t", 7);
    return formats::lower(text.substr(0, 7)) == "bearer " && key != std::string::npos ? text.substr(key) : "";
}

}  // namespace

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
    const int port = formats::parse_number<int>(digits).value_or(-1);
    const bool number = port >= 0 && port <= 65535;
    check(number && !host.empty() && (brackets || host.find(':') == std::string::npos),
          "PORT or HOST:PORT is required, as 8080 or localhost:8080 or [::1]:8080, got {}", text);
    return {host, port};
}

std::string parse_host(const std::string& text) {
    check(!text.empty() && text.find_first_of("/: \t*") == std::string::npos,
          "a name without a port is required, as inkling.example, got {}", text);
    return formats::lower(text);
}

std::string parse_origin(const std::string& text) {
    const std::size_t colon = text.find("://"), host = colon + 3;
    const std::string origin = formats::lower(text.ends_with('/') ? text.substr(0, text.size() - 1) : text);
    check(colon != std::string::npos && colon > 0 && host < origin.size() &&
              origin.find_first_of("/ \t*", host) == std::string::npos,
          "the address of a web page's server is required, as https://chat.example:3000, got {}", text);
    return origin;
}

void check_source(const HttpOptions& options, const HttpRequest& request) {
    const std::string host = formats::lower(request.header("host")), origin = formats::lower(request.header("origin"));
    const std::optional<std::string> name = without_port(host);
    if (request.headers.contains("host") && !name)
        throw HttpError(400, fmt::format("Host: expected a name and a port, got {}", shortened(host, kShown)));
    if (options.keys.empty() && name && !is_own_name(options, *name))
        throw HttpError(
            403, fmt::format("Host: {} is not a name of this server: --allow-host adds one", shortened(*name, kShown)),
            "", "foreign_host");
    const bool own = origin.empty() || origin == "http://" + host || origin == "https://" + host;
    if (!own && !is_allowed_origin(options, request))
        throw HttpError(
            403,
            fmt::format("Origin: a page of {} sent this request: --allow-origin admits one", shortened(origin, kShown)),
            "", "foreign_origin");
}

void check_key(const std::vector<std::string>& keys, const HttpRequest& request) {
    const std::string bearer = bearer_key(request), api_key = request.header("x-api-key");
    const bool given = !bearer.empty() || !api_key.empty();
    if (given && (is_one_of(keys, bearer) || is_one_of(keys, api_key))) return;
    throw HttpError(401, given ? "the key is wrong" : "a key is required: Authorization: Bearer KEY", "",
                    "invalid_api_key");
}

bool is_allowed_origin(const HttpOptions& options, const HttpRequest& request) {
    return contains(options.allow_origins, formats::lower(request.header("origin")));
}

std::vector<std::string> parse_keys(const std::string& text, const std::string& what) {
    std::vector<std::string> keys;
    std::istringstream lines(text.starts_with("\xEF\xBB\xBF") ? text.substr(3) : text);
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        const std::size_t begin = line.find_first_not_of(" \t\r");
        if (begin == std::string::npos || line[begin] == '#') continue;
        line = line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
        const bool fits = std::all_of(line.begin(), line.end(), [](unsigned char c) { return c >= ' ' && c != 0x7F; });
        check<BadInput>(fits, "{}: line {}: the key has a control character, which no request can send", what, number);
        keys.push_back(line);
    }
    check<BadInput>(!keys.empty(), "{}: a key on a line of its own is required: the file has none", what);
    return keys;
}

}  // namespace inkling::web
