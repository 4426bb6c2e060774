// A fuzz target for what `inkling serve` reads: any bytes are a request that makes sense, or refused in one line with a
// status of 4xx, and the refusal is JSON. The first byte says as what the others are read. See run.sh.
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "serve/http_body.h"
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
    } else if (kind == 'b') {
        serve::HttpHead head;
        head.chunked = true;
        std::string_view rest = text;
        const auto some = [&](char* to, std::size_t size) {
            const std::size_t n = rest.copy(to, size);
            rest.remove_prefix(n);
            return static_cast<std::ptrdiff_t>(n);
        };
        if (serve::read_body(some, head, 1000).size() > 1000) std::abort();
    } else {
        const serve::HttpHead head = serve::parse_head(text + "\r\n\r\n");
        serve::check_source({}, head);
        if (!head.text.ends_with("\r\n\r\n") || head.text.find('\0') != std::string::npos) std::abort();
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
