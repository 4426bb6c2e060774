#include <nlohmann/json.hpp>

#include "data/tokenizers/json/pipeline_json.h"

namespace inkling::data {

namespace {

nlohmann::ordered_json pattern_json(const PatternSpec& pattern) {
    return {{pattern.literal ? "String" : "Regex", pattern.text}};
}

nlohmann::ordered_json byte_level_json(bool add_prefix_space, bool trim_offsets, bool use_regex) {
    return {{"type", "ByteLevel"},
            {"add_prefix_space", add_prefix_space},
            {"trim_offsets", trim_offsets},
            {"use_regex", use_regex}};
}

nlohmann::ordered_json metaspace_json(const std::string& sign, PrependScheme scheme, bool split) {
    return {{"type", "Metaspace"}, {"replacement", sign}, {"prepend_scheme", name_of(scheme)}, {"split", split}};
}

nlohmann::ordered_json sequence(const char* list, const nlohmann::ordered_json& steps) {
    if (steps.size() == 1) return steps[0];
    return {{"type", "Sequence"}, {list, steps}};
}

}  // namespace

nlohmann::ordered_json write_normalizer(const std::vector<NormalizerStep>& steps) {
    if (steps.empty()) return nullptr;
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const NormalizerStep& step : steps) {
        switch (step.kind) {
            case NormalizerStep::Kind::nfc:
                list.push_back({{"type", "NFC"}});
                break;
            case NormalizerStep::Kind::lowercase:
                list.push_back({{"type", "Lowercase"}});
                break;
            case NormalizerStep::Kind::replace:
                list.push_back(
                    {{"type", "Replace"}, {"pattern", pattern_json(step.pattern)}, {"content", step.content}});
                break;
            case NormalizerStep::Kind::prepend:
                list.push_back({{"type", "Prepend"}, {"prepend", step.content}});
                break;
            case NormalizerStep::Kind::strip:
                list.push_back({{"type", "Strip"}, {"strip_left", step.left}, {"strip_right", step.right}});
                break;
        }
    }
    return sequence("normalizers", list);
}

nlohmann::ordered_json write_pre_tokenizer(const PreTokenizerSpec& spec) {
    if (spec.steps.empty()) return nullptr;
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const PreTokenizerStep& step : spec.steps) {
        if (const auto* const bytes = std::get_if<ByteLevelStep>(&step)) {
            list.push_back(byte_level_json(bytes->add_prefix_space, false, bytes->gpt2_pattern));
        } else if (const auto* const metaspace = std::get_if<MetaspaceStep>(&step)) {
            list.push_back(metaspace_json(metaspace->sign, metaspace->prepend, metaspace->split));
        } else {
            const auto& split = std::get<SplitStep>(step);
            nlohmann::ordered_json j = {{"type", name_of(split.kind)}};
            if (split.kind == SplitStep::Kind::pattern) j["pattern"] = pattern_json(split.pattern);
            if (split.kind == SplitStep::Kind::digits)
                j["individual_digits"] = split.behavior == SplitBehavior::isolated;
            if (split.kind == SplitStep::Kind::pattern || split.kind == SplitStep::Kind::punctuation)
                j["behavior"] = name_of(split.behavior);
            if (split.kind == SplitStep::Kind::pattern) j["invert"] = split.invert;
            list.push_back(j);
        }
    }
    return sequence("pretokenizers", list);
}

nlohmann::ordered_json write_post_processor(const BpeSpec& spec) {
    const nlohmann::ordered_json bytes =
        spec.byte_letters ? byte_level_json(true, false, true) : nlohmann::ordered_json(nullptr);
    if (spec.before.empty() && spec.after.empty()) return bytes;
    nlohmann::ordered_json marks = nlohmann::ordered_json::object(), single = nlohmann::ordered_json::array(),
                           pair = nlohmann::ordered_json::array();
    for (const auto& [type, text] : {std::pair(0, "A"), std::pair(1, "B")}) {
        const auto add = [&, t = type](const char* kind, const std::string& name) {
            const nlohmann::ordered_json piece = {{kind, {{"id", name}, {"type_id", t}}}};
            if (t == 0) single.push_back(piece);
            pair.push_back(piece);
        };
        const auto add_marks = [&](const std::vector<TextMark>& list) {
            for (const TextMark& mark : list) {
                nlohmann::ordered_json tokens = nlohmann::ordered_json::array();
                for (std::size_t i = 0; i < mark.ids.size(); ++i) tokens.push_back(mark.name);
                marks[mark.name] = {{"id", mark.name}, {"ids", mark.ids}, {"tokens", tokens}};
                add("SpecialToken", mark.name);
            }
        };
        add_marks(spec.before);
        add("Sequence", text);
        add_marks(spec.after);
    }
    const nlohmann::ordered_json marked = {
        {"type", "TemplateProcessing"}, {"single", single}, {"pair", pair}, {"special_tokens", marks}};
    if (bytes.is_null()) return marked;
    return {{"type", "Sequence"}, {"processors", {bytes, marked}}};
}

nlohmann::ordered_json write_decoder(const std::vector<DecoderStep>& steps) {
    if (steps == std::vector<DecoderStep>{{}}) return byte_level_json(true, false, true);
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const DecoderStep& step : steps) {
        switch (step.kind) {
            case DecoderStep::Kind::byte_level:
                list.push_back(byte_level_json(true, false, true));
                break;
            case DecoderStep::Kind::byte_fallback:
                list.push_back({{"type", "ByteFallback"}});
                break;
            case DecoderStep::Kind::fuse:
                list.push_back({{"type", "Fuse"}});
                break;
            case DecoderStep::Kind::replace:
                list.push_back(
                    {{"type", "Replace"}, {"pattern", pattern_json(step.pattern)}, {"content", step.content}});
                break;
            case DecoderStep::Kind::strip:
                list.push_back(
                    {{"type", "Strip"}, {"content", step.content}, {"start", step.start}, {"stop", step.stop}});
                break;
            case DecoderStep::Kind::metaspace:
                list.push_back(metaspace_json(step.content, step.prepend, step.split));
                break;
        }
    }
    return sequence("decoders", list);
}

}  // namespace inkling::data
