#include "cli/terminal/terminal.h"

#include <fmt/format.h>
#include <locale.h>
#include <sys/ioctl.h>
#include <wchar.h>

#include <cstdlib>
#include <utility>

#include "formats/utf8.h"

namespace inkling::cli {

std::string harmless(std::string_view text) {
    std::string shown;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = at;
        const char32_t c = formats::next_code_point(text, at);
        const bool plain = c >= 0xA0 || (c >= ' ' && c < 0x7F) || c == '\n' || c == '\t';
        if (plain && c != formats::invalid_code_point)
            shown += text.substr(begin, at - begin);
        else
            for (std::size_t i = begin; i < at; ++i)
                shown += fmt::format("\\x{:02X}", static_cast<unsigned char>(text[i]));
    }
    return shown;
}

std::size_t terminal_columns(int file) {
    winsize size{};
    if (ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    const char* const columns = std::getenv("COLUMNS");
    const int given = columns ? std::atoi(columns) : 0;
    return given > 0 ? static_cast<std::size_t>(given) : 80;
}

std::size_t columns_of(char32_t c) {
    static const locale_t unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    if (unicode == nullptr) return 1;
    const locale_t before = uselocale(unicode);
    const int width = wcwidth(static_cast<wchar_t>(c));
    uselocale(before);
    return width < 0 ? 1 : static_cast<std::size_t>(width);
}

static std::size_t display_width(std::string_view text) {
    std::size_t width = 0;
    for (std::size_t at = 0; at < text.size();) width += columns_of(formats::next_code_point(text, at));
    return width;
}

std::string fit_columns(const std::string& text, std::size_t columns) {
    if (display_width(text) <= columns) return text;
    std::size_t end = 0, width = 0;
    for (std::size_t at = 0; at < text.size(); end = at) {
        width += columns_of(formats::next_code_point(text, at));
        if (width >= columns) break;
    }
    return text.substr(0, end) + "…";
}

std::string WordWrap::add(std::string_view piece, std::size_t columns) {
    std::string text;
    for (std::size_t at = 0; at < piece.size();) {
        const std::size_t begin = at;
        const char32_t c = formats::next_code_point(piece, at);
        if (c == '\n') {
            text += rest(columns) + "\n";
            column_ = 0;
        } else if (c == ' ') {
            if (!word_.empty()) text += rest(columns);
            spaces_ += ' ';
        } else {
            word_ += piece.substr(begin, at - begin);
            if (columns_of(c) > 1)
                text += rest(columns);  // Chinese has no spaces: a line may break after any character
        }
    }
    return text;
}

std::string WordWrap::rest(std::size_t columns) {
    const std::size_t width = display_width(word_);
    std::string text = std::exchange(spaces_, "");
    if (column_ > 0 && !word_.empty() && column_ + text.size() + width > columns) text = "\n", column_ = 0;
    if (text != "\n") column_ += text.size();
    column_ = (column_ + width) % columns;
    return text + std::exchange(word_, "");
}

}  // namespace inkling::cli
