#include "data/paragraphs.h"

#include <algorithm>

namespace inkling::data {

Paragraphs::Paragraphs(const Tokenizer& tokenizer) : line_ends_(tokenizer.vocab_size()) {
    for (std::size_t id = 0; id < line_ends_.size(); ++id) {
        const auto token = static_cast<std::int32_t>(id);
        const std::string text = tokenizer.decode_more(std::span(&token, 1));
        const std::size_t words = text.find_last_not_of("\r\n") + 1;  // npos + 1 is 0
        const auto feeds = std::count(text.begin() + static_cast<std::ptrdiff_t>(words), text.end(), '\n');
        line_ends_[id] = {static_cast<std::uint8_t>(std::min<std::ptrdiff_t>(feeds, 2)), words == 0};
    }
    if (const auto end = tokenizer.end_of_text()) line_ends_[static_cast<std::size_t>(*end)] = {2, false};
}

bool Paragraphs::begins(TokenView ids, std::size_t i) const {
    for (int feeds = 0; i > 0;) {
        const LineEnds before = line_ends_[static_cast<std::size_t>(ids[--i])];
        feeds += before.count;
        if (feeds >= 2) return true;
        if (!before.alone) return false;
    }
    return true;
}

}  // namespace inkling::data
