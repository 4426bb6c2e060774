#include "web/http/http_request.h"
#include "formats/ascii.h"
#include "formats/utf8.h"

#include <algorithm>

namespace inkling::web {
namespace {

namespace http = boost::beast::http;

constexpr std::uint32_t kMaxHead = 32 << 10;  // bytes, also for the head of a chunk
constexpr std::size_t kMaxTarget = 1024;      // bytes of a path and its query

std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

std::string percent_decoded(std::string_view text) {
    try {
        return formats::from_percent(text, "the path");
    } catch (const BadInput& e) {
        throw HttpError(400, e.what());
    }
}

std::pair<std::string_view, std::string_view> split(std::string_view text, char mark) {
    const std::size_t at = std::min(text.find(mark), text.size());
    return {text.substr(0, at), text.substr(std::min(at + 1, text.size()))};
}

HttpError body_too_large(std::size_t max) {
    return {413, fmt::format("a body of at most {} bytes is required", max), "", "body_too_large"};
}

}  // namespace

RequestParser::RequestParser(std::size_t max_body) : max_body_(max_body) {
    parser_.header_limit(kMaxHead);
    parser_.body_limit(UINT64_MAX);  // no limit until the head is checked
}

bool RequestParser::read_head(std::string& bytes) {
    read(bytes);
    if (!parser_.is_header_done()) return false;
    take_head();
    parser_.body_limit(max_body_);
    parser_.eager(true);
    return true;
}

bool RequestParser::read_body(std::string& bytes) {
    if (parser_.content_length().value_or(0) > max_body_) throw body_too_large(max_body_);
    read(bytes);
    if (parser_.is_done()) request_.body = std::move(parser_.get().body());
    if (!parser_.is_done() && bytes.size() > kMaxHead) throw HttpError(400, "the head of a chunk is too long");
    return parser_.is_done();
}

void RequestParser::read(std::string& bytes) {
    if (parser_.is_done()) return;  // the rest belongs to the next request
    boost::system::error_code error;
    bytes.erase(0, parser_.put(boost::asio::buffer(bytes), error));
    if (error == http::error::header_limit) throw HttpError(431, "the headers of the request are too long");
    if (error == http::error::body_limit) throw body_too_large(max_body_);
    if (error && error != http::error::need_more)
        throw HttpError(400, "not a valid HTTP/1.1 request: " + error.message());
}

// Checks what Beast does not: encodings, methods, and the number of headers.
void RequestParser::take_head() {
    const auto& head = parser_.get();
    if (head.count(http::field::host) > 1) throw HttpError(400, "Host: one is required");
    const auto encoding = head.find(http::field::transfer_encoding);
    if (encoding != head.end() && (formats::lower(std::string(view(encoding->value()))) != "chunked" || http_1_0()))
        throw HttpError(400, "Transfer-Encoding: only chunked is supported");
    const http::verb method = head.method();
    if (method != http::verb::post && method != http::verb::put && method != http::verb::patch && !parser_.is_done())
        throw HttpError(400, "a body is for POST, PUT and PATCH");
    for (const auto& header : head)
        request_.headers.emplace(formats::lower(std::string(view(header.name_string()))), view(header.value()));
    if (const std::string coding = formats::lower(request_.header("content-encoding"));
        !coding.empty() && coding != "identity")
        throw HttpError(415, "Content-Encoding: compressed bodies are not supported");
    request_.method = view(head.method_string());
    if (head.target().size() > kMaxTarget) throw HttpError(414, "the path is too long");
    const auto [path, query] = split(view(head.target()), '?');
    request_.path = percent_decoded(path);
    for (std::string_view rest = query; !rest.empty();) {
        const auto [parameter, others] = split(rest, '&');
        const auto [name, value] = split(parameter, '=');
        request_.query.emplace(percent_decoded(name), percent_decoded(value));
        rest = others;
    }
}

}  // namespace inkling::web
