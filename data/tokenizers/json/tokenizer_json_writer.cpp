// Tokenizers as tokenizer.json, as the `tokenizers` library reads it. The vocabulary, one token per line in the
// order of ids, is written by hand: nlohmann's objects are either sorted by name or slow to fill.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "data/tokenizers/bpe/byte_alphabet.h"
#include "data/tokenizers/char_tokenizer.h"
#include "data/tokenizers/json/bpe_json.h"
#include "engine/base/check.h"
#include "formats/files/file.h"
#include "formats/utf8.h"

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

ordered_json pattern_json(const Pattern& pattern) { return {{pattern.literal() ? "String" : "Regex", pattern.text()}}; }

ordered_json byte_level_json(bool add_prefix_space = true, bool use_regex = true) {
    return {{"type", "ByteLevel"},
            {"add_prefix_space", add_prefix_space},
            {"trim_offsets", false},
            {"use_regex", use_regex}};
}

ordered_json metaspace_json(const std::string& sign, PrependScheme scheme, bool split) {
    return {{"type", "Metaspace"}, {"replacement", sign}, {"prepend_scheme", name_of(scheme)}, {"split", split}};
}

ordered_json step_json(const NormalizerStep& step) {
    using Kind = NormalizerStep::Kind;
    ordered_json j = {{"type", name_of(step.kind)}};
    if (step.kind == Kind::replace) j.update({{"pattern", pattern_json(step.pattern)}, {"content", step.content}});
    if (step.kind == Kind::prepend) j["prepend"] = step.content;
    if (step.kind == Kind::strip) j.update({{"strip_left", step.left}, {"strip_right", step.right}});
    return j;
}

ordered_json step_json(const PreTokenizerStep& step) {
    using Kind = SplitStep::Kind;
    if (const auto* const bytes = std::get_if<ByteLevelStep>(&step))
        return byte_level_json(bytes->add_prefix_space, bytes->gpt2_pattern);
    if (const auto* const metaspace = std::get_if<MetaspaceStep>(&step))
        return metaspace_json(metaspace->sign, metaspace->prepend, metaspace->split);
    const auto& split = std::get<SplitStep>(step);
    ordered_json j = {{"type", name_of(split.kind)}};
    if (split.kind == Kind::pattern) j["pattern"] = pattern_json(split.pattern);
    if (split.kind == Kind::digits) j["individual_digits"] = split.behavior == SplitBehavior::isolated;
    if (split.kind == Kind::pattern || split.kind == Kind::punctuation) j["behavior"] = name_of(split.behavior);
    if (split.kind == Kind::pattern) j["invert"] = split.invert;
    return j;
}

ordered_json step_json(const DecoderStep& step) {
    using Kind = DecoderStep::Kind;
    if (step.kind == Kind::byte_level) return byte_level_json();
    if (step.kind == Kind::metaspace) return metaspace_json(step.content, step.prepend, step.split);
    ordered_json j = {{"type", name_of(step.kind)}};
    if (step.kind == Kind::replace) j.update({{"pattern", pattern_json(step.pattern)}, {"content", step.content}});
    if (step.kind == Kind::strip) j.update({{"content", step.content}, {"start", step.start}, {"stop", step.stop}});
    return j;
}

// null without steps; a single step stands alone, several in a Sequence.
template <class Step>
ordered_json steps_json(const char* list, const std::vector<Step>& steps) {
    ordered_json all = ordered_json::array();
    for (const Step& step : steps) all.push_back(step_json(step));
    if (all.size() < 2) return all.empty() ? ordered_json() : all[0];
    return {{"type", "Sequence"}, {list, all}};
}

ordered_json post_processor_json(const BpeSpec& spec) {
    const ordered_json bytes = spec.byte_letters ? byte_level_json() : ordered_json();
    if (spec.before.empty() && spec.after.empty()) return bytes;
    ordered_json special_tokens = ordered_json::object(), single = ordered_json::array(), pair = ordered_json::array();
    for (const auto& [type, text] : {std::pair(0, "A"), std::pair(1, "B")}) {
        const auto add = [&, t = type](const char* kind, const std::string& name) {
            const ordered_json piece = {{kind, {{"id", name}, {"type_id", t}}}};
            if (t == 0) single.push_back(piece);
            pair.push_back(piece);
        };
        const auto add_special_tokens = [&](const std::vector<SpecialToken>& list) {
            for (const SpecialToken& mark : list) {
                const std::vector<std::string> tokens(mark.ids.size(), mark.name);
                special_tokens[mark.name] = {{"id", mark.name}, {"ids", mark.ids}, {"tokens", tokens}};
                add("SpecialToken", mark.name);
            }
        };
        add_special_tokens(spec.before);
        add("Sequence", text);
        add_special_tokens(spec.after);
    }
    const ordered_json marked = {
        {"type", "TemplateProcessing"}, {"single", single}, {"pair", pair}, {"special_tokens", special_tokens}};
    if (bytes.is_null()) return marked;
    return {{"type", "Sequence"}, {"processors", {bytes, marked}}};
}

std::string file_of(const BpeSpec& spec) {
    const auto line = [](std::string& text, const std::string& item) {
        text += (text.empty() ? "\n      " : ",\n      ") + item;
    };
    std::string vocab, merges;
    const auto& tokens = spec.vocab;
    for (std::size_t id = 0; id < tokens.size(); ++id) {
        if (!tokens[id].empty()) line(vocab, json(tokens[id]).dump() + ": " + std::to_string(id));
    }
    for (const Merge& m : spec.merges) {
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
        added_tokens(spec.added).dump(), steps_json("normalizers", spec.normalizer).dump(),
        steps_json("pretokenizers", spec.pre_tokenizer.steps).dump(), post_processor_json(spec).dump(),
        steps_json("decoders", spec.decoder).dump(), spec.unk_token ? json(*spec.unk_token).dump() : "null",
        spec.fuse_unk, spec.byte_fallback, spec.ignore_merges, vocab, merges);
    check(file.size() <= formats::FileKind::json.limit,
          "tokenizer.json: it would have {} bytes, the limit is {} MB: choose a smaller --vocab-size", file.size(),
          formats::FileKind::json.limit >> 20);
    return file;
}

}  // namespace

BpeSpec characters_spec(std::vector<std::string> vocab, bool byte_fallback) {
    BpeSpec spec;
    spec.vocab = std::move(vocab);
    spec.byte_letters = false;
    spec.byte_fallback = byte_fallback;
    spec.pre_tokenizer.steps.clear();
    spec.decoder = {{.kind = DecoderStep::Kind::fuse}};
    if (byte_fallback) spec.decoder.insert(spec.decoder.begin(), {.kind = DecoderStep::Kind::byte_fallback});
    return spec;
}

std::string BpeTokenizer::to_json() const { return file_of(spec_); }

std::string CharTokenizer::to_json() const {
    std::vector<std::string> vocab;
    for (const char32_t c : characters_) {
        std::string token;
        if (c < byte_token) formats::append_utf8(token, c);
        vocab.push_back(c < byte_token ? token : fallback_token(static_cast<char>(c - byte_token)));
    }
    return file_of(characters_spec(std::move(vocab), has_byte_fallback()));
}

}  // namespace inkling::data
