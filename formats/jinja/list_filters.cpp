// The filters of lists and maps.
#include <algorithm>

#include "formats/jinja/library.h"

namespace inkling::formats::jinja {

namespace {

// item.a.0.b for "a.0.b"
Value attribute_of(Run& run, Value item, const Value& path, const Value& otherwise = {}) {
    if (!path.text()) return item_of(run, item, path);
    const std::string& names = path.text()->bytes;
    for (std::size_t at = 0; at <= names.size();) {
        const std::size_t end = std::min(names.find('.', at), names.size());
        const std::string name = names.substr(at, end - at);
        const bool number = !name.empty() && name.size() < 10 && std::all_of(name.begin(), name.end(), ::isdigit);
        item = item_of(run, item, number ? Value(std::int64_t{std::stoi(name)}) : run.text(Text(name)));
        if (item.is_undefined() && !otherwise.is_undefined()) item = otherwise;
        at = end + 1;
    }
    return item;
}

// The sort key of an item: itself or an attribute, in lower case unless case matters.
Value key_of(Run& run, const Value& item, const Value& path, const Value& case_sensitive) {
    const Value key = path.is_undefined() || path.is_none() ? item : attribute_of(run, item, path);
    return key.text() && !is_true(case_sensitive) ? run.text(with_letters(run, *key.text(), Letters::lower)) : key;
}

Arguments without_first(const Arguments& given, std::size_t n) {
    return {{given.list.begin() + static_cast<std::ptrdiff_t>(n), given.list.end()}, given.named};
}

// select, reject, selectattr, rejectattr
Value chosen(Run& run, const Value& of, const Arguments& given, bool attribute, bool wanted) {
    check<BadInput>(given.list.size() >= attribute, "selectattr without a name is not known");
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
        const auto by = given.by("map", {"", "attribute", "default"});
        check<BadInput>(!by[1].is_undefined(), "map without a filter or an attribute is not known");
        for (const Value& item : items_of(run, of)) all.push_back(attribute_of(run, item, by[1], by[2]));
    } else {
        const std::string& name = text_in(given.list[0], "map").bytes;
        const Arguments rest = without_first(given, 1);
        for (const Value& item : items_of(run, of)) all.push_back(filter(run, name, item, rest));
    }
    return run.list(std::move(all), ListKind::generator);
}

std::vector<Value> sorted(Run& run, std::vector<Value> items, const Value& reverse, const Value& case_sensitive,
                          const Value& path) {
    std::vector<std::pair<Value, Value>> keyed;
    for (const Value& item : items) keyed.emplace_back(key_of(run, item, path, case_sensitive), item);
    run.make(keyed.size() * sizeof(keyed[0]));
    const bool back = is_true(reverse);
    std::stable_sort(keyed.begin(), keyed.end(), [&](const auto& a, const auto& b) {
        return back ? is_less(run, b.first, a.first) : is_less(run, a.first, b.first);
    });
    for (std::size_t i = 0; i < items.size(); ++i) items[i] = keyed[i].second;
    return items;
}

Value dictsorted(Run& run, const Value& of, const Arguments& given) {
    const auto all = given.by("dictsort", {"case_sensitive", "by", "reverse"});
    const bool by_value = all[1].text() && all[1].text()->bytes == "value";
    check<BadInput>(of.map(), "dictsort wants a map");
    std::vector<Value> pairs;
    for (const auto& [key, value] : of.map()->items) pairs.push_back(run.list({key, value}, ListKind::tuple));
    return run.list(sorted(run, std::move(pairs), all[2], all[0], std::int64_t{by_value}));
}

Value unique(Run& run, const Value& of, const Arguments& given) {
    const auto all = given.by("unique", {"case_sensitive", "attribute"});
    std::vector<Value> keys, some;
    for (const Value& item : items_of(run, of)) {
        const Value key = key_of(run, item, all[1], all[0]);
        if (std::any_of(keys.begin(), keys.end(), [&](const Value& k) { return equal(run, k, key); })) continue;
        keys.push_back(key);
        some.push_back(item);
    }
    return run.list(std::move(some), ListKind::generator);
}

Value extreme(Run& run, const std::string& name, const Value& of, const Arguments& given) {
    const auto all = given.by(name, {"case_sensitive", "attribute"});
    Value best, best_key;
    for (const Value& item : items_of(run, of)) {
        const Value key = key_of(run, item, all[1], all[0]);
        if (!best.is_undefined() && !(name == "max" ? is_less(run, best_key, key) : is_less(run, key, best_key)))
            continue;
        best = item;
        best_key = key;
    }
    return best;
}

Value summed(Run& run, const Value& of, const Arguments& given) {
    const auto all = given.by("sum", {"attribute", "start"});
    Value total = all[1].is_undefined() ? Value(std::int64_t{0}) : all[1];
    for (const Value& item : items_of(run, of))
        total = operate(run, "+", total,
                        all[0].is_undefined() || all[0].is_none() ? item : attribute_of(run, item, all[0]));
    return total;
}

Value reversed(Run& run, const Value& of) {
    const std::int64_t back = -1;
    if (of.text()) return slice_of(run, of, {}, {}, back);
    const Value list = run.list(items_of(run, of)->items);
    return run.list(slice_of(run, list, {}, {}, back).list()->items, ListKind::generator);
}

Value joined(Run& run, const Value& of, const Arguments& given) {
    const auto all = given.by("join", {"d", "attribute"});
    auto items = items_of(run, of);
    if (!all[1].is_undefined() && !all[1].is_none()) {
        std::vector<Value> some;
        for (const Value& item : items->items) some.push_back(attribute_of(run, item, all[1]));
        return run.text(join(run, *run.list(std::move(some)).list(), text_of(run, all[0])));
    }
    return run.text(join(run, *items, text_of(run, all[0])));
}

}  // namespace

