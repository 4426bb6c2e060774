#include "web/api/openai_json.h"

#include <algorithm>
#include <random>

#include "formats/utf8.h"

namespace inkling::web {
namespace {

using nlohmann::ordered_json;

// JSON has no infinities; OpenAI writes -9999 for impossible tokens.
double finite(double logprob) { return std::max(logprob, -9999.0); }

std::size_t characters(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string bytes_of(const data::Tokenizer& tokenizer, std::int32_t id) {
    const bool known = id >= 0 && static_cast<std::size_t>(id) < tokenizer.vocab_size();
    return known ? tokenizer.decode_more(std::span(&id, 1)) : "";
}

// "" for an unknown id, "bytes:\xe2\x82" for part of a character.
std::string token_text(const data::Tokenizer& tokenizer, std::int32_t id) {
    const std::string text = bytes_of(tokenizer, id);
    if (formats::find_invalid_utf8(text) == std::string::npos) return text;
    std::string shown = "bytes:";
    for (const char c : text) shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    return shown;
}

}  // namespace

ordered_json finish_json(generate::FinishReason reason) {
    using generate::FinishReason;
    if (reason == FinishReason::none) return nullptr;
    return reason == FinishReason::length ? "length" : "stop";
}

void CompletionLogprobs::add_token(const std::string& text, const generate::TokenLogprobs* logprobs) {
    tokens_.push_back(text);
    offsets_.push_back(offset_);
    values_.push_back(logprobs ? ordered_json(finite(logprobs->logprob)) : ordered_json());
    ordered_json& top = tops_.emplace_back();
    if (!logprobs || !top_) return;
    top = ordered_json::object();  // operator[] of null leaves a broken value if it finds no memory
    for (const generate::Logprob& p : logprobs->top) {
        const std::string name = token_text(tokenizer_, p.id);
        if (!top.contains(name)) top[name] = finite(p.logprob);  // the likelier of two with the same text
    }
    if (!top.contains(text)) top[text] = finite(logprobs->logprob);
}

void CompletionLogprobs::add_prompt(std::span<const std::int32_t> tokens,
                                    const std::vector<generate::TokenLogprobs>& logprobs) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        add_token(token_text(tokenizer_, tokens[i]), i > 0 ? &logprobs.at(i - 1) : nullptr);
        offset_ += characters(bytes_of(tokenizer_, tokens[i]));
    }
}

void CompletionLogprobs::add(const ChoicePiece& piece) {
    for (const generate::TokenLogprobs& token : piece.logprobs) {
        add_token(token_text(tokenizer_, token.id), &token);
        offset_ += characters(bytes_of(tokenizer_, token.id));
    }
    if (piece.end_logprobs) add_token(token_text(tokenizer_, piece.end_logprobs->id), &*piece.end_logprobs);
}

ordered_json CompletionLogprobs::take() {
    const auto part = [](ordered_json& list) { return std::exchange(list, ordered_json::array()); };
    ordered_json tops = part(tops_);
    return {{"tokens", part(tokens_)},
            {"token_logprobs", part(values_)},
            {"top_logprobs", top_ ? std::move(tops) : ordered_json()},
            {"text_offset", part(offsets_)}};
}

ordered_json chat_logprobs(const data::Tokenizer& tokenizer, const std::vector<generate::TokenLogprobs>& logprobs) {
    const auto entry = [&](const generate::Logprob& p) {
        return ordered_json{{"token", token_text(tokenizer, p.id)},
                            {"logprob", finite(p.logprob)},
                            {"bytes", byte_list(bytes_of(tokenizer, p.id))}};
    };
    ordered_json content = ordered_json::array();
    for (const generate::TokenLogprobs& token : logprobs) {
        ordered_json& one = content.emplace_back(entry(token));
        one["top_logprobs"] = ordered_json::array();
        for (const generate::Logprob& p : token.top) one["top_logprobs"].push_back(entry(p));
    }
    return {{"content", content}};
}

ordered_json byte_list(const std::string& bytes) { return std::vector<std::uint8_t>(bytes.begin(), bytes.end()); }

std::string event(const ordered_json& json) { return "data: " + json.dump() + "\n\n"; }

std::string random_id(const std::string& prefix) {
    thread_local std::mt19937_64 numbers(std::random_device{}());
    return fmt::format("{}{:016x}", prefix, numbers());
}

}  // namespace inkling::web
