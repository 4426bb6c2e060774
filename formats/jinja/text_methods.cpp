// The methods of texts, as Python's.
#include <utf8proc.h>

#include <algorithm>

#include "formats/jinja/library.h"
#include "formats/utf8.h"

namespace inkling::formats::jinja {

namespace {

Value is_at(Run& run, const Value& of, const Arguments& given, const char* name, bool end) {
    const Value which = given.by(name, {"prefix"})[0];
    const auto is = [&](const Value& v) {
        const std::string& part = text_in(v, name).bytes;
        run.step(1 + part.size() / 64);
        return end ? of.text()->bytes.ends_with(part) : of.text()->bytes.starts_with(part);
    };
    const List* const list = which.list();
    return list && list->kind == ListKind::tuple ? std::any_of(list->items.begin(), list->items.end(), is) : is(which);
}

// The place of a part as a number of characters; -1: none.
std::int64_t place_of(const Value& of, const Arguments& given, const char* name, bool last) {
    const std::string &all = of.text()->bytes, &part = text_in(given.by(name, {"sub"})[0], name).bytes;
    check<BadInput>(!last || part.size() <= kMaxSought, "{} of more than {} bytes is not known", name, kMaxSought);
    const std::size_t at = last ? all.rfind(part) : find_in(all, part);
    return at == std::string::npos ? -1 : static_cast<std::int64_t>(count_characters({all.data(), at}));
}

std::int64_t count_of(const std::string& all, const std::string& part) {
    check<BadInput>(!part.empty(), "count('') is not known");
    std::int64_t n = 0;
    for (std::size_t at = 0; (at = find_in(all, part, at)) != std::string::npos; at += part.size()) ++n;
    return n;
}

Text padded(Run& run, const Text& text, const Arguments& given, const std::string& name) {
    const auto all = given.by(name, {"width", "fillchar"});
    const std::int64_t width = whole(all[0], name);
    const auto n = std::max<std::int64_t>(0, width - static_cast<std::int64_t>(count_characters(text.bytes)));
    const Text fill = all[1].is_undefined() ? Text(name == "zfill" ? "0" : " ") : text_in(all[1], name);
    const std::int64_t before = name == "ljust" ? 0 : name == "center" ? n / 2 + (n & width & 1) : n;
    const bool sign = name == "zfill" && (text.bytes.starts_with('-') || text.bytes.starts_with('+'));
    Text result = text.part(0, sign);
    for (std::int64_t i = 0; i < before; ++i) run.add(result, fill);
    run.add(result, text.part(sign, text.bytes.size()));
    for (std::int64_t i = before; i < n; ++i) run.add(result, fill);
    return result;
}

// Whether the text is non-empty and all characters satisfy it.
template <class Is>
bool all_are(const Text& text, const Is& is) {
    const auto points = to_code_points(text.bytes);
    return !points.empty() && std::all_of(points.begin(), points.end(), is);
}

bool is_decimal(char32_t c) { return utf8proc_category(static_cast<std::int32_t>(c)) == UTF8PROC_CATEGORY_ND; }

// Whether there are letters, all of this case.
bool all_cased(const Text& text, utf8proc_category_t wanted) {
    bool any = false;
    for (const char32_t c : to_code_points(text.bytes)) {
        const auto category = utf8proc_category(static_cast<std::int32_t>(c));
        any = any || category == wanted;
        if (category != wanted && category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LT) return false;
    }
    return any;
}

// {} {0} {name}, {{ and }}
Text filled(Run& run, const Text& text, const Arguments& given) {
    const std::string& form = text.bytes;
    Text result;
    std::size_t next = 0;
    for (std::size_t at = 0; at < form.size(); ++at) {
        const std::size_t brace = std::min(form.find_first_of("{}", at), form.size());
        run.add(result, run.part(text, at, brace));
        if ((at = brace) == form.size()) break;
        if (at + 1 < form.size() && form[at + 1] == form[at]) {
            run.add(result, text.part(at, at + 1));
            ++at;
            continue;
        }
        const std::size_t end = form.find('}', at);
        check<BadInput>(form[at] == '{' && end != std::string::npos, "format: a brace without its other");
        const std::string name = form.substr(at + 1, end - at - 1);
        const bool number = name.size() < 4 && std::all_of(name.begin(), name.end(), ::isdigit);
        const Value* value = nullptr;
        for (const auto& [key, one] : given.named)
            if (key == name) value = &one;
        const std::size_t place = !number ? SIZE_MAX : name.empty() ? next++ : std::stoul(name);
        if (place < given.list.size()) value = &given.list[place];
        check<BadInput>(value, "format: {{{}}} is not known", name);
        run.add(result, text_of(run, *value));
        at = end;
    }
    return result;
}

}  // namespace

Value text_method(Run& run, const std::string& name, const Value& of, const Arguments& given) {
    const Text& text = *of.text();
    const char* const what = name.c_str();
    const auto one = [&](std::string_view parameter) { return given.by(name, {parameter})[0]; };
    const auto none = [&] { given.by(name, {}); };
    const bool right = name[0] == 'r';
    run.step(text.memory() / 16);
    if (name == "strip" || name == "lstrip" || name == "rstrip")
        return run.text(strip(text, one("chars"), !right, name[0] != 'l'));
    if (name == "startswith" || name == "endswith") return is_at(run, of, given, what, name[0] == 'e');
    if (name == "split" || name == "rsplit") return run.texts(split(run, text, given, right));
    if (name == "partition" || name == "rpartition")
        return run.texts(partition(text, text_in(one("sep"), name), right), ListKind::tuple);
    if (name == "splitlines") return run.texts(lines_of(run, text, is_true(one("keepends"))));
    if (name == "replace") {
        const auto all = given.by(name, {"old", "new", "count"});
        return run.text(replace(run, text, text_in(all[0], name).bytes, text_in(all[1], name),
                                all[2].is_undefined() ? -1 : whole(all[2], name)));
    }
    if (name == "find" || name == "rfind") return place_of(of, given, what, right);
    if (name == "index" || name == "rindex") {
        const std::int64_t place = place_of(of, given, what, right);
        check<BadInput>(place >= 0, "{}: the text is not there", name);
        return place;
    }
    if (name == "count") return count_of(text.bytes, text_in(one("sub"), name).bytes);
    if (name == "join") {
        const Items items = items_of(run, one("iterable"));
        for (const Value& item : items) text_in(item, name);
        return run.text(join(run, *items, text));
    }
    if (name == "removeprefix" || name == "removesuffix") {
        const std::string& end = text_in(one("prefix"), name).bytes;
        const std::size_t n = text.bytes.size(), m = end.size();
        if (name == "removeprefix") return run.text(text.part(text.bytes.starts_with(end) ? m : 0, n));
        return run.text(text.part(0, text.bytes.ends_with(end) ? n - m : n));
    }
    if (name == "format") return run.text(filled(run, text, given));
    if (name == "zfill" || name == "ljust" || name == "rjust" || name == "center")
        return run.text(padded(run, text, given, name));
    none();
    if (name == "upper") return run.text(with_letters(run, text, Letters::upper));
    if (name == "lower") return run.text(with_letters(run, text, Letters::lower));
    if (name == "title") return run.text(titled(run, text, nullptr));
    if (name == "capitalize") return run.text(capitalized(run, text));
    if (name == "isupper") return all_cased(text, UTF8PROC_CATEGORY_LU);
    if (name == "islower") return all_cased(text, UTF8PROC_CATEGORY_LL);
    if (name == "isspace") return !text.bytes.empty() && strip(text, {}).bytes.empty();
    if (name == "isalpha") return all_are(text, is_letter);
    if (name == "isdecimal") return all_are(text, is_decimal);
    if (name == "isdigit" || name == "isnumeric" || name == "isalnum") {
        const bool letters = name == "isalnum";
        return all_are(text, [&](char32_t c) {
            const auto category = utf8proc_category(static_cast<std::int32_t>(c));
            check<BadInput>(category != UTF8PROC_CATEGORY_NO && category != UTF8PROC_CATEGORY_NL,
                            "{} of a number that is no digit is not known", name);
            return is_decimal(c) || (letters && is_letter(c));
        });
    }
    throw BadInput(fmt::format("its method {} is not known", name));
}

}  // namespace inkling::formats::jinja
