// The filters.
#include <algorithm>
#include <cmath>

#include "formats/ascii.h"
#include "formats/jinja/library.h"

namespace inkling::formats::jinja {

namespace {

// item.a.b for "a.b"
Value attribute_of(Run& run, Value item, const Value& path) {
    if (!path.text()) return item_of(run, item, path);
    const std::string& names = path.text()->bytes;
    for (std::size_t at = 0; at <= names.size();) {
        const std::size_t end = std::min(names.find('.', at), names.size());
        item = item_of(run, item, run.text(Text(names.substr(at, end - at))));
        at = end + 1;
    }
    return item;
}

// The sort key of an item: itself or an attribute, in lower case.
Value key_of(Run& run, const Value& item, const Value& path) {
    const Value key = path.is_undefined() || path.is_none() ? item : attribute_of(run, item, path);
    return key.text() ? run.text(with_letters(run, *key.text(), "lower")) : key;
}

Arguments without_first(const Arguments& given, std::size_t n) {
    return {{given.list.begin() + static_cast<std::ptrdiff_t>(n), given.list.end()}, given.named};
}

// select, reject, selectattr, rejectattr
Value chosen(Run& run, const Value& of, const Arguments& given, bool attribute, bool wanted) {
    check<BadInput>(given.list.size() >= attribute, "selectattr without a name is not supported");
    std::vector<Value> some;
    if (!is_true(of)) return run.list({}, ListKind::generator);
    for (const Value& item : items_of(run, of)) {
        run.step();
        const Value value = attribute ? attribute_of(run, item, given.list[0]) : item;
        const bool is = given.list.size() == attribute ? is_true(value)
                                                       : test(run, text_in(given.list[attribute], "select").bytes,
                                                              value, without_first(given, attribute + 1));
        if (is == wanted) some.push_back(item);
    }
    return run.list(std::move(some), ListKind::generator);
}

Value mapped(Run& run, const Value& of, const Arguments& given) {
    std::vector<Value> all;
    if (!is_true(of)) return run.list({}, ListKind::generator);
    if (given.list.empty()) {
        const Value path = given.by("map", {"attribute"})[0];
        check<BadInput>(!path.is_undefined(), "map without a filter or an attribute is not supported");
        for (const Value& item : items_of(run, of)) all.push_back(attribute_of(run, item, path));
    } else {
        const std::string& name = text_in(given.list[0], "map").bytes;
        const Arguments rest = without_first(given, 1);
        for (const Value& item : items_of(run, of)) all.push_back(filter(run, name, item, rest));
    }
    return run.list(std::move(all), ListKind::generator);
}

Value sorted(Run& run, const std::vector<Value>& items, bool back, const Value& path) {
    std::vector<std::pair<Value, Value>> keyed;
    for (const Value& item : items) keyed.emplace_back(key_of(run, item, path), item);
    run.make(keyed.size() * sizeof(keyed[0]));
    std::stable_sort(keyed.begin(), keyed.end(), [&](const auto& a, const auto& b) {
        return back ? is_less(run, b.first, a.first) : is_less(run, a.first, b.first);
    });
    std::vector<Value> all;
    for (const auto& [key, item] : keyed) all.push_back(item);
    return run.list(std::move(all));
}

Value unique(Run& run, const Value& of, const Value& path) {
    std::vector<Value> keys, some;
    for (const Value& item : items_of(run, of)) {
        const Value key = key_of(run, item, path);
        if (std::any_of(keys.begin(), keys.end(), [&](const Value& k) { return equal(run, k, key); })) continue;
        keys.push_back(key);
        some.push_back(item);
    }
    return run.list(std::move(some), ListKind::generator);
}

Value extreme(Run& run, const Value& of, const Value& path, bool largest) {
    Value best, best_key;
    for (const Value& item : items_of(run, of)) {
        const Value key = key_of(run, item, path);
        if (!best.is_undefined() && !(largest ? is_less(run, best_key, key) : is_less(run, key, best_key))) continue;
        best = item;
        best_key = key;
    }
    return best;
}

Text joined(Run& run, const Value& of, const Arguments& given) {
    const auto all = given.by("join", {"d", "attribute"});
    std::vector<Value> items = items_of(run, of)->items;
    if (!all[1].is_undefined() && !all[1].is_none())
        for (Value& item : items) item = attribute_of(run, item, all[1]);
    return join(run, *run.list(std::move(items)).list(), text_of(run, all[0]));
}

Text indented(Run& run, const Text& text, const Arguments& given) {
    const auto all = given.by("indent", {"width", "first", "blank"});
    const std::int64_t width = all[0].is_undefined() ? 4 : whole(all[0], "indent");
    constexpr std::int64_t kMax = 1000;
    check<BadInput>(width >= 0 && width <= kMax, "indent of more than {} is not supported", kMax);
    const std::string by(static_cast<std::size_t>(width), ' ');
    Text closed = text, result;
    closed.add("\n");  // as Jinja has it, so that the last line is one where it is empty
    bool begins = true;
    for (const Text& line : lines_of(run, closed)) {
        if (!begins) run.add(result, "\n");
        const bool wanted = begins ? is_true(all[1]) : is_true(all[2]) || !line.bytes.empty();
        if (wanted) run.add(result, by);
        run.add(result, line);
        begins = false;
    }
    return result;
}

// Rounds towards zero; 0 for a value that is not a number.
Value to_integer(const Value& value) {
    if (value.is<std::int64_t>()) return value;
    const std::string digits = value.text() ? strip(*value.text(), {}).bytes : "";
    const std::string_view plain = std::string_view(digits).substr(digits.starts_with('+'));
    if (const auto number = parse_number<std::int64_t>(plain)) return *number;
    const double x = value.is_number() ? real(value, "int") : parse_number<double>(plain).value_or(0);
    check<BadInput>(std::abs(x) < 0x1p53, "int of {} is not supported", x);
    return static_cast<std::int64_t>(x);
}

}  // namespace

Value filter(Run& run, const std::string& name, const Value& of, const Arguments& given) {
    const auto inside = run.enter();  // map() has filters in filters
    const auto text = [&] {
        Text all = text_of(run, of);
        run.step(all.memory() / 16);
        return all;
    };
    if (name == "upper" || name == "lower" || name == "capitalize" || name == "replace")
        return text_method(run, name, text(), given);
    if (name == "trim") return run.text(strip(text(), given.by(name, {"chars"})[0]));
    if (name == "tojson") return run.text(json_of(run, of, given));
    if (name == "indent") return run.text(indented(run, text(), given));
    if (name == "format") return run.text(filled(run, text(), "%", given));
    if (name == "default" || name == "d") {
        const auto all = given.by(name, {"default_value", "boolean"});
        const bool there = !of.is_undefined() && (is_true(of) || !is_true(all[1]));
        return there ? of : all[0].is_undefined() ? run.text({}) : all[0];
    }
    if (name == "join") return run.text(joined(run, of, given));
    if (name == "map") return mapped(run, of, given);
    if (name == "select" || name == "reject") return chosen(run, of, given, false, name == "select");
    if (name == "selectattr" || name == "rejectattr") return chosen(run, of, given, true, name == "selectattr");
    if (name == "sort") {
        const auto all = given.by(name, {"reverse", "attribute"});
        return sorted(run, items_of(run, of)->items, is_true(all[0]), all[1]);
    }
    if (name == "unique") return unique(run, of, given.by(name, {"attribute"})[0]);
    if (name == "max" || name == "min") return extreme(run, of, given.by(name, {"attribute"})[0], name == "max");
    given.by(name, {});
    if (name == "length" || name == "count") {
        run.step(of.text() ? of.text()->bytes.size() / 64 : 0);
        return static_cast<std::int64_t>(length_of(of));
    }
    if (name == "first" || name == "last") {
        check<BadInput>(name == "first" || !of.list() || of.list()->kind != ListKind::generator,
                        "the last item of a generator is not supported");
        const auto items = items_of(run, of);
        if (items->items.empty()) return Value();
        return name == "first" ? items->items.front() : items->items.back();
    }
    if (name == "list") return run.list(items_of(run, of)->items);
    if (name == "items") return of.is_undefined() ? run.list({}) : method(run, name, of, given);
    if (name == "dictsort") return sorted(run, method(run, "items", of, {}).list()->items, false, std::int64_t{0});
    if (name == "int") return to_integer(of);
    if (name == "string" || name == "safe") return run.text(text());
    throw BadInput(fmt::format("its filter {} is not supported", name));
}

}  // namespace inkling::formats::jinja
