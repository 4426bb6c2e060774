#include "engine/base/names.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <numeric>

#include "engine/base/check.h"

namespace inkling {
namespace {

std::string spelling(std::string_view word) {
    word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
    std::string lower(word);
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower;
}

// Edit distance with swaps of neighbours (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
    // rows i - 2, i - 1 and i of a table: entry (i, j) is the distance between the first i and the first j letters
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        before.swap(last);
        last.swap(row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({last[j - 1] + (a[i - 1] != b[j - 1]), last[j] + 1, row[j - 1] + 1});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
    }
    return row.back();
}

// The first letters of the parts of a name: "lr" for learning-rate.
std::string initials(std::string_view word) {
    std::string letters;
    for (std::size_t i = 0; i < word.size(); ++i)
        if (i == 0 || word[i - 1] == '-' || word[i - 1] == '_') letters += word[i];
    return letters;
}

// The known word with these initials, else the nearest by spelling, else the first with the same beginning or end; ""
// if none is near. Ignores case and leading dashes.
std::string nearest(std::string_view word, const std::vector<std::string>& known) {
    const std::string meant = spelling(word);
    std::size_t least = std::clamp<std::size_t>(meant.size() / 3, 1, 3) + 1;
    if (meant.size() < 2) return "";
    for (const std::string& other : known)
        if (initials(spelling(other)) == meant) return other;
    std::string best;
    for (const std::string& other : known) {
        const std::string word_there = spelling(other);
        const std::size_t longer = std::max(meant.size(), word_there.size());
        if (longer - std::min(meant.size(), word_there.size()) >= least) continue;  // the distance is no smaller
        if (const std::size_t d = edit_distance(meant, word_there); d < least) least = d, best = other;
    }
    if (!best.empty() || meant.size() < 3) return best;
    for (const std::string& other : known)
        if (spelling(other).starts_with(meant) || spelling(other).ends_with(meant)) return other;
    return "";
}

}  // namespace

std::string_view cut_text(std::string_view text, std::size_t bytes) {
    if (text.size() <= bytes) return text;
    const auto continues = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80; };
    std::size_t end = bytes;
    for (int back = 0; back < 3 && end > 0 && continues(end); ++back) --end;  // a character has at most 4 bytes
    return text.substr(0, continues(end) ? bytes : end);                      // not UTF-8: cut anywhere
}

std::string shortened(std::string_view text, std::size_t bytes) {
    return std::string(cut_text(text, bytes)) + (text.size() > bytes ? "..." : "");
}

std::string shown_name(std::string_view name) {
    std::string text = shortened(name, 80);
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
    return text;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
    const std::string meant = nearest(word, known);
    return meant.empty() ? "" : ", did you mean " + meant;
}

void refuse_name(std::string_view what, std::string_view name, std::vector<std::string> known) {
    std::sort(known.begin(), known.end());
    throw Error(fmt::format("{} must be one of {}, got '{}'{}", what, fmt::join(known, ", "), shown_name(name),
                            did_you_mean(name, known)));
}

}  // namespace inkling
