// Texts encoded by the `tokenizers` library (tests/reference/bpe.json), and random bytes and text.
#pragma once

#include "data/tokenizers/bpe/bpe_tokenizer.h"
#include "data/tokenizers/json/tokenizer_json.h"
#include "formats/utf8.h"

namespace inkling::testing {

inline const nlohmann::json& bpe_reference() {
    static const nlohmann::json all = reference("bpe.json");
    return all;
}

inline std::vector<std::string> reference_texts() { return bpe_reference()["texts"].get<std::vector<std::string>>(); }

// A tokenizer of 400 tokens that the library trained.
inline const data::BpeTokenizer& small_tokenizer() {
    static const auto read = data::parse_tokenizer(bpe_reference()["tokenizer"].dump(), "bpe.json");
    return dynamic_cast<const data::BpeTokenizer&>(*read);
}

// GPT-2's own vocabulary, if the machine has it beside the checkout; else skips the test.
inline const data::Tokenizer& gpt2_tokenizer() {
    const std::filesystem::path path = tests_path("../../shared/data/gpt2");
    if (!std::filesystem::exists(path)) SKIP_TEST(path.string() << " is not here");
    static const auto read = data::load_tokenizer(path);
    return *read;
}

inline std::vector<std::int32_t> ids_of(const nlohmann::json& ids) { return ids.get<std::vector<std::int32_t>>(); }

using Random = std::mt19937;

inline std::size_t below(Random& random, std::size_t n) { return random() % n; }

inline std::string random_bytes(Random& random, std::size_t size) {
    std::string bytes(size, '\0');
    for (char& c : bytes) c = static_cast<char>(below(random, 256));
    return bytes;
}

// Characters of many kinds, more often those that matter for splits.
inline std::string random_text(Random& random, std::size_t characters) {
    static const std::u32string often =
        U"abcXYZ  ''\n\t09.,!?-srtvemld\r\v\f\x85\xA0\u3000\u2028\u180E\u200B\u00E9\u00DF\u0301\u0436\u03BB\u05E9"
        U"\u05B0\u0645\u0663\u0928\u093F\u4F60\u3042\uD55C\u0E31\U0001F600\u200D\uFE0F\u2167\u00BD\U00031A37";
    std::string text;
    while (characters-- > 0) {
        char32_t c = often[below(random, often.size())];
        if (below(random, 10) == 0) c = static_cast<char32_t>(below(random, 0x110000));
        if (c < 0xD800 || c > 0xDFFF) formats::append_utf8(text, c);
    }
    return text;
}

// Generates the random texts of make_bpe_reference.py, one by one.
class ReferenceTexts {
  public:
    std::string next() {
        static const std::vector<char32_t> blocks = {0x41,   0x61,   0xC0,   0x391,  0x410,  0x531,  0x5D0,   0x627,
                                                     0x915,  0x995,  0xB95,  0xE01,  0xF40,  0x10D0, 0x1100,  0x1208,
                                                     0x1780, 0x1820, 0x3041, 0x30A1, 0x4E00, 0xAC00, 0x10330, 0x1F600};
        static const std::vector<char32_t> marks = {0x301,  0x308,   0x5B0, 0x64B,  0x93F,  0xE31, 0x200D,
                                                    0xFE0F, 0x1F3FD, 0x27,  0x2019, 0x3000, 0xA0,  0x2028};
        static const std::u32string common = U" \t\n\r 'ste09.,!<|>";
        std::string text;
        char32_t start = 0x61;
        for (std::size_t left = below(24); left > 0; --left) {
            const std::size_t kind = below(16);
            if (kind < 2) start = blocks[below(blocks.size())];
            const auto c = kind < 9    ? start + static_cast<char32_t>(below(26))
                           : kind < 11 ? marks[below(marks.size())]
                           : kind < 15 ? common[below(common.size())]
                                       : static_cast<char32_t>(below(0x110000));
            if (c < 0xD800 || c > 0xDFFF) formats::append_utf8(text, c);
        }
        return text;
    }

  private:
    std::size_t below(std::size_t n) {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return (state_ >> 33) % n;
    }
    std::uint64_t state_ = 1;
};

inline std::uint64_t fnv(std::span<const std::int32_t> ids, std::uint64_t hash = 0xCBF29CE484222325u) {
    for (const std::int32_t id : ids) hash = (hash ^ static_cast<std::uint64_t>(id)) * 0x100000001B3u;
    return hash;
}

// The ids of encode_parts, whose progress never goes back and ends at the whole.
inline std::vector<std::int32_t> ids_in_parts(const data::Tokenizer& tokenizer, std::string_view text) {
    std::vector<std::int32_t> ids;
    std::size_t last = 0;
    tokenizer.encode_parts(text, [&](std::span<const std::int32_t> some, std::size_t done) {
        CHECK(done >= last);
        last = done;
        ids.insert(ids.end(), some.begin(), some.end());
    });
    CHECK(last == text.size());
    return ids;
}

}  // namespace inkling::testing
