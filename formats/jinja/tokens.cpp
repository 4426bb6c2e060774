#include "formats/jinja/tokens.h"

#include <algorithm>
#include <cctype>

#include "engine/base/check.h"
#include "formats/ascii.h"
#include "formats/utf8.h"

namespace inkling::formats::jinja {

namespace {

constexpr std::string_view kSpace = " \t\n\r\f\v";

// \r\n and \r become \n, and one line break at the end is dropped.
std::string with_plain_lines(std::string_view source) {
    std::string lines;
    for (std::size_t i = 0; i < source.size(); ++i) {
        const bool pair = source[i] == '\r' && i + 1 < source.size() && source[i + 1] == '\n';
        if (!pair) lines += source[i] == '\r' ? '\n' : source[i];
    }
    if (lines.ends_with('\n')) lines.pop_back();
    return lines;
}

// A text between quotes, whose escapes are Python's. `at` is behind the first quote, and then behind the last.
std::string quoted(std::string_view source, std::size_t& at, char quote) {
    static constexpr std::string_view kLetters = "abfnrtv\\'\"\n", kMeanings("\a\b\f\n\r\t\v\\'\"", 10);
    std::string text;
    for (; at < source.size() && source[at] != quote; ++at) {
        if (source[at] != '\\' || at + 1 == source.size()) {
            text += source[at];
            continue;
        }
        const char c = source[++at];
        const std::size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
        if (const auto place = kLetters.find(c); place != std::string_view::npos) {
            if (place < kMeanings.size()) text += kMeanings[place];
        } else if (digits > 0) {
            const auto code = parse_number<std::uint32_t>(source.substr(at + 1, digits), 16);
            check<BadInput>(
                code && source.size() - at > digits && *code <= 0x10FFFF && (*code < 0xD800 || *code > 0xDFFF),
                "an escape \\{} without its character", c);
            append_utf8(text, *code);
            at += digits;
        } else {
            check<BadInput>(c < '0' || c > '7', "an escape by octal digits is not supported");
            (text += '\\') += c;
        }
    }
    check<BadInput>(at < source.size(), "a text is not closed");
    ++at;
    return text;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The end of a name, or of digits, which may have a fraction.
std::size_t word_end(std::string_view source, std::size_t at) {
    const bool number = is_digit(source[at]);
    const auto goes_on = [&] {
        const bool point = number && source[at] == '.' && at + 1 < source.size() && is_digit(source[at + 1]);
        return point || is_word(source[at]);
    };
    while (at < source.size() && goes_on()) ++at;
    return at;
}

// The tokens of a tag from `at` on, which is then at the tag's end: `last` and }, or a - or + before them.
std::vector<Token> tokens_of(std::string_view source, std::size_t& at, char last) {
    using Kind = Token::Kind;
    const std::string close = {last, '}'};
    std::vector<Token> tokens;
    for (std::size_t end = at, open = 0;; at = end) {  // open: brackets
        check<BadInput>(at < source.size(), "a {{{} without its end", last == '}' ? '{' : last);
        const char c = source[at];
        if (open == 0 && source.substr(at + (c == '-' || c == '+')).starts_with(close)) break;
        end = at + 1;
        if (kSpace.find(c) != std::string_view::npos) {
        } else if (c == '\'' || c == '"') {
            tokens.push_back({Kind::text, quoted(source, end, c)});
        } else if (is_word(c)) {
            end = word_end(source, at);
            tokens.push_back({is_digit(c) ? Kind::number : Kind::name, std::string(source.substr(at, end - at))});
        } else {
            static constexpr std::string_view kPairs[] = {"==", "!=", "<=", ">=", "//"};
            if (std::count(std::begin(kPairs), std::end(kPairs), source.substr(at, 2))) ++end;
            tokens.push_back({Kind::sign, std::string(source.substr(at, end - at))});
            open += c == '(' || c == '[' || c == '{';
            open -= open > 0 && (c == ')' || c == ']' || c == '}');
        }
    }
    tokens.push_back({Kind::end, "its end"});
    return tokens;
}

}  // namespace

// Drops a line break behind a statement, and blanks before a statement that begins a line; {%- and -}} drop all
// white space beside them, {%+ and +%} none.
std::vector<Part> cut(std::string_view text_of_template) {
    const std::string lines = with_plain_lines(text_of_template);
    std::string_view source = lines;
    std::vector<Part> parts;
    bool strip = false, line_begins = true;
    while (!source.empty()) {
        std::size_t at = 0;
        while ((at = source.find('{', at)) != std::string_view::npos && at + 1 < source.size() &&
               source[at + 1] != '{' && source[at + 1] != '%' && source[at + 1] != '#')
            ++at;
        const bool none = at == std::string_view::npos || at + 1 == source.size();
        std::string_view text = source.substr(0, none ? source.size() : at);
        if (strip) text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
        if (none) {
            parts.push_back({Part::Kind::text, std::string(text), {}});
            break;
        }
        const char kind = source[at + 1];
        const std::size_t begin = at + 2;
        const char sign = begin < source.size() ? source[begin] : ' ';
        if (sign == '-') text = text.substr(0, text.find_last_not_of(kSpace) + 1);
        if (kind != '{' && sign != '-' && sign != '+') {
            const std::size_t line = text.rfind('\n') + 1;  // npos + 1 is 0
            if ((line > 0 || line_begins) && text.find_first_not_of(" \t\f\v", line) == std::string_view::npos)
                text = text.substr(0, line);
        }
        if (!text.empty()) parts.push_back({Part::Kind::text, std::string(text), {}});
        std::size_t end = begin + (sign == '-' || sign == '+');
        if (kind == '#') {
            const std::size_t close = source.find("#}", end);
            check<BadInput>(close != std::string_view::npos, "a {{# is not closed");
            end = close - (close > end && (source[close - 1] == '-' || source[close - 1] == '+'));
        } else if (kind == '{') {
            parts.push_back({Part::Kind::output, "", tokens_of(source, end, '}')});
        } else {
            parts.push_back({Part::Kind::statement, "", tokens_of(source, end, '%')});
        }
        strip = source[end] == '-';
        const bool keep = source[end] == '+';
        end += strip || keep;
        source.remove_prefix(end + 2);
        line_begins = kind != '{' && source.starts_with('\n');
        if (line_begins && !keep) source.remove_prefix(1);
    }
    return parts;
}

}  // namespace inkling::formats::jinja