std::optional<Value> list_filter(Run& run, const std::string& name, const Value& of, const Arguments& given) {
    const auto none = [&] { given.by(name, {}); };
    if (name == "length" || name == "count") {
        none();
        run.step(of.text() ? of.text()->bytes.size() / 64 : 0);
        return static_cast<std::int64_t>(length_of(of));
    }
    if (name == "default" || name == "d") {
        const auto all = given.by(name, {"default_value", "boolean"});
        const bool there = !of.is_undefined() && (is_true(of) || !is_true(all[1]));
        return there ? of : all[0].is_undefined() ? run.text({}) : all[0];
    }
    if (name == "first" || name == "last") {
        none();
        check<BadInput>(name == "first" || !of.list() || of.list()->kind != ListKind::generator,
                        "the last of what can be walked once is not known");
        const auto items = items_of(run, of);
        if (items->items.empty()) return Value();
        return name == "first" ? items->items.front() : items->items.back();
    }
    if (name == "list") return none(), run.list(items_of(run, of)->items);
    if (name == "join") return joined(run, of, given);
    if (name == "items") {
        none();
        return of.is_undefined() ? run.list({}) : method(run, name, of, given);
    }
    if (name == "map") return mapped(run, of, given);
    if (name == "select" || name == "reject") return chosen(run, of, given, false, name == "select");
    if (name == "selectattr" || name == "rejectattr") return chosen(run, of, given, true, name == "selectattr");
    if (name == "reverse") return none(), reversed(run, of);
    if (name == "sort") {
        const auto all = given.by(name, {"reverse", "case_sensitive", "attribute"});
        return run.list(sorted(run, items_of(run, of)->items, all[0], all[1], all[2]));
    }
    if (name == "dictsort") return dictsorted(run, of, given);
    if (name == "unique") return unique(run, of, given);
    if (name == "max" || name == "min") return extreme(run, name, of, given);
    if (name == "sum") return summed(run, of, given);
    return std::nullopt;
}

}  // namespace inkling::formats::jinja
