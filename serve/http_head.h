// The head of a request, checked and cleaned before the HTTP library reads it: what it takes for granted, and what no
// answer of ours needs (ranges, compressed answers), is dealt with here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "serve/http_error.h"

namespace inkling::serve {

struct HttpHead {
    std::string text;             // without what is dropped
    std::string host, origin;     // lower case
    std::string bearer, api_key;  // keys of `Authorization: Bearer` and of `X-Api-Key`
    bool http_1_0 = false;        // whose clients know no chunks, and one request a connection
    std::optional<std::uint64_t> content_length;
    bool chunked = false;
    bool has_body() const { return chunked || content_length.value_or(0) > 0; }
};

// `text`: up to and with the empty line. Throws HttpError 400 for what no client sends in good faith, 415 for a body
// that is compressed or in parts.
HttpHead parse_head(const std::string& text);

std::string lower(std::string_view text);  // of ASCII

}  // namespace inkling::serve
