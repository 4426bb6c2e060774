#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "data/tokenizers/bpe/bpe_tokenizer.h"
#include "data/tokenizers/char_tokenizer.h"
#include "data/tokenizers/id_tokenizer.h"
#include "data/tokenizers/json/bpe_json.h"
#include "engine/base/check.h"
#include "engine/base/names.h"
#include "formats/ascii.h"
#include "formats/named.h"
#include "formats/utf8.h"
#include "models/families/family.h"
#include "models/files/gguf/gguf_tokenizer.h"
#include "models/files/gguf/gguf_tokens.h"

namespace inkling::models {
namespace {

// Its split is known without tokenizer.ggml.pre, which its old files lack.
bool is_gpt2(const formats::GgufFile& file) { return file.text("general.architecture") == "gpt2"; }

class GgufTokenizerReader {
  public:
    explicit GgufTokenizerReader(const formats::GgufFile& file)
        : file_(file), texts_(file.texts("tokenizer.ggml.tokens")), kinds_(texts_.size(), kNormal) {
        model_ = file.text("tokenizer.ggml.model").value_or("");
        require(!model_.empty() && !texts_.empty(), "it has no tokenizer: take a file that has one");
        require(texts_.size() < 0x70000000, "its vocabulary is too large");
        if (file.has("tokenizer.ggml.token_type")) {
            const std::vector<double> kinds = file.numbers("tokenizer.ggml.token_type", texts_.size());
            for (std::size_t id = 0; id < kinds.size(); ++id) {
                require(kinds[id] >= 0 && kinds[id] <= kByte, "token {} has the unknown type {}", id, kinds[id]);
                kinds_[id] = static_cast<int>(kinds[id]);
            }
        }
        const std::string suppressed = "tokenizer.ggml.suppress_tokens";
        require(!file.has(suppressed) || (file.is_list(suppressed) && file.lists().at(suppressed).count == 0),
                "{} is not supported: an empty list is", suppressed);
        for (std::size_t id = 0; id < texts_.size(); ++id) {
            require(formats::find_invalid_utf8(texts_[id]) == std::string::npos, "token {} is not UTF-8", id);
            if (texts_[id].empty()) kinds_[id] = kUnused;
            if (kinds_[id] == kNormal && is_gguf_control(texts_[id])) kinds_[id] = kControl;  // as in llama.cpp
        }
    }

    std::unique_ptr<data::Tokenizer> read() {
        if (model_ == "llama") scores_ = file_.numbers("tokenizer.ggml.scores", texts_.size());
        for (std::size_t id = 0; id < scores_.size(); ++id)
            require(std::isfinite(scores_[id]), "the score of token {} is not finite", id);
        merges_ = file_.texts("tokenizer.ggml.merges");
        auto tokenizer = formats::named(file_.name(), [&]() -> std::unique_ptr<data::Tokenizer> {
            if (model_ == "rwkv") return characters();
            check<BadInput>(model_ == "gpt2" || model_ == "llama",
                            "tokenizer.ggml.model '{}' is not supported: gpt2 and llama are", shown_name(model_));
            return std::make_unique<data::BpeTokenizer>(model_ == "gpt2" ? byte_pairs() : sentence_piece());
        });
        tokenizer->origin = file_.name();
        for (const auto& [name, key] : kGgufTokenNames)
            if (const auto id = gguf_token(file_, key, texts_.size())) tokenizer->named.ids[name] = *id;
        for (const char* const name : {"bos", "eos"})
            if (const auto adds = file_.flag(fmt::format("tokenizer.ggml.add_{}_token", name)))
                tokenizer->named.added[name] = *adds;
        if (const auto jinja = file_.text("tokenizer.chat_template")) {
            require(formats::find_invalid_utf8(*jinja) == std::string::npos, "tokenizer.chat_template is not UTF-8");
            tokenizer->chat = data::ChatSource{std::string(*jinja), {}};
            for (const auto& [name, id] : tokenizer->named.ids)
                tokenizer->chat->special_tokens[name + "_token"] = texts_[static_cast<std::size_t>(id)];
        }
        return tokenizer;
    }

  private:
    template <class... Args>
    void require(bool good, fmt::format_string<Args...> format, Args&&... args) const {
        if (!good) throw BadInput(file_.name() + ": " + fmt::format(format, std::forward<Args>(args)...));
    }

    bool is_added(std::size_t id) const { return kinds_[id] == kControl || kinds_[id] == kUserDefined; }

