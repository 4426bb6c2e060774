// BpeTokenizer::to_json: tokenizer.json as the `tokenizers` library reads it. The vocabulary, a line a token in the
// order of ids, is written by hand: nlohmann's objects are either sorted by name or slow to fill.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "data/tokenizers/bpe_tokenizer.h"
#include "engine/check.h"
#include "formats/file.h"

namespace inkling::data {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

ordered_json byte_level(bool add_prefix_space, bool use_regex) {
    return {{"type", "ByteLevel"},
            {"add_prefix_space", add_prefix_space},
            {"trim_offsets", false},
            {"use_regex", use_regex}};
}

ordered_json pre_tokenizer(const PreTokenizerSpec& spec) {
    const ordered_json last = byte_level(spec.add_prefix_space, spec.gpt2_pattern);
    if (spec.splits.empty()) return last;
    ordered_json steps = ordered_json::array();
    for (const auto& split : spec.splits) {
        steps.push_back({{"type", "Split"},
                         {"pattern", {{split.literal ? "String" : "Regex", split.pattern}}},
                         {"behavior", split.matches_only ? "Removed" : "Isolated"},
                         {"invert", split.matches_only}});
    }
    steps.push_back(last);
    return {{"type", "Sequence"}, {"pretokenizers", steps}};
}

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
  "normalizer": null,
  "pre_tokenizer": {},
  "post_processor": {},
  "decoder": {},
  "model": {{
    "type": "BPE",
    "dropout": null,
    "unk_token": null,
    "continuing_subword_prefix": null,
    "end_of_word_suffix": null,
    "fuse_unk": false,
    "byte_fallback": false,
    "ignore_merges": {},
    "vocab": {{{}
    }},
    "merges": [{}]
  }}
}}
)",
        added_tokens(spec_.added).dump(), pre_tokenizer(spec_.pre_tokenizer).dump(), byte_level(true, true).dump(),
        byte_level(true, true).dump(), spec_.ignore_merges, vocab, merges);
    check(file.size() <= formats::size_limit(formats::FileKind::json),
          "tokenizer.json: it would have {} bytes, the limit is {} MB: choose a smaller --vocab-size", file.size(),
          formats::size_limit(formats::FileKind::json) >> 20);
    return file;
}

}  // namespace inkling::data
