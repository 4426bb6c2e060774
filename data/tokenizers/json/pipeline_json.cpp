#include <functional>
#include <nlohmann/json.hpp>

#include "data/tokenizers/json/json_parts.h"
#include "engine/base/check.h"
#include "formats/json_object.h"
#include "formats/utf8.h"

namespace inkling::data {

namespace {

using nlohmann::json;

constexpr std::size_t max_steps = 32, max_refusals = 8;

// Calls each(type, step, the same to be read) for the part itself or, for a Sequence, for its steps, nested Sequences
// included.
using TakeStep = std::function<void(const std::string& type, const json& step, const formats::JsonObject& in)>;
void for_each_step(const json& part, const char* list, const TakeStep& each) {
    std::size_t steps = 0;
    const std::function<void(const json&)> visit = [&](const json& step) {
        check<BadInput>(++steps <= max_steps, "{} of more than {} steps", list, max_steps);
        const std::string type = type_of(step);
        if (type != "Sequence") return each(type, step, formats::JsonObject(step, shown_type(step) + ": "));
        const json& inner = at_or_null(step, list);
        check<BadInput>(inner.is_array(), "a Sequence needs a list of {}, got {}", list, quote(inner));
        for (const json& item : inner) visit(item);
    };
    if (!part.is_null()) visit(part);
}

std::string character_at(const formats::JsonObject& in, const char* key) {
    std::string text = in.required_text(key);
    if (formats::to_code_points(text).size() != 1) in.refuse_kind(key, "one character");
    return text;
}

// Reads {"String": text} or {"Regex": pattern}; refuses a pattern that cannot be used.
Pattern pattern_at(const json& part, Refusals& refusals) {
    const json &pattern = at_or_null(part, "pattern"), &regex = at_or_null(pattern, "Regex"),
               &text = at_or_null(pattern, "String");
    check<BadInput>(regex.is_string() != text.is_string(), "a {} needs a pattern, Regex or String, got {}",
                    type_of(part), quote(pattern));
    const std::string found = (regex.is_string() ? regex : text).get<std::string>();
    check<BadInput>(!found.empty(), "a {} has an empty pattern", type_of(part));
    try {
        return {found, text.is_string()};
    } catch (const BadInput& e) {
        refusals.add(e.what());
    }
    return {};
}

SplitBehavior behavior_at(const json& part, SplitBehavior otherwise) {
    const json& name = at_or_null(part, "behavior");
    if (name.is_null() && type_of(part) == "Punctuation") return otherwise;
    const auto behavior = name.is_string() ? find_named<SplitBehavior>(name.get<std::string>()) : std::nullopt;
    check<BadInput>(behavior.has_value(), "{}: there is no behavior {}", shown_type(part), quote(name));
    return *behavior;
}

// Older files have add_prefix_space instead of prepend_scheme.
PrependScheme scheme_at(const json& part) {
    const json &name = at_or_null(part, "prepend_scheme"), &prefix = at_or_null(part, "add_prefix_space");
    const auto scheme = name.is_string() ? find_named<PrependScheme>(name.get<std::string>()) : std::nullopt;
    check<BadInput>(name.is_null() || scheme, "{}: there is no prepend_scheme {}", shown_type(part), quote(name));
    if (prefix == false) {
        check<BadInput>(!scheme || scheme == PrependScheme::never, "{}: add_prefix_space and prepend_scheme disagree",
                        shown_type(part));
        return PrependScheme::never;
    }
    return scheme.value_or(PrependScheme::always);
}

}  // namespace

void Refusals::add(const std::string& what) {
    if (all_.size() < max_refusals) all_.push_back(what);
}

void Refusals::raise(const std::string& name) const {
    if (all_.empty()) return;
    std::string list;
    for (const std::string& what : all_) list += (list.empty() ? "" : "; ") + what;
    throw BadInput(fmt::format("{}: not supported: {}", name, list));
}

std::vector<NormalizerStep> read_normalizer(const json& part, Refusals& refusals) {
    using Kind = NormalizerStep::Kind;
    std::vector<NormalizerStep> steps;
    for_each_step(part, "normalizers", [&](const std::string& type, const json& step, const formats::JsonObject& in) {
        const auto kind = find_named<Kind>(type);
        if (!kind) return refusals.add("normalizer of type " + shown_type(step));
        NormalizerStep& read = steps.emplace_back(NormalizerStep{.kind = *kind});
        if (kind == Kind::replace) {
            read.pattern = pattern_at(step, refusals);
            read.content = in.required_text("content");
        } else if (kind == Kind::prepend) {
            read.content = in.required_text("prepend");
        } else if (kind == Kind::strip) {
            read.left = in.required_flag("strip_left");
            read.right = in.required_flag("strip_right");
        }
    });
    return steps;
}

PreTokenizerSpec read_pre_tokenizer(const json& part, Refusals& refusals) {
    using Kind = SplitStep::Kind;
    PreTokenizerSpec spec{.steps = {}};
    bool bytes = false, signs = false;
    for_each_step(part, "pretokenizers", [&](const std::string& type, const json& step, const formats::JsonObject& in) {
        const auto flag = [&](const char* key, bool otherwise) { return in.flag(key).value_or(otherwise); };
        if (const auto kind = find_named<Kind>(type)) {
            SplitStep split{.kind = *kind};
            if (kind == Kind::pattern) {
                split.pattern = pattern_at(step, refusals);
                split.behavior = behavior_at(step, {});
                split.invert = flag("invert", false);
            } else if (kind == Kind::digits) {
                const bool single = flag("individual_digits", false);
                split.behavior = single ? SplitBehavior::isolated : SplitBehavior::contiguous;
            } else if (kind == Kind::punctuation) {
                split.behavior = behavior_at(step, SplitBehavior::isolated);
            } else {
                split.behavior = SplitBehavior::removed;
                split.invert = kind == Kind::words;
            }
            spec.steps.push_back(std::move(split));
        } else if (type == "Metaspace") {
            signs = true;
            spec.steps.push_back(MetaspaceStep{character_at(in, "replacement"), scheme_at(step), flag("split", true)});
        } else if (type == "ByteLevel") {
            if (bytes) refusals.add("a pre_tokenizer with 'ByteLevel' twice");
            bytes = true;
            spec.steps.push_back(ByteLevelStep{flag("add_prefix_space", true), flag("use_regex", true)});
        } else {
            refusals.add("pre_tokenizer of type " + shown_type(step));
        }
    });
    if (bytes && signs) refusals.add("a pre_tokenizer with both 'ByteLevel' and 'Metaspace'");
    return spec;
}

void read_post_processor(const json& part, BpeSpec& spec, Refusals& refusals) {
    for_each_step(part, "processors", [&](const std::string& type, const json& step, const formats::JsonObject&) {
        if (type == "ByteLevel") return;  // it only sets offsets, which Inkling does not use
        if (type != "TemplateProcessing") return refusals.add("post_processor of type " + shown_type(step));
        const json &single = at_or_null(step, "single"), &special_tokens = at_or_null(step, "special_tokens");
        check<BadInput>(single.is_array() && single.size() <= max_steps,
                        "{}: single must be a list of at most {} parts", shown_type(step), max_steps);
        std::vector<SpecialToken> before, after;
        bool text = false;
        for (const json& piece : single) {
            const json &sequence = at_or_null(piece, "Sequence"), &mark = at_or_null(piece, "SpecialToken");
            if (at_or_null(sequence, "id") == "A" && !text) {
                text = true;
                continue;
            }
            const json& name = at_or_null(mark, "id");
            check<BadInput>(
                name.is_string() && at_or_null(special_tokens, name.get_ref<const std::string&>().c_str()).is_object(),
                "{}: a part of single is neither the text nor one of its special_tokens: {}", shown_type(step),
                quote(piece));
            const json& ids = at_or_null(special_tokens[name.get<std::string>()], "ids");
            check<BadInput>(ids.is_array() && ids.size() <= max_steps, "{}: ids of {} must be a list", shown_type(step),
                            quote(name));
            SpecialToken& added = (text ? after : before).emplace_back();
            added.name = name.get<std::string>();
            for (const json& id : ids) {
                check<BadInput>(id.is_number_unsigned() && id.get<std::uint64_t>() < 0x7FFFFFFF, "{}: {} has the id {}",
                                shown_type(step), quote(name), quote(id));
                added.ids.push_back(id.get<std::int32_t>());
            }
        }
        check<BadInput>(text, "{}: single has no place for the text", shown_type(step));
        spec.before.insert(spec.before.begin(), before.begin(), before.end());
        spec.after.insert(spec.after.end(), after.begin(), after.end());
    });
}

std::vector<DecoderStep> read_decoder(const json& part, Refusals& refusals) {
    using Kind = DecoderStep::Kind;
    std::vector<DecoderStep> steps;
    for_each_step(part, "decoders", [&](const std::string& type, const json& step, const formats::JsonObject& in) {
        const auto kind = find_named<Kind>(type);
        if (!kind) return refusals.add("decoder of type " + shown_type(step));
        DecoderStep& read = steps.emplace_back(DecoderStep{.kind = *kind});
        if (kind == Kind::replace) {
            read.pattern = pattern_at(step, refusals);
            read.content = in.required_text("content");
        } else if (kind == Kind::strip) {
            const auto start = in.integer("start", 0), stop = in.integer("stop", 0);
            check<BadInput>(start && stop, "{}: start and stop must be whole numbers", shown_type(step));
            read.content = character_at(in, "content");
            read.start = static_cast<std::size_t>(*start);
            read.stop = static_cast<std::size_t>(*stop);
        } else if (kind == Kind::metaspace) {
            read.content = character_at(in, "replacement");
            read.prepend = scheme_at(step);
            read.split = in.flag("split").value_or(true);
        }
    });
    return steps;
}

}  // namespace inkling::data