    // Tokens that are found in the text itself are part of the vocabulary, too, unless they follow it without a gap.
    data::TokenIds set_vocabulary(data::BpeSpec& spec) const {
        std::size_t used = 0, end = 0;  // ids there are; behind the last of the model's own
        bool gaps = false;
        for (std::size_t id = 0; id < texts_.size(); ++id) {
            if (kinds_[id] == kUnused) continue;
            gaps = gaps || id != used;
            used = id + 1;
            if (!is_added(id)) end = id + 1;
        }
        if (gaps) end = used;
        data::TokenIds ids;
        spec.vocab.resize(end);
        for (std::size_t id = 0; id < used; ++id) {
            if (kinds_[id] == kUnused) continue;
            const std::string text(texts_[id]);
            const auto token = static_cast<std::int32_t>(id);
            if (is_added(id)) {
                check<BadInput>(text.size() <= data::AddedTokens::longest_content,
                                "token {} has {} bytes, of at most {}", id, text.size(),
                                data::AddedTokens::longest_content);
                spec.added.push_back({.content = text, .id = token, .special = kinds_[id] == kControl});
            }
            if (id < end) spec.vocab[id] = text;
            check<BadInput>(ids.emplace(text, token).second, "token {} is the same as another: '{}'", id,
                            shown_name(text));
        }
        return ids;
    }

    void set_marks(data::BpeSpec& spec, bool adds_begin) const {
        for (const auto& [name, adds, special_tokens] :
             {std::tuple("bos", adds_begin, &spec.before), {"eos", false, &spec.after}}) {
            const auto id = gguf_token(file_, name, texts_.size());
            if (!id || !file_.flag(fmt::format("tokenizer.ggml.add_{}_token", name)).value_or(adds)) continue;
            special_tokens->push_back({std::string(texts_[static_cast<std::size_t>(*id)]), {*id}});
        }
    }

    data::BpeSpec byte_pairs() const {
        const std::string pre = file_.text("tokenizer.ggml.pre").value_or(is_gpt2(file_) ? "gpt-2" : "default");
        check<BadInput>(file_.has("tokenizer.ggml.merges"), "tokenizer.ggml.merges is missing");
        const GgufSplit* split = nullptr;
        std::vector<std::string_view> known;
        for (const GgufSplit& one : gguf_splits()) {
            known.emplace_back(one.name);
            if (pre == one.name || std::count(one.also_named.begin(), one.also_named.end(), pre)) split = &one;
        }
        check<BadInput>(split != nullptr, "tokenizer.ggml.pre '{}' is not supported: {} are", shown_name(pre),
                        fmt::join(known, ", "));
        data::BpeSpec spec;
        spec.pre_tokenizer = split->spec;
        spec.ignore_merges = split->ignores_merges;
        if (split->nfc) spec.normalizer = {{.kind = data::NormalizerStep::Kind::nfc}};
        const data::TokenIds ids = set_vocabulary(spec);
        for (const std::string_view merge : merges_) data::add_merge(merge, ids, spec, "tokenizer.ggml.merges");
        set_marks(spec, split->adds_begin);
        return spec;
    }

    // SentencePiece joins whatever two tokens make a third, that with the highest score first.
    void set_merges(const data::TokenIds& ids, data::BpeSpec& spec) const {
        std::vector<std::size_t> order;
        for (std::size_t id = 0; id < texts_.size(); ++id)
            if (kinds_[id] == kNormal) order.push_back(id);
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return scores_[a] > scores_[b]; });
        const auto id_of = [&](std::string_view text) {
            const auto found = ids.find(std::string(text));
            const bool normal = found != ids.end() && kinds_[static_cast<std::size_t>(found->second)] == kNormal;
            return normal ? found->second : -1;
        };
        // Sorted by text, a token follows those that it begins with.
        std::vector<std::size_t> sorted = order, prefixes;
        std::sort(sorted.begin(), sorted.end(), [&](auto a, auto b) { return texts_[a] < texts_[b]; });
        std::vector<std::vector<data::Merge>> merges(texts_.size());
        // Real vocabularies have 2 to 5 a token; without a limit, a file could ask for the square of its size.
        std::size_t left_to_try = std::max(std::size_t{1} << 20, 64 * texts_.size());
        for (const std::size_t id : sorted) {
            const std::string_view text = texts_[id];
            check<BadInput>(text.size() <= data::AddedTokens::longest_content, "token {} has {} bytes, of at most {}",
                            id, text.size(), data::AddedTokens::longest_content);
            while (!prefixes.empty() && !text.starts_with(texts_[prefixes.back()])) prefixes.pop_back();
            for (auto left = prefixes.rbegin(); left != prefixes.rend(); ++left) {  // the longest first
                check<BadInput>(left_to_try-- > 0,
                                "tokenizer.ggml.tokens: more than 64 of {} tokens begin each: "
                                "this is not a SentencePiece vocabulary",
                                texts_.size());
                const std::int32_t right = id_of(text.substr(texts_[*left].size()));
                if (right >= 0)
                    merges[id].push_back({static_cast<std::int32_t>(*left), right, static_cast<std::int32_t>(id)});
            }
            prefixes.push_back(id);
        }
        for (const std::size_t id : order) spec.merges.insert(spec.merges.end(), merges[id].begin(), merges[id].end());
    }

