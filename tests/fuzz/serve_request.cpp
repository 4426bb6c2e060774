// A fuzz target for what `inkling serve` reads: any bytes are a request that makes sense, or refused in one line with a
// status of 4xx, and the refusal is JSON. The first byte says as what the others are read. See run.sh.
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "serve/http_request.h"
#include "serve/http_rules.h"
#include "serve/text_request.h"
#include "tests/fuzz/target.h"

using namespace inkling;

namespace fuzz_serve_request {

void check_request(const serve::TextRequest& request) {
    request.options.SamplingOptions::validate();
    generate::StopTexts{request.options.stop};
    if (request.n < 1 || request.n > 16 || request.options.seed >> 53 != 0) std::abort();
}

void read(char kind, const std::string& text) {
    const serve::RequestLimits limits{.max_tokens = 1000, .max_texts = 16};
    if (kind == 'c') {
        const auto request = serve::parse_completion(text, limits);
        check_request(request);
        if (request.prompts.empty() || request.prompts.size() > 16) std::abort();
    } else if (kind == 'm') {
        const auto request = serve::parse_chat(text, limits);
        check_request(request);
        if (request.messages.empty()) std::abort();
    } else if (kind == 't') {
        serve::parse_tokenize(text);
    } else if (kind == 'd') {
        for (const std::int32_t id : serve::parse_detokenize(text).tokens)
            if (id < 0) std::abort();
    } else {
        serve::RequestParser parser(1000);
        std::string bytes =
            kind == 'b' ? "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + text : text + "\r\n\r\n";
        if (!parser.read_head(bytes)) return;
        serve::check_source({}, parser.request());
        if (parser.request().method.empty()) std::abort();
        if (parser.read_body(bytes) && parser.request().body.size() > 1000) std::abort();
    }
}

FUZZ_TARGET(serve_request) {
    if (size == 0) return 0;
    try {
        read(static_cast<char>(bytes[0]), {reinterpret_cast<const char*>(bytes) + 1, size - 1});
    } catch (const serve::HttpError& e) {
        if (e.status < 400 || e.status > 499 || std::strchr(e.what(), '\n')) std::abort();
        const auto json = nlohmann::json::parse(serve::error_json(e));
        if (!json["error"]["message"].is_string()) std::abort();
    }
    return 0;
}

}  // namespace fuzz_serve_request
