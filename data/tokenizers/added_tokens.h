// Added tokens, such as <|endoftext|>, are matched in the text before it is split:
//   const AddedTokens added({{.content = "<|endoftext|>", .id = 50256}});
//   added.cut("a<|endoftext|>b", [](std::string_view part, std::int32_t id) { ... });
//   // "a", -1; "<|endoftext|>", 50256; "b", -1
// The leftmost match wins, then the longest. The flags are those of the `tokenizers` library.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace inkling::data {

struct AddedToken {
    std::string content;
    std::int32_t id = 0;
    bool single_word = false;  // only if no letter or digit is adjacent
    bool lstrip = false;       // also takes the white space before it
    bool rstrip = false;       // and after it
    bool normalized = false;   // matched after the other tokens, in the normalized text between them
    bool special = true;       // decoders may skip it
    bool operator==(const AddedToken&) const = default;
};

class AddedTokens {
  public:
    // Contents must be distinct, not empty, and at most longest_content bytes.
    explicit AddedTokens(std::vector<AddedToken> tokens);
    AddedTokens(const AddedTokens&) = delete;
    AddedTokens& operator=(const AddedTokens&) = delete;

    static constexpr std::size_t longest_content = 1000;

    const std::vector<AddedToken>& list() const { return tokens_; }

    // Calls take(part, id) in text order; id -1: ordinary text.
    using TakePart = std::function<void(std::string_view part, std::int32_t id)>;
    // cut_raw matches the tokens that are not normalized; cut_normalized matches the others, in the text between them.
    // Without `special`, special tokens count as text.
    void cut_raw(std::string_view text, bool special, const TakePart& take) const { raw_.cut(text, special, take); }
    void cut_normalized(std::string_view text, bool special, const TakePart& take) const {
        normalized_.cut(text, special, take);
    }
    void cut(std::string_view text, const TakePart& take) const;  // cut_raw, then cut_normalized

  private:
    // Tokens matched in one pass: an automaton (Aho and Corasick 1975) reads the text from its end and is, at each
    // place, at the longest part of the text from there that ends a token. So each byte costs the same, whatever the
    // tokens.
    struct Set {
        struct State {
            std::uint32_t shorter = 0;            // the state of the next shorter part
            const AddedToken* longest = nullptr;  // the longest token that begins here
        };
        std::vector<State> states;  // 0: no byte of a token
        std::array<std::uint32_t, 256> first = {};
        std::unordered_map<std::uint64_t, std::uint32_t> next;  // state << 8 | byte
        std::vector<std::string> heads;  // how tokens begin, up to 2 bytes each; empty for more than a few

        void build(const std::vector<const AddedToken*>& tokens);
        std::uint32_t step(std::uint32_t state, char byte) const;
        void cut(std::string_view text, bool special, const TakePart& take) const;
    };

    std::vector<AddedToken> tokens_;
    Set raw_, normalized_;
};

}  // namespace inkling::data
