#include "data/tokenizers/nfc.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <new>

#include "data/tokenizers/unicode_additions.h"
#include "formats/utf8.h"

namespace inkling::data {

namespace {

constexpr char32_t first_mark = 0x300;  // smaller characters never combine with the one before them, nor move

struct Range {
    char32_t first, last;
};

// Marks of Unicode 10 to 14, and the second part of a character of Unicode 13. unicode_additions has the marks of
// Unicode 15 and 16. Made by tests/reference/make_unicode_additions.py.
constexpr Range newer_marks[] = {
    {0x7FD, 0x7FD},     {0x898, 0x89F},     {0x8CA, 0x8D3},     {0x9FE, 0x9FE},     {0xC3C, 0xC3C},
    {0xD3B, 0xD3C},     {0xEBA, 0xEBA},     {0x1715, 0x1715},   {0x1ABF, 0x1ACE},   {0x1DF6, 0x1DFA},
    {0xA82C, 0xA82C},   {0x10D24, 0x10D27}, {0x10EAB, 0x10EAC}, {0x10F46, 0x10F50}, {0x10F82, 0x10F85},
    {0x11070, 0x11070}, {0x1133B, 0x1133B}, {0x1145E, 0x1145E}, {0x11839, 0x1183A}, {0x11930, 0x11930},
    {0x1193D, 0x1193E}, {0x11943, 0x11943}, {0x119E0, 0x119E0}, {0x11A34, 0x11A34}, {0x11A47, 0x11A47},
    {0x11A99, 0x11A99}, {0x11D42, 0x11D42}, {0x11D44, 0x11D45}, {0x11D97, 0x11D97}, {0x16FF0, 0x16FF1},
    {0x1E130, 0x1E136}, {0x1E2AE, 0x1E2AE}, {0x1E2EC, 0x1E2EF}};

// Lower-case letters of Unicode 15 to 17, which utf8proc may not know, by ranges of capital letters.
struct Lowercase {
    char32_t first, last, lower;
};
constexpr Lowercase newer_lowercase[] = {
    {0x1C89, 0x1C89, 0x1C8A},    {0xA7CB, 0xA7CB, 0x264},    {0xA7CC, 0xA7CC, 0xA7CD}, {0xA7CE, 0xA7CE, 0xA7CF},
    {0xA7D2, 0xA7D2, 0xA7D3},    {0xA7D4, 0xA7D4, 0xA7D5},   {0xA7DA, 0xA7DA, 0xA7DB}, {0xA7DC, 0xA7DC, 0x19B},
    {0x10D50, 0x10D65, 0x10D70}, {0x16EA0, 0x16EB8, 0x16EBB}};

template <class Table>
const auto* find_range(const Table& table, char32_t c) {
    const auto found =
        std::partition_point(std::begin(table), std::end(table), [&](const auto& r) { return r.last < c; });
    return found != std::end(table) && found->first <= c ? &*found : nullptr;
}

bool is_newer(char32_t c) { return find_range(newer_marks, c) || find_range(unicode_additions, c); }

// Whether a character from 0x300 on may change, move, or combine with the one before it.
bool may_change(char32_t c) {
    if (c >= 0x1160 && c <= 0x11FF) return true;  // vowels and last consonants of Korean syllables
    const utf8proc_property_t& p = *utf8proc_get_property(static_cast<utf8proc_int32_t>(c));
    return p.category == UTF8PROC_CATEGORY_MN || p.category == UTF8PROC_CATEGORY_MC ||
           p.category == UTF8PROC_CATEGORY_ME || p.decomp_seqindex != UINT16_MAX;
}

void append_normalized(std::string& result, std::string_view valid) {
    utf8proc_uint8_t* made = nullptr;
    const utf8proc_ssize_t size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(valid.data()),
                                               static_cast<utf8proc_ssize_t>(valid.size()), &made,
                                               static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
    if (size < 0) throw std::bad_alloc();  // its only error for valid text
    const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(made, std::free);
    result.append(reinterpret_cast<const char*>(made), static_cast<std::size_t>(size));
}

}  // namespace

std::string to_nfc(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    for (std::size_t done = 0; done < text.size();) {
        // Characters below 0x300 begin with bytes below 0xCC.
        std::size_t at = done;
        while (at < text.size() && static_cast<unsigned char>(text[at]) < 0xCC) ++at;
        std::size_t begin = at;  // where normalization starts: at the character before, to which a mark may belong
        while (at < text.size() && begin > done && (text[--begin] & 0xC0) == 0x80) {
        }
        result.append(text.substr(done, begin - done));
        bool changes = false;
        char32_t c = 0;
        std::size_t end = at;
        while (end < text.size()) {
            std::size_t next = end;
            c = formats::next_code_point(text, next);
            if (c == formats::invalid_code_point || c < first_mark || is_newer(c)) break;
            changes = changes || may_change(c);
            end = next;
        }
        const std::string_view together = text.substr(begin, end - begin);
        const bool valid = changes && formats::find_invalid_utf8(together) == std::string_view::npos;
        if (valid) {
            append_normalized(result, together);
        } else if (changes) {  // the bytes before the first mark are not UTF-8
            result.append(text.substr(begin, at - begin));
            append_normalized(result, text.substr(at, end - at));
        } else {
            result.append(together);
        }
        done = end;
        if (end == text.size() || c < first_mark) continue;
        formats::next_code_point(text, end);  // an unchanged character
        result.append(text.substr(done, end - done));
        done = end;
    }
    return result;
}

std::string to_lowercase(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = at;
        const char32_t c = formats::next_code_point(text, at);
        if (c == formats::invalid_code_point) {
            result += text[begin];
        } else if (c == 0x130) {  // the one letter whose lower case has two characters: i and a dot above
            result += "i\xCC\x87";
        } else if (const Lowercase* const newer = find_range(newer_lowercase, c)) {
            formats::append_utf8(result, newer->lower + (c - newer->first));
        } else if (c < 0x80) {
            result += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : text[begin];
        } else {
            formats::append_utf8(result, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
        }
    }
    return result;
}

}  // namespace inkling::data
