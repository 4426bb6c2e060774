#include "data/tokenizers/id_tokenizer.h"

#include "engine/base/check.h"
#include "formats/ascii.h"

namespace inkling::data {

void IdTokenizer::encode_parts(std::string_view text, const TakeIds& take) const {
    constexpr std::size_t kBlock = 4096;
    constexpr std::string_view kSpace = " \t\r\n";
    std::vector<std::int32_t> block;
    std::size_t at = text.find_first_not_of(kSpace);
    while (at < text.size()) {
        const std::size_t end = std::min(text.find_first_of(kSpace, at), text.size());
        const std::string_view word = text.substr(at, end - at);
        const auto id = formats::parse_number<std::uint32_t>(word);
        check<BadInput>(id && *id < size_,
                        "'{}' is not a token of this model, which has no tokenizer: write ids from 0 to {}, such as "
                        "'0 {}'",
                        shown_name(word), size_ - 1, size_ - 1);
        block.push_back(static_cast<std::int32_t>(*id));
        at = text.find_first_not_of(kSpace, end);
        if (block.size() < kBlock && at < text.size()) continue;
        take(block, end);
        block.clear();
    }
}

std::string IdTokenizer::decode(std::span<const std::int32_t> ids) const {
    return ids.empty() ? "" : decode_more(ids).substr(1);
}

std::string IdTokenizer::decode_more(std::span<const std::int32_t> ids) const {
    std::string text;
    for (const std::int32_t id : ids) {
        check<BadInput>(id >= 0 && static_cast<std::size_t>(id) < size_, "id {} is outside the vocabulary of {}", id,
                        size_);
        text += " " + std::to_string(id);
    }
    return text;
}

bool IdTokenizer::knows(std::string_view text) const {
    try {
        return !encode(text).empty();
    } catch (const BadInput&) {
        return false;
    }
}

std::string IdTokenizer::to_json() const { return fmt::format("{} token ids", size_); }

}  // namespace inkling::data
