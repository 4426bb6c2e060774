// The methods of texts, as Python's, and what filters share with them.
#include <algorithm>

#include "formats/jinja/library.h"
#include "formats/utf8.h"

namespace inkling::formats::jinja {

Text filled(Run& run, const Text& form, std::string_view signs, const Arguments& given) {
    Text result;
    std::size_t next = 0;
    for (std::size_t at = 0, sign; at < form.bytes.size(); at = sign + 2) {
        sign = std::min(form.bytes.find_first_of(signs, at), form.bytes.size());
        run.add(result, run.part(form, at, sign));
        if (sign == form.bytes.size()) break;
        const std::string_view place = std::string_view(form.bytes).substr(sign, 2);
        if (place.size() == 2 && place[0] == place[1]) {
            run.add(result, run.part(form, sign, sign + 1));
            continue;
        }
        check<BadInput>(place == "{}" || place == "%s" || place == "%d",
                        "format: places other than {{}}, %s and %d are not supported");
        check<BadInput>(next < given.list.size(), "format: expected a value for each place");
        const Value& value = given.list[next++];
        run.add(result, place == "%d" ? Text(fmt::format("{}", whole(value, "%d"))) : text_of(run, value));
    }
    check<BadInput>(given.named.empty() && (signs == "{}" || next == given.list.size()),
                    "format: more values than places");
    return result;
}

Text strip(const Text& text, const Value& characters, bool left, bool right) {
    constexpr std::size_t kMost = 1000;  // the time is the product of both lengths
    std::u32string set;
    const bool space = characters.is_undefined() || characters.is_none();
    if (!space)
        for (const char32_t c : to_code_points(text_in(characters, "strip").bytes)) set += c;
    check<BadInput>(set.size() <= kMost, "strip of more than {} characters is not supported", kMost);
    const auto [begin, end] = stripped(
        text.bytes, [&](char32_t c) { return space ? is_python_space(c) : set.find(c) != std::u32string::npos; }, left,
        right);
    return text.part(begin, end);
}

Text join(Run& run, const List& items, const Text& by) {
    Text all;
    for (const Value& item : items.items) {
        if (&item != &items.items[0]) run.add(all, by);
        run.add(all, text_of(run, item));
    }
    return all;
}

std::vector<Text> lines_of(Run& run, const Text& text) {
    std::vector<Text> lines;
    const std::string& bytes = text.bytes;
    for (std::size_t begin = 0, at = 0; begin < bytes.size();) {
        std::size_t next = at;
        const char32_t c = at < bytes.size() ? next_code_point(bytes, next) : U'\n';
        const bool ends = (c >= 10 && c <= 13) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
        if (ends) lines.push_back(run.part(text, begin, at));
        at = next + (c == U'\r' && next < bytes.size() && bytes[next] == '\n');
        if (ends) begin = at;
    }
    return lines;
}

Text with_letters(Run& run, const Text& text, std::string_view how) {
    run.make(text.bytes.size() * 2 * sizeof(std::size_t));
    return text.mapped([how, begins = true](std::string_view c, std::string& out) mutable {
        change_letter(c,
                      how == "upper"             ? Letters::upper
                      : begins && how != "lower" ? Letters::title
                                                 : Letters::lower,
                      out);
        std::size_t at = 0;
        begins = how == "title" && !is_letter(next_code_point(c, at));
    });
}

namespace {

Value is_at(Run& run, const std::string& name, const std::string& text, const Value& which) {
    const auto is = [&](const Value& v) {
        const std::string& part = text_in(v, name).bytes;
        run.step(1 + part.size() / 64);
        return name == "endswith" ? text.ends_with(part) : text.starts_with(part);
    };
    const List* const list = which.list();
    return list && list->kind == ListKind::tuple ? std::any_of(list->items.begin(), list->items.end(), is) : is(which);
}

Text replace(Run& run, const Text& text, const std::string& from, const Text& to, std::int64_t count) {  // -1: all
    check<BadInput>(!from.empty(), "replace of '' is not supported");
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

std::vector<Text> split(Run& run, const Text& text, const Arguments& given) {
    const auto all = given.by("split", {"sep", "maxsplit"});
    std::int64_t most = all[1].is_undefined() ? -1 : whole(all[1], "split");
    if (all[0].is_undefined() || all[0].is_none()) return split_at_space(run, text, most);
    const std::string& by = text_in(all[0], "split").bytes;
    check<BadInput>(!by.empty(), "split('') is not supported");
    std::vector<Text> parts;
    std::size_t begin = 0, at;
    for (; most != 0 && (at = find_in(text.bytes, by, begin)) != std::string::npos; begin = at + by.size(), --most)
        parts.push_back(run.part(text, begin, at));
    parts.push_back(text.part(begin, text.bytes.size()));
    return parts;
}

}  // namespace

Value text_method(Run& run, const std::string& name, const Text& text, const Arguments& given) {
    const auto one = [&](std::string_view parameter) { return given.by(name, {parameter})[0]; };
    run.step(text.memory() / 16);
    if (name == "strip" || name == "lstrip" || name == "rstrip")
        return run.text(strip(text, one("chars"), name[0] != 'r', name[0] != 'l'));
    if (name == "startswith" || name == "endswith") return is_at(run, name, text.bytes, one("prefix"));
    if (name == "split") return run.texts(split(run, text, given));
    if (name == "replace") {
        const auto all = given.by(name, {"old", "new", "count"});
        return run.text(replace(run, text, text_in(all[0], name).bytes, text_in(all[1], name),
                                all[2].is_undefined() ? -1 : whole(all[2], name)));
    }
    if (name == "join") {
        const Items items = items_of(run, one("iterable"));
        for (const Value& item : items) text_in(item, name);
        return run.text(join(run, *items, text));
    }
    if (name == "format") return run.text(filled(run, text, "{}", given));
    given.by(name, {});
    if (name == "splitlines") return run.texts(lines_of(run, text));
    check<BadInput>(name == "upper" || name == "lower" || name == "title" || name == "capitalize",
                    "its method {} is not supported", name);
    return run.text(with_letters(run, text, name));
}

}  // namespace inkling::formats::jinja
