#include "data/tokenizers/json/bpe_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "data/tokenizers/bpe/byte_alphabet.h"
#include "data/tokenizers/json/json_parts.h"
#include "engine/base/check.h"
#include "formats/json.h"
#include "formats/json_object.h"
#include "formats/named.h"

namespace inkling::data {

namespace {

using nlohmann::json;

constexpr std::size_t max_unused_ids = 1 << 20;  // a small file must not ask for much memory

std::int32_t read_id(const json& id, std::size_t limit, const json& token, const std::string& what) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= limit)
        check<BadInput>(false, "{}: ids must be whole numbers in [0, {}), {} has {}", what, limit, quote(token),
                        quote(id));
    return id.get<std::int32_t>();
}

// Converts {"token": id} to tokens by id.
TokenIds read_vocab(const json& vocab, BpeSpec& spec, const std::string& what) {
    check<BadInput>(vocab.is_object() && !vocab.empty(), "{}: the vocabulary must map tokens to ids", what);
    check<BadInput>(vocab.size() < 0x70000000, "{}: a vocabulary of {} tokens is too large", what, vocab.size());
    TokenIds ids;
    ids.reserve(vocab.size());
    for (const auto& [token, id] : vocab.items()) {
        check<BadInput>(!token.empty(), "{}: the vocabulary has an empty token", what);
        const std::int32_t number = read_id(id, vocab.size() + max_unused_ids, token, what);
        const auto slot = static_cast<std::size_t>(number);
        if (slot >= spec.vocab.size()) spec.vocab.resize(std::max(slot + 1, vocab.size()));
        check<BadInput>(spec.vocab[slot].empty(), "{}: id {} is used twice", what, number);
        spec.vocab[slot] = token;
        ids.emplace(token, number);
    }
    while (spec.vocab.back().empty()) spec.vocab.pop_back();
    return ids;
}

void add_merge(const std::string& left, const std::string& right, const TokenIds& ids, BpeSpec& spec,
               const std::string& what) {
    const auto id_of = [&](const std::string& token) {
        const auto found = ids.find(token);
        if (found == ids.end())
            check<BadInput>(false, "{}: merge {} needs {}, which is not in the vocabulary", what, spec.merges.size(),
                            quote(token));
        return found->second;
    };
    spec.merges.push_back({id_of(left), id_of(right), id_of(left + right)});
}

}  // namespace

void add_merge(std::string_view line, const TokenIds& ids, BpeSpec& spec, const std::string& what) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos)
        check<BadInput>(false, "{}: merge {} must be two tokens with a space between, got {}", what, spec.merges.size(),
                        quote(std::string(line)));
    add_merge(std::string(line.substr(0, space)), std::string(line.substr(space + 1)), ids, spec, what);
}

