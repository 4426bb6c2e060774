// Parts of texts, and texts from parts, as Python's methods of texts make them.
#include <algorithm>

#include "formats/jinja/library.h"
#include "formats/utf8.h"

namespace inkling::formats::jinja {

Text replace(Run& run, const Text& text, const std::string& from, const Text& to, std::int64_t count) {
    check<BadInput>(!from.empty(), "replace of '' is not known");
    Text result;
    std::size_t done = 0, at;
    for (; count != 0 && (at = find_in(text.bytes, from, done)) != std::string::npos;
         done = at + from.size(), --count) {
        run.add(result, run.part(text, done, at));
        run.add(result, to);
    }
    run.add(result, text.part(done, text.bytes.size()));
    return result;
}

Text strip(const Text& text, const Value& characters, bool left, bool right) {
    std::u32string set;
    const bool space = characters.is_undefined() || characters.is_none();
    if (!space)
        for (const char32_t c : to_code_points(text_in(characters, "strip").bytes)) set += c;
    check<BadInput>(set.size() <= kMaxSought, "strip of more than {} characters is not known", kMaxSought);
    const auto [begin, end] = stripped(
        text.bytes, [&](char32_t c) { return space ? is_python_space(c) : set.find(c) != std::u32string::npos; }, left,
        right);
    return text.part(begin, end);
}

Text with_letters(Run& run, const Text& text, Letters to) {
    run.make(text.bytes.size() * 2 * sizeof(std::size_t));
    return text.mapped([&](std::string_view c, std::string& out) { change_letter(c, to, out); });
}

Text capitalized(Run& run, const Text& text) {
    run.make(text.bytes.size() * 2 * sizeof(std::size_t));
    return text.mapped([first = true](std::string_view c, std::string& out) mutable {
        change_letter(c, std::exchange(first, false) ? Letters::title : Letters::lower, out);
    });
}

Text join(Run& run, const List& items, const Text& by) {
    Text all;
    for (const Value& item : items.items) {
        if (&item != &items.items[0]) run.add(all, by);
        run.add(all, text_of(run, item));
    }
    return all;
}

Text titled(Run& run, const Text& text, bool (*begins_behind)(char32_t)) {
    run.make(text.bytes.size() * 2 * sizeof(std::size_t));
    return text.mapped([inside = false, begins_behind](std::string_view c, std::string& out) mutable {
        change_letter(c, inside ? Letters::lower : Letters::title, out);
        std::size_t at = 0;
        const char32_t code = next_code_point(c, at);
        inside = begins_behind ? !begins_behind(code) : is_letter(code);
    });
}

std::vector<Text> lines_of(Run& run, const Text& text, bool keep_ends) {
    std::vector<Text> lines;
    const std::string& bytes = text.bytes;
    for (std::size_t begin = 0, at = 0; begin < bytes.size();) {
        std::size_t next = at;
        const char32_t c = at < bytes.size() ? next_code_point(bytes, next) : U'\n';
        const bool ends = (c >= 10 && c <= 13) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
        const std::size_t end = at;
        at = next + (c == U'\r' && next < bytes.size() && bytes[next] == '\n');
        if (!ends) continue;
        lines.push_back(run.part(text, begin, keep_ends ? std::min(at, bytes.size()) : end));
        begin = at;
    }
    return lines;
}

namespace {

std::vector<Text> split_at_space(Run& run, const Text& text, std::int64_t most) {
    std::vector<Text> parts;
    const auto pass = [&](std::size_t at, bool space) {
        for (std::size_t next = at; at < text.bytes.size(); at = next)
            if (is_python_space(next_code_point(text.bytes, next)) != space) break;
        return at;
    };
    for (std::size_t at = pass(0, true); at < text.bytes.size(); at = pass(at, true), --most) {
        const std::size_t end = most == 0 ? text.bytes.size() : pass(at, false);
        parts.push_back(run.part(text, at, end));
        at = end;
    }
    return parts;
}

}  // namespace

std::vector<Text> split(Run& run, const Text& text, const Arguments& given, bool from_right) {
    const auto all = given.by("split", {"sep", "maxsplit"});
    std::int64_t most = all[1].is_undefined() ? -1 : whole(all[1], "split");
    if (all[0].is_undefined() || all[0].is_none()) {
        check<BadInput>(!from_right || most < 0, "rsplit at white space is not known");
        return split_at_space(run, text, most);
    }
    const std::string& by = text_in(all[0], "split").bytes;
    check<BadInput>(!by.empty(), "split('') is not known");
    check<BadInput>(!from_right || by.size() <= kMaxSought, "rsplit at more than {} bytes is not known", kMaxSought);
    std::vector<Text> parts;
    std::size_t begin = 0, end = text.bytes.size(), at;
    if (!from_right) {
        for (; most != 0 && (at = find_in(text.bytes, by, begin)) != std::string::npos; begin = at + by.size(), --most)
            parts.push_back(run.part(text, begin, at));
    } else {
        for (; most != 0 && end >= by.size() && (at = text.bytes.rfind(by, end - by.size())) != std::string::npos;
             end = at, --most)
            parts.push_back(run.part(text, at + by.size(), end));
    }
    parts.push_back(text.part(begin, end));
    if (from_right) std::reverse(parts.begin(), parts.end());
    return parts;
}

std::vector<Text> partition(const Text& text, const Text& by, bool from_right) {
    check<BadInput>(!by.bytes.empty(), "partition('') is not known");
    check<BadInput>(!from_right || by.bytes.size() <= kMaxSought, "rpartition at more than {} bytes is not known",
                    kMaxSought);
    const std::size_t at = from_right ? text.bytes.rfind(by.bytes) : find_in(text.bytes, by.bytes);
    std::vector<Text> parts{text, {}, {}};
    if (at != std::string::npos)
        parts = {text.part(0, at), by, text.part(at + by.bytes.size(), text.bytes.size())};
    else if (from_right)
        std::swap(parts[0], parts[2]);
    return parts;
}

}  // namespace inkling::formats::jinja
