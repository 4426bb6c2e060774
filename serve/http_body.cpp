#include "serve/http_body.h"

#include <algorithm>
#include <charconv>

namespace inkling::serve {
namespace {

HttpError bad_chunk() { return {400, "the chunks of the body are not as HTTP/1.1 has them"}; }

void append(const ReadBytes& read, std::uint64_t size, std::string& to) {
    char buffer[16384];
    while (size > 0) {
        const std::ptrdiff_t n = read(buffer, static_cast<std::size_t>(std::min<std::uint64_t>(size, sizeof buffer)));
        if (n <= 0) throw HttpError(400, "the body of the request is not whole");
        to.append(buffer, static_cast<std::size_t>(n));
        size -= static_cast<std::uint64_t>(n);
    }
}

// Up to CR LF, which are not part of it. Neither stands alone.
std::string read_line(const ReadBytes& read) {
    constexpr std::size_t kMax = 4096;
    std::string line;
    while (!line.ends_with('\r')) {
        append(read, 1, line);
        const char c = line.back();
        if (line.size() > kMax || c == '\n' || c == '\0') throw bad_chunk();
    }
    append(read, 1, line);
    if (line.back() != '\n') throw bad_chunk();
    line.resize(line.size() - 2);
    return line;
}

// "1a" or "1a;extension"
std::uint64_t parse_size(std::string_view line) {
    std::uint64_t size = 0;
    const char* const end = line.data() + line.size();
    const auto [rest, error] = std::from_chars(line.data(), end, size, 16);
    if (error == std::errc::invalid_argument || (rest != end && *rest != ';')) throw bad_chunk();
    return error == std::errc() ? size : UINT64_MAX;
}

}  // namespace

HttpError body_too_large(std::size_t max) {
    return {413, fmt::format("a body of at most {} bytes is required", max), "", "body_too_large"};
}

std::string read_body(const ReadBytes& read, const HttpHead& head, std::size_t max) {
    std::string body;
    const auto append_part = [&](std::uint64_t size) {
        if (size > max - body.size()) throw body_too_large(max);
        append(read, size, body);
    };
    if (!head.chunked) {
        append_part(head.content_length.value_or(0));
        return body;
    }
    while (const std::uint64_t size = parse_size(read_line(read))) {
        append_part(size);
        if (!read_line(read).empty()) throw bad_chunk();
    }
    while (!read_line(read).empty()) continue;  // trailers
    return body;
}

}  // namespace inkling::serve
