#include "formats/jinja/text.h"

#include <utf8proc.h>

#include <algorithm>

#include "engine/base/check.h"
#include "formats/utf8.h"

namespace inkling::formats::jinja {

void Text::add(const Text& text) {
    const std::size_t at = bytes.size();
    bytes += text.bytes;
    for (const Span& s : text.spans) {
        if (!spans.empty() && spans.back().source == s.source && spans.back().end == at + s.begin)
            spans.back().end = at + s.end;
        else
            spans.push_back({at + s.begin, at + s.end, s.source});
    }
}

Text Text::part(std::size_t begin, std::size_t end) const {
    Text result(bytes.substr(begin, end - begin));
    for (const Span& s : spans) {
        const std::size_t from = std::max(begin, s.begin), to = std::min(end, s.end);
        if (from < to || (from == to && (begin == end || s.begin == s.end)))
            result.spans.push_back({from - begin, to - begin, s.source});
    }
    return result;
}

Text Text::mapped(const std::function<void(std::string_view, std::string&)>& change) const {
    const std::vector<std::size_t> places = character_places(bytes);
    std::vector<std::size_t> moved{0};
    Text result;
    for (std::size_t i = 0; i + 1 < places.size(); ++i) {
        change(std::string_view(bytes).substr(places[i], places[i + 1] - places[i]), result.bytes);
        moved.push_back(result.bytes.size());
    }
    const auto to = [&](std::size_t at) {
        return moved[static_cast<std::size_t>(std::lower_bound(places.begin(), places.end(), at) - places.begin())];
    };
    for (const Span& s : spans) result.spans.push_back({to(s.begin), to(s.end), s.source});
    return result;
}

std::vector<std::size_t> character_places(std::string_view text) {
    std::vector<std::size_t> places;
    std::size_t at = 0;
    while (at < text.size()) {
        places.push_back(at);
        valid_code_point(text, at);
    }
    places.push_back(at);
    return places;
}

std::size_t count_characters(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::size_t find_in(std::string_view all, std::string_view part, std::size_t from) {
    if (from > all.size()) return std::string_view::npos;
    const void* const at = memmem(all.data() + from, all.size() - from, part.data(), part.size());
    return at ? static_cast<std::size_t>(static_cast<const char*>(at) - all.data()) : std::string_view::npos;
}

bool is_python_space(char32_t c) { return is_white_space(c) || (c >= 0x1C && c <= 0x1F); }

bool is_letter(char32_t c) {
    const auto category = utf8proc_category(static_cast<std::int32_t>(c));
    return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

void change_letter(std::string_view character, Letters to, std::string& out) {
    std::size_t at = 0;
    const auto c = static_cast<std::int32_t>(next_code_point(character, at));
    const bool capital = utf8proc_category(c) == UTF8PROC_CATEGORY_LU;
    constexpr std::int32_t kSigma = 0x3A3, kDottedI = 0x130;
    check<BadInput>(to != Letters::lower || c != kSigma, "the small letter of {} is not supported", character);
    std::int32_t folded[8];
    int boundary = 0;
    const auto n = utf8proc_decompose_char(c, folded, 8, UTF8PROC_CASEFOLD, &boundary);
    if (n > 1 && n <= 8 && (to == Letters::lower ? c == kDottedI : !capital)) {  // such as a ligature
        check<BadInput>(to != Letters::title, "the capital of {} is not supported", character);
        for (utf8proc_ssize_t i = 0; i < n; ++i)
            append_utf8(out, static_cast<char32_t>(to == Letters::upper ? utf8proc_toupper(folded[i]) : folded[i]));
        return;
    }
    append_utf8(out, static_cast<char32_t>(to == Letters::upper   ? utf8proc_toupper(c)
                                           : to == Letters::lower ? utf8proc_tolower(c)
                                                                  : utf8proc_totitle(c)));
}

}  // namespace inkling::formats::jinja