namespace {

// "left right", the only form before version 0.20 of the library, or ["left", "right"].
void read_merges(const json& merges, const TokenIds& ids, BpeSpec& spec, const std::string& what) {
    check<BadInput>(merges.is_array(), "{}: model.merges must be a list", what);
    for (const json& merge : merges) {
        if (merge.is_string() && merges[0].is_string()) {
            const auto& line = merge.get_ref<const std::string&>();
            if (!line.starts_with("#version")) add_merge(line, ids, spec, what);
            continue;
        }
        const bool two = merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string() &&
                         merges[0].is_array();
        if (!two) check<BadInput>(false, "{}: merges must be all strings or all pairs, got {}", what, quote(merge));
        add_merge(merge[0].get<std::string>(), merge[1].get<std::string>(), ids, spec, what);
    }
}

// Ids are assigned like in the library: the vocabulary's id, else the next free one. The file's ids must match.
void read_added(const json& added, const TokenIds& ids, BpeSpec& spec, const std::string& what) {
    check<BadInput>(added.is_null() || added.is_array(), "{}: added_tokens must be a list, got {}", what, quote(added));
    std::int64_t largest = -1;
    const auto model_size = static_cast<std::int64_t>(ids.size());
    TokenIds seen;
    for (const json& entry : added) {
        const json& content = at_or_null(entry, "content");
        check<BadInput>(content.is_string() && !content.get_ref<const std::string&>().empty(),
                        "{}: an added token needs a content, got {}", what, quote(entry));
        AddedToken token;
        token.content = content.get<std::string>();
        const std::string name = what + ": added token " + quote(content).text();
        check<BadInput>(token.content.size() <= AddedTokens::longest_content, "{}: it has more than {} bytes", name,
                        AddedTokens::longest_content);
        const auto known = ids.find(token.content);
        const std::int64_t expected = known != ids.end() ? known->second : std::max(largest + 1, model_size);
        token.id = read_id(at_or_null(entry, "id"), 0x7FFFFFFF, content, what);
        check<BadInput>(token.id == expected, "{}: its id is {}, the tokenizers library would give it {}", name,
                        token.id, expected);
        check<BadInput>(seen.emplace(token.content, token.id).second, "{}: it appears twice", name);
        const bool free = known != ids.end() || static_cast<std::size_t>(expected) >= spec.vocab.size() ||
                          spec.vocab[static_cast<std::size_t>(expected)].empty();
        check<BadInput>(free, "{}: its id {} is another token's", name, expected);
        largest = std::max(largest, expected);
        const formats::JsonObject in(entry, name + ": ");
        token.single_word = in.flag("single_word").value_or(false);
        token.lstrip = in.flag("lstrip").value_or(false);
        token.rstrip = in.flag("rstrip").value_or(false);
        token.normalized = in.flag("normalized").value_or(true);
        token.special = in.flag("special").value_or(false);
        spec.added.push_back(std::move(token));
    }
}

// unk_token and byte_fallback have no effect if every byte has a token; otherwise they are refused.
void check_bytes(const formats::JsonObject& model, const BpeSpec& spec, Refusals& refusals) {
    std::size_t bytes = 0;
    for (const std::string& token : spec.vocab) {
        const auto known = token.size() <= 2 ? from_byte_letters(token) : std::nullopt;
        bytes += known && known->size() == 1;
    }
    const bool unknown = model.has("unk_token") || model.flag("byte_fallback").value_or(false);
    model.flag("fuse_unk");  // refuses other values
    if (bytes == 256 || !unknown) return;
    refusals.add(fmt::format(
        "model.unk_token and model.byte_fallback where the vocabulary lacks bytes: it has {} of 256", bytes));
}

void read_unknown(const formats::JsonObject& model, BpeSpec& spec) {
    spec.unk_token = model.text("unk_token");
    spec.fuse_unk = model.flag("fuse_unk").value_or(false);
    spec.byte_fallback = model.flag("byte_fallback").value_or(false);
}

// Refuses settings that work alone but not together.
void check_combinations(const json& root, const BpeSpec& spec, Refusals& refusals) {
    const bool bytes_back = spec.decoder == BpeSpec().decoder;
    const std::string decoder = "decoder of type " + shown_type(at_or_null(root, "decoder"));
    if (spec.byte_letters && !bytes_back) refusals.add(decoder + " (of a byte-level tokenizer it is ByteLevel)");
    if (!spec.byte_letters && spec.decoder.empty()) refusals.add(decoder + " (it puts spaces between tokens)");
    const bool letters = std::any_of(spec.decoder.begin(), spec.decoder.end(), [](const DecoderStep& step) {
        return step.kind == DecoderStep::Kind::byte_level;
    });
    if (!spec.byte_letters && letters) refusals.add(decoder + " (without a ByteLevel pre_tokenizer)");
    const bool drops = std::any_of(spec.normalizer.begin(), spec.normalizer.end(), [](const NormalizerStep& step) {
        return step.kind == NormalizerStep::Kind::strip ||
               (step.kind == NormalizerStep::Kind::replace && step.content.empty());
    });
    for (const PreTokenizerStep& step : spec.pre_tokenizer.steps) {
        const auto* const signs = std::get_if<MetaspaceStep>(&step);
        if (drops && signs && signs->prepend == PrependScheme::first)
            refusals.add("prepend_scheme 'first' with a normalizer that may drop the beginning of a text");
    }
}

void read_parts(const json& root, BpeSpec& spec, Refusals& refusals) {
    const json& model = at_or_null(root, "model");
    if (type_of(model) != "BPE") refusals.add("model of type " + shown_type(model) + " (only BPE is)");
    spec.normalizer = read_normalizer(at_or_null(root, "normalizer"), refusals);
    spec.pre_tokenizer = read_pre_tokenizer(at_or_null(root, "pre_tokenizer"), refusals);
    read_post_processor(at_or_null(root, "post_processor"), spec, refusals);
    spec.decoder = read_decoder(at_or_null(root, "decoder"), refusals);
    spec.byte_letters = spec.pre_tokenizer.byte_level() != nullptr;
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
        const json& affix = at_or_null(model, key);
        if (!affix.is_null() && affix != "") refusals.add(fmt::format("model.{} {}", key, quote(affix)));
    }
    const json& dropout = at_or_null(model, "dropout");
    if (!dropout.is_null() && dropout != 0) refusals.add("model.dropout " + quote(dropout).text());
}

}  // namespace

BpeSpec parse_bpe(const json& root, const std::string& what) {
    const json& model = at_or_null(root, "model");
    BpeSpec spec;
    Refusals refusals;
    formats::named(what, [&] { read_parts(root, spec, refusals); });
    check_combinations(root, spec, refusals);
    if (type_of(model) != "BPE") refusals.raise(what);  // its vocabulary has another form
    const TokenIds ids = read_vocab(at_or_null(model, "vocab"), spec, what);
    const formats::JsonObject in(model, what + ": model.");
    spec.byte_letters ? check_bytes(in, spec, refusals) : read_unknown(in, spec);
    refusals.raise(what);
    read_merges(at_or_null(model, "merges"), ids, spec, what);
    spec.ignore_merges = in.flag("ignore_merges").value_or(false);
    read_added(at_or_null(root, "added_tokens"), ids, spec, what);
    return spec;
}

BpeSpec parse_vocab_and_merges(std::string_view vocab_json, const std::string& vocab_name, std::string_view merges,
                               const std::string& merges_name) {
    BpeSpec spec;
    const TokenIds ids = read_vocab(formats::parse_json(vocab_json, vocab_name, 4), spec, vocab_name);
    for (std::size_t at = 0; at < merges.size();) {
        const std::size_t end = std::min(merges.find('\n', at), merges.size());
        std::string_view line = merges.substr(at, end - at);
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (!line.empty() && !line.starts_with("#version")) add_merge(line, ids, spec, merges_name);
        at = end + 1;
    }
    const auto end_of_text = ids.find(end_of_text_token);
    if (end_of_text != ids.end()) spec.added.push_back({.content = end_of_text_token, .id = end_of_text->second});
    return spec;
}

}  // namespace inkling::data
