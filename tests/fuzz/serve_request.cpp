// A fuzz target for `inkling serve`: any bytes are a valid request, or refused in one line with a status of 4xx, as
// JSON. The first byte says how the other bytes are read. See run.sh.
#include <nlohmann/json.hpp>
#include <string>

#include "data/tokenizers/char_tokenizer.h"
#include "tests/fuzz/target.h"
#include "web/api/text_request.h"
#include "web/api/tokens.h"
#include "web/http/http_request.h"
#include "web/http/http_rules.h"

static void check_request(const web::TextRequest& request) {
    request.options.SamplingOptions::validate();
    generate::StopTexts{request.options.stop};
    if (request.n < 1 || request.n > 16 || request.options.seed >> 53 != 0) std::abort();
}

static void read_request(char kind, const std::string& text) {
    const web::RequestLimits limits{.max_tokens = 1000, .max_texts = 16};
    if (kind == 'c') {
        const auto request = web::parse_completion(text, limits);
        check_request(request);
        if (request.prompts.empty() || request.prompts.size() > 16) std::abort();
    } else if (kind == 'm') {
        const auto request = web::parse_chat(text, limits);
        check_request(request);
        if (request.messages.empty()) std::abort();
    } else if (kind == 't' || kind == 'd') {
        static const auto tokenizer = data::CharTokenizer::from_text("abc");
        const nlohmann::json body = web::parse_body(text);
        (kind == 't' ? web::tokenize : web::detokenize)(web::Fields(body), tokenizer);
    } else {
        web::RequestParser parser(1000);
        std::string bytes =
            kind == 'b' ? "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + text : text + "\r\n\r\n";
        if (!parser.read_head(bytes)) return;
        web::check_source({}, parser.request());
        if (parser.request().method.empty()) std::abort();
        if (parser.read_body(bytes) && parser.request().body.size() > 1000) std::abort();
    }
}

FUZZ_TARGET(serve_request) {
    if (size == 0) return 0;
    try {
        refuse_in_a_line([&] {
            read_request(static_cast<char>(bytes[0]), {reinterpret_cast<const char*>(bytes) + 1, size - 1});
        });
    } catch (const web::HttpError& e) {
        if (e.status < 400 || e.status > 499 || std::strchr(e.what(), '\n')) std::abort();
        const auto told = nlohmann::json::parse(web::error_json(e));
        if (!told["error"]["message"].is_string()) std::abort();
    }
    return 0;
}
