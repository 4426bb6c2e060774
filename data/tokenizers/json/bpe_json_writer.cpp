// BpeTokenizer::to_json: tokenizer.json as the `tokenizers` library reads it. The vocabulary, one token per line in the
// order of ids, is written by hand: nlohmann's objects are either sorted by name or slow to fill.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "data/tokenizers/bpe/bpe_tokenizer.h"
#include "data/tokenizers/json/pipeline_json.h"
#include "engine/base/check.h"
#include "formats/files/file.h"

namespace inkling::data {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

ordered_json added_tokens(const std::vector<AddedToken>& tokens) {
    ordered_json list = ordered_json::array();
    for (const AddedToken& t : tokens) {
        list.push_back({{"id", t.id},
                        {"content", t.content},
                        {"single_word", t.single_word},
                        {"lstrip", t.lstrip},
                        {"rstrip", t.rstrip},
                        {"normalized", t.normalized},
                        {"special", t.special}});
    }
    return list;
}

}  // namespace

std::string BpeTokenizer::to_json() const {
    const auto line = [](std::string& text, const std::string& item) {
        text += (text.empty() ? "\n      " : ",\n      ") + item;
    };
    std::string vocab, merges;
    const auto& tokens = spec_.vocab;
    for (std::size_t id = 0; id < tokens.size(); ++id) {
        if (!tokens[id].empty()) line(vocab, json(tokens[id]).dump() + ": " + std::to_string(id));
    }
    for (const Merge& m : spec_.merges) {
        const json pair = {tokens[static_cast<std::size_t>(m.left)], tokens[static_cast<std::size_t>(m.right)]};
        line(merges, pair.dump());
    }
    if (!merges.empty()) merges += "\n    ";
    std::string file = fmt::format(
        R"({{
  "version": "1.0",
  "truncation": null,
  "padding": null,
  "added_tokens": {},
  "normalizer": {},
  "pre_tokenizer": {},
  "post_processor": {},
  "decoder": {},
  "model": {{
    "type": "BPE",
    "dropout": null,
    "unk_token": {},
    "continuing_subword_prefix": null,
    "end_of_word_suffix": null,
    "fuse_unk": {},
    "byte_fallback": {},
    "ignore_merges": {},
    "vocab": {{{}
    }},
    "merges": [{}]
  }}
}}
)",
        added_tokens(spec_.added).dump(), write_normalizer(spec_.normalizer).dump(),
        write_pre_tokenizer(spec_.pre_tokenizer).dump(), write_post_processor(spec_).dump(),
        write_decoder(spec_.decoder).dump(), spec_.unk_token ? json(*spec_.unk_token).dump() : "null", spec_.fuse_unk,
        spec_.byte_fallback, spec_.ignore_merges, vocab, merges);
    check(file.size() <= formats::size_limit(formats::FileKind::json),
          "tokenizer.json: it would have {} bytes, the limit is {} MB: choose a smaller --vocab-size", file.size(),
          formats::size_limit(formats::FileKind::json) >> 20);
    return file;
}

}  // namespace inkling::data
