#include "serve/http_head.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace inkling::serve {
namespace {

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return "";
    return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

std::uint64_t parse_length(std::string_view text) {
    std::uint64_t n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (text.empty() || end != text.data() + text.size() || error == std::errc::invalid_argument)
        throw HttpError(400, "Content-Length: a number of bytes is required");
    return error == std::errc() ? n : UINT64_MAX;
}

// The key of `Bearer KEY`; "" of other schemes.
std::string_view bearer_key(std::string_view authorization) {
    constexpr std::string_view kScheme = "bearer ";
    return lower(authorization.substr(0, kScheme.size())) == kScheme ? trimmed(authorization.substr(kScheme.size()))
                                                                     : "";
}

// "POST /a%20b?c=d HTTP/1.1". A target is decoded by the library, which takes more for an encoded byte than %XX.
void take_request_line(HttpHead& head, std::string_view line) {
    const std::size_t target = line.find(' ') + 1, end = line.rfind(' ');
    const std::string_view version = line.substr(end + 1);
    if (std::count(line.begin(), line.end(), ' ') != 2 || (version != "HTTP/1.1" && version != "HTTP/1.0"))
        throw HttpError(400, "the request line is not HTTP/1.1's");
    head.http_1_0 = version == "HTTP/1.0";
    const auto is_digit = [&](std::size_t i) { return i < end && std::isxdigit(static_cast<unsigned char>(line[i])); };
    for (std::size_t i = target; i < end; ++i)
        if (line[i] == '%' && !(is_digit(i + 1) && is_digit(i + 2)))
            throw HttpError(400, "the path has a % without two hexadecimal digits");
}

void take_header(HttpHead& head, const std::string& name, std::string_view value) {
    if (name == "host") {
        if (!head.host.empty()) throw HttpError(400, "Host: one is required");
        head.host = lower(value);
    }
    if (name == "origin") head.origin = lower(value);
    if (name == "authorization") head.bearer = bearer_key(value);
    if (name == "x-api-key") head.api_key = value;
    if (name == "content-length") {
        const std::uint64_t n = parse_length(value);
        if (head.content_length && *head.content_length != n)
            throw HttpError(400, "Content-Length: two of them differ");
        head.content_length = n;
    } else if (name == "transfer-encoding") {
        if (lower(value) != "chunked" || head.chunked || head.http_1_0)
            throw HttpError(400, "Transfer-Encoding: chunked is the only one that is known");
        head.chunked = true;
    } else if (name == "content-encoding" && lower(value) != "identity") {
        throw HttpError(415, "Content-Encoding: bodies are not to be compressed");
    } else if (name == "content-type" && lower(value).starts_with("multipart/")) {
        throw HttpError(415, "Content-Type: application/json is required");
    }
}

}  // namespace

std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 'a' - 'A') : c; });
    return result;
}

HttpHead parse_head(const std::string& text) {
    HttpHead head;
    std::size_t begin = 0;
    for (bool first = true; begin < text.size(); first = false) {
        const std::size_t end = text.find("\r\n", begin);
        const std::string_view line = std::string_view(text).substr(begin, end - begin);
        begin = end + 2;
        if (line.empty() && !first) break;
        for (const unsigned char c : line) {
            if ((c < ' ' && c != '\t') || c == 0x7F)
                throw HttpError(400, "the head of the request has a control character");
        }
        if (first) {
            take_request_line(head, line);
            head.text.append(line).append("\r\n");
            continue;
        }
        const std::size_t colon = line.find(':');
        if (colon == 0 || colon == std::string_view::npos || line.find_first_of(" \t") < colon)
            throw HttpError(400, "a header is not `Name: value`");
        const std::string name = lower(line.substr(0, colon));
        if (name == "range" || name == "accept-encoding" || (name == "expect" && head.http_1_0)) continue;
        take_header(head, name, trimmed(line.substr(colon + 1)));
        head.text.append(line).append("\r\n");
    }
    if (head.chunked && head.content_length)
        throw HttpError(400, "Content-Length and Transfer-Encoding exclude each other");
    const bool takes_body = text.starts_with("POST ") || text.starts_with("PUT ") || text.starts_with("PATCH ");
    if (!takes_body && head.has_body()) throw HttpError(400, "a body is for POST, PUT and PATCH");
    if (takes_body && !head.chunked && !head.content_length)
        head.text += "Content-Length: 0\r\n";  // not: up to the end
    head.text += "\r\n";
    return head;
}

}  // namespace inkling::serve
