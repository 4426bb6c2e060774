// The weights of one head as numbers. Columns that do not fit side by side go on in a further table below, which starts
// with the first query that can see them.
#include <algorithm>

#include "cli/attention_text.h"
#include "cli/terminal.h"

namespace inkling::cli {
namespace {

constexpr std::size_t kLabelColumns = 8, kNumber = 5;  // columns: 0.123

std::string right_aligned(const std::string& text, std::size_t columns) {
    return std::string(columns - std::min(columns, display_width(text)), ' ') + text;
}

}  // namespace

std::string number_table(const AttentionMap& map, HeadIndex at, std::size_t columns) {
    const std::size_t count = map.tokens.size();
    std::vector<std::string> labels;
    std::size_t left = 0;
    for (const std::string& token : map.tokens) {
        labels.push_back(fit_columns(token, kLabelColumns));
        left = std::max(left, display_width(labels.back()));
    }
    const std::size_t cell = 2 + std::max(kNumber, left),
                      keys = std::max<std::size_t>(1, (columns - std::min(columns, left)) / cell);

    std::string text = fmt::format("{}: layer {}, head {}; rows attend to columns\n", map.model, at.layer, at.head);
    for (std::size_t begin = 0; begin < count; begin += keys) {
        const std::size_t end = std::min(count, begin + keys);
        text += "\n" + std::string(left, ' ');
        for (std::size_t key = begin; key < end; ++key) text += right_aligned(labels[key], cell);
        text += "\n";
        for (std::size_t query = begin; query < count; ++query) {
            text += right_aligned(labels[query], left);
            for (std::size_t key = begin; key < std::min(end, query + 1); ++key)
                text += fmt::format("{:{}.3f}", map.weight(at, query, key), cell);
            text += "\n";
        }
    }
    return text;
}

}  // namespace inkling::cli