    data::BpeSpec sentence_piece() const {
        using Step = data::NormalizerStep::Kind;
        using Decode = data::DecoderStep::Kind;
        const bool prefix = file_.flag("tokenizer.ggml.add_space_prefix").value_or(true);
        data::BpeSpec spec;
        spec.byte_letters = false;
        spec.pre_tokenizer.steps.clear();
        if (prefix) spec.normalizer.push_back({.kind = Step::prepend, .content = kSpaceSign});
        spec.normalizer.push_back({.kind = Step::replace, .pattern = {" ", true}, .content = kSpaceSign});
        spec.decoder = {{.kind = Decode::replace, .pattern = {kSpaceSign, true}, .content = " "},
                        {.kind = Decode::byte_fallback},
                        {.kind = Decode::fuse}};
        if (prefix) spec.decoder.push_back({.kind = Decode::strip, .content = " ", .start = 1});
        spec.byte_fallback = spec.fuse_unk = true;
        const data::TokenIds ids = set_vocabulary(spec);
        for (std::size_t id = 0; id < texts_.size(); ++id)
            if (kinds_[id] == kUnknown && !spec.unk_token) spec.unk_token = std::string(texts_[id]);
        set_merges(ids, spec);
        set_marks(spec, true);
        return spec;
    }

    // Undoes the escapes of set_gguf_tokenizer: doubled backslashes, bytes as \x0a.
    std::string unescape(std::string_view text) const {
        std::string result;
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] != '\\') {
                result += text[i];
            } else if (i + 1 < text.size() && text[i + 1] == '\\') {
                result += text[++i];
            } else {
                const std::string_view escape = text.substr(i + 1, 3);
                const bool is_hex = escape.size() == 3 && escape[0] == 'x';
                const auto byte = is_hex ? formats::parse_number<unsigned>(escape.substr(1), 16) : std::nullopt;
                check<BadInput>(byte.has_value(), "token '{}' has a backslash that escapes nothing", shown_name(text));
                result += static_cast<char>(*byte);
                i += 3;
            }
        }
        return result;
    }

    // Bytes behind the characters, if any, have consecutive ids; those that are characters too are unused.
    std::unique_ptr<data::Tokenizer> characters() const {
        std::vector<char32_t> all;
        std::size_t bytes = texts_.size();  // id of byte 0
        for (std::size_t id = 0x80; id < texts_.size() && bytes == texts_.size(); ++id)
            if (kinds_[id] == kNormal && texts_[id] == "\\x80") bytes = id - 0x80;
        for (std::size_t id = 0; id < texts_.size() && id < bytes + 256; ++id) {
            if (id >= bytes) {
                all.push_back(data::CharTokenizer::byte_token + static_cast<char32_t>(id - bytes));
                continue;
            }
            if (kinds_[id] == kUnused) break;
            const std::vector<char32_t> points = formats::to_code_points(unescape(texts_[id]));
            check<BadInput>(points.size() == 1,
                            "tokenizer.ggml.model 'rwkv' is supported for characters alone, and token {} is '{}'", id,
                            shown_name(texts_[id]));
            all.push_back(points[0]);
        }
        return std::make_unique<data::CharTokenizer>(std::move(all));
    }

    const formats::GgufFile& file_;
    std::string model_;
    std::vector<std::string_view> texts_, merges_;
    std::vector<int> kinds_;
    std::vector<double> scores_;
};

}  // namespace

std::unique_ptr<data::Tokenizer> read_gguf_tokenizer(const formats::GgufFile& file) {
    if (file.text("tokenizer.ggml.model") == kNoTokenizer)
        return std::make_unique<data::IdTokenizer>(read_gguf_architecture(file).vocab_size);
    return GgufTokenizerReader(file).read();
}

std::string gguf_warning(const std::filesystem::path& path) {
    if (!formats::is_gguf(path)) return "";
    const auto file = formats::GgufFile::open(path);
    if (file.text("tokenizer.ggml.model") != "gpt2" || file.has("tokenizer.ggml.pre") || is_gpt2(file)) return "";
    return file.name() +
           ": tokenizer.ggml.pre is missing: text is split as llama.cpp does then, which may not be as the model "
           "learned it: take a file with this key";
}

}  // namespace inkling::models
