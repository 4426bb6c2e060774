#include "data/tokenizers/split/white_space.h"

#include "data/tokenizers/split/regex.h"
#include "formats/utf8.h"

namespace inkling::data {

namespace {

bool matches_whole(const Regex& one_character, std::string_view text) {
    return formats::find_invalid_utf8(text) == std::string_view::npos &&
           Regex::Scan(one_character).find(text, 0).has_value();
}

}  // namespace

bool is_word(std::string_view character) {
    static const Regex word(pcre2_pattern(word_class));
    return matches_whole(word, character);
}

bool is_space(std::string_view character) {
    static const Regex space(pcre2_pattern(R"(\s)"));
    return matches_whole(space, character);
}

std::string_view first_character(std::string_view text, std::size_t at) {
    std::size_t end = at;
    formats::next_code_point(text, end);
    return text.substr(at, end - at);
}

std::size_t previous_character(std::string_view text, std::size_t end) {
    for (std::size_t begin = end - 1; begin + 4 >= end; --begin) {
        std::size_t at = begin;
        if (formats::next_code_point(text.substr(0, end), at) != formats::invalid_code_point && at == end) return begin;
        if (begin == 0) break;
    }
    return end - 1;
}

}  // namespace inkling::data
