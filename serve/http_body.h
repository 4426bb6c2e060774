// Reads the body of a request, its length or its chunks to the byte (RFC 9112, 6 and 7.1). Where a proxy and a server
// disagree on the end of a body, one of them takes the rest for another request.
//   const std::string body = read_body([&](char* to, std::size_t n) { return connection.read(to, n); }, head, 1 << 20);
#pragma once

#include <functional>
#include <string>

#include "serve/http_head.h"

namespace inkling::serve {

using ReadBytes = std::function<std::ptrdiff_t(char* to, std::size_t size)>;  // 0 or below: no more come

HttpError body_too_large(std::size_t max);

// Throws HttpError 413 for more than `max` bytes, and 400 for chunks that are not exactly as the standard has them.
// Extensions of chunks and trailers are read and ignored.
std::string read_body(const ReadBytes& read, const HttpHead& head, std::size_t max);

}  // namespace inkling::serve
