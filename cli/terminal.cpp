#include "cli/terminal.h"

#include <locale.h>
#include <sys/ioctl.h>
#include <wchar.h>

#include <cstdlib>

#include "formats/utf8.h"

namespace inkling::cli {

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

std::size_t display_width(std::string_view text) {
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

std::size_t cursor_after(std::string_view text, std::size_t columns) {
    std::size_t column = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t width = columns_of(formats::next_code_point(text, at));
        if (column + width > columns) column = 0;  // a wide character goes to the next row as a whole
        column = (column + width) % columns;
    }
    return column;
}

}  // namespace inkling::cli
