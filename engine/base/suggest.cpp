#include "engine/base/suggest.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace inkling {
namespace {

std::string plain(std::string_view word) {
    word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
    std::string lower(word);
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower;
}

}  // namespace

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

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
    const std::string meant = plain(word);
    std::size_t least = std::clamp<std::size_t>(meant.size() / 3, 1, 3) + 1;
    if (meant.size() < 2) return "";
    std::string best;
    for (const std::string& other : known) {
        const std::string word_there = plain(other);
        const std::size_t longer = std::max(meant.size(), word_there.size());
        if (longer - std::min(meant.size(), word_there.size()) >= least) continue;  // the distance is no smaller
        if (const std::size_t d = edit_distance(meant, word_there); d < least) least = d, best = other;
    }
    if (!best.empty() || meant.size() < 3) return best;
    for (const std::string& other : known)
        if (plain(other).starts_with(meant) || plain(other).ends_with(meant)) return other;
    return "";
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
    const std::string meant = nearest(word, known);
    return meant.empty() ? "" : ", did you mean " + meant;
}

}  // namespace inkling
