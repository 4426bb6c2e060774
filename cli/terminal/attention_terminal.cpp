// Keys that do not fit side by side continue in another panel below, which starts with the first query that can see
// them.
#include "cli/terminal/attention_terminal.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "cli/terminal/terminal.h"
#include "formats/utf8.h"

namespace inkling::cli {

using web::Colour;
using web::scale_colour;
namespace {

constexpr std::size_t kMaxLabel = 8;  // columns; for a key label, lines

// A character of a label, and its width in the terminal.
struct Character {
    std::string text;
    std::size_t columns;
};
struct Label {
    std::vector<Character> characters;
    std::size_t width = 0;
};

// At most kMaxLabel columns; longer labels end in "…".
Label make_label(const std::string& token) {
    const std::string text = fit_columns(token, kMaxLabel);
    Label label;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = at, columns = columns_of(formats::next_code_point(text, at));
        const std::string character = text.substr(begin, at - begin);
        if (columns == 0 && !label.characters.empty()) {
            label.characters.back().text += character;
        } else {
            label.characters.push_back({character, columns});
        }
        label.width += columns;
    }
    return label;
}

// The nearest colour in the 6 x 6 x 6 cube of terminals with 256 colours.
int cube_colour(Colour colour) {
    const auto step = [](int channel) { return channel < 48 ? 0 : channel < 115 ? 1 : (channel - 35) / 40; };
    return 16 + 36 * step(colour.red) + 6 * step(colour.green) + step(colour.blue);
}

std::string square(double position, std::size_t width, bool colour) {
    if (colour) return fmt::format("\x1b[48;5;{}m{:{}}\x1b[0m", cube_colour(scale_colour(position)), "", width);
    static constexpr const char* kBlocks[] = {"·", "░", "▒", "▓", "█"};
    std::string text;
    for (std::size_t i = 0; i < width; ++i) text += kBlocks[std::min(4, static_cast<int>(position * 5))];
    return text;
}

std::string legend(const AttentionMap& map, HeadIndex at, bool colour) {
    std::string text =
        fmt::format("{}: layer {}, head {}; rows attend to columns\nweight", map.model, at.layer, at.head);
    for (const int step : {0, 1, 2, 3, 4, 5}) {
        if (step == 5 && !colour) break;  // there are five blocks: each is for what begins with its weight
        text +=
            fmt::format("  {} {:.2g}", square(step / 5.0 + 1e-9, 2, colour), std::pow(step / 5.0, 1 / map.exponent()));
        if (!colour) text += "+";
    }
    return text + "\n";
}

}  // namespace

std::string terminal_picture(const AttentionMap& map, HeadIndex at, const Terminal& terminal) {
    const std::size_t count = map.tokens.size();
    std::vector<Label> labels(count);
    std::transform(map.tokens.begin(), map.tokens.end(), labels.begin(), make_label);
    std::size_t left = 0, widest = 1;
    for (const Label& label : labels) {
        left = std::max(left, label.width);
        for (const Character& character : label.characters) widest = std::max(widest, character.columns);
    }
    const std::size_t room = terminal.columns > left + 5 ? (terminal.columns - left - 1) / 2 * 2 : 4;
    const std::size_t cell = widest > 1 || 2 * count <= room ? 2 : 1;
    const std::size_t panels = (cell * count + room - 1) / room, keys = (count + panels - 1) / panels;

    std::string text = legend(map, at, terminal.colour);
    for (std::size_t begin = 0; begin < count; begin += keys) {
        const std::size_t end = std::min(count, begin + keys);
        std::size_t lines = 0;
        for (std::size_t key = begin; key < end; ++key) lines = std::max(lines, labels[key].characters.size());
        text += "\n";
        for (std::size_t line = 0; line < lines; ++line) {  // key labels, read downwards
            std::string shown(left + 1, ' ');
            for (std::size_t key = begin; key < end; ++key) {
                const Label& label = labels[key];
                const std::size_t skipped = lines - label.characters.size();  // labels end at the heatmap
                const Character character = line < skipped ? Character{"", 0} : label.characters[line - skipped];
                shown += character.text;
                shown.append(cell - std::min(cell, character.columns), ' ');
            }
            text += shown.substr(0, shown.find_last_not_of(' ') + 1) + "\n";
        }
        for (std::size_t query = begin; query < count; ++query) {
            text.append(left - labels[query].width, ' ');
            for (const Character& character : labels[query].characters) text += character.text;
            text += ' ';
            for (std::size_t key = begin; key < std::min(end, query + 1); ++key)
                text += square(map.position(map.weight(at, query, key)), cell, terminal.colour);
            text += "\n";
        }
    }
    return text;
}

}  // namespace inkling::cli
