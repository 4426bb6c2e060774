#include "formats/jinja/value.h"

#include <algorithm>

#include "formats/jinja/run.h"

namespace inkling::formats::jinja {

std::vector<Value> Arguments::by(std::string_view what, const std::vector<std::string_view>& names) const {
    check<BadInput>(list.size() <= names.size(), "{} with {} arguments is not supported", what, list.size());
    std::vector<Value> all = list;
    all.resize(names.size());
    for (const auto& [name, value] : named) {
        const auto place = std::find(names.begin(), names.end(), name) - names.begin();
        check<BadInput>(
            place < static_cast<std::ptrdiff_t>(names.size()) && all[static_cast<std::size_t>(place)].is_undefined(),
            "{} with the argument {} is not supported", what, name);
        all[static_cast<std::size_t>(place)] = value;
    }
    return all;
}

bool is_true(const Value& value) {
    if (value.is_undefined() || value.is_none()) return false;
    if (const auto* const b = std::get_if<bool>(&value)) return *b;
    if (const auto* const i = std::get_if<std::int64_t>(&value)) return *i != 0;
    if (const auto* const d = std::get_if<double>(&value)) return *d != 0;
    if (const Text* const t = value.text()) return !t->bytes.empty();
    if (const List* const l = value.list()) return l->kind == ListKind::generator || !l->items.empty();
    return !value.map() || !value.map()->items.empty();
}

namespace {

std::int64_t integer(const Value& value) {
    const auto* const b = std::get_if<bool>(&value);
    return b ? *b : std::get<std::int64_t>(value);
}

}  // namespace

double real(const Value& value, std::string_view what) {
    check<BadInput>(value.is_number(), "{} wants a number", what);
    const auto* const d = std::get_if<double>(&value);
    return d ? *d : static_cast<double>(integer(value));
}

std::int64_t whole(const Value& value, std::string_view what) {
    check<BadInput>(value.is_number() && !value.is<double>(), "{} wants a whole number", what);
    return integer(value);
}

const Text& text_in(const Value& value, std::string_view what) {
    check<BadInput>(value.text(), "{} wants a text", what);
    return *value.text();
}

bool equal(Run& run, const Value& a, const Value& b) {
    run.step();
    if (a.is_number() && b.is_number()) {
        if (a.is<double>() || b.is<double>()) return real(a, "==") == real(b, "==");
        return integer(a) == integer(b);
    }
    if (a.index() != b.index()) return false;
    if (const Text* const x = a.text()) {
        run.step(x->bytes.size() / 64);
        return x->bytes == b.text()->bytes;
    }
    if (const List* const x = a.list()) {
        const List* const y = b.list();
        check<BadInput>(std::max(x->kind, y->kind) <= ListKind::tuple, "it compares generators");
        return x->kind == y->kind &&
               std::equal(x->items.begin(), x->items.end(), y->items.begin(), y->items.end(),
                          [&](const Value& one, const Value& other) { return equal(run, one, other); });
    }
    if (const Map* const x = a.map()) {
        return x->items.size() == b.map()->items.size() &&
               std::all_of(x->items.begin(), x->items.end(), [&](const auto& item) {
                   const Value other = item_of(run, b, item.first);
                   return !other.is_undefined() && equal(run, item.second, other);
               });
    }
    if (const auto* const space = std::get_if<Namespace*>(&a)) return *space == std::get<Namespace*>(b);
    check<BadInput>(a.is_none() || a.is_undefined(), "it compares an undefined value");
    return true;
}

bool is_less(Run& run, const Value& a, const Value& b) {
    run.step();
    if (a.is_number() && b.is_number()) {
        if (a.is<double>() || b.is<double>()) return real(a, "<") < real(b, "<");
        return integer(a) < integer(b);
    }
    check<BadInput>(a.text() && b.text(), "it compares values that are neither two numbers nor two texts");
    run.step(a.text()->bytes.size() / 64);
    return a.text()->bytes < b.text()->bytes;
}

bool contains(Run& run, const Value& all, const Value& one) {
    if (const Text* const text = all.text()) {
        run.step(text->bytes.size() / 16);
        return find_in(text->bytes, text_in(one, "in").bytes) != std::string::npos;
    }
    if (all.map()) return !item_of(run, all, one).is_undefined();
    const Items items = items_of(run, all);
    return std::any_of(items.begin(), items.end(), [&](const Value& v) { return equal(run, v, one); });
}

namespace {

Value loop_value(const Loop& loop, const std::string& name) {
    const auto& all = loop.items->items;
    const std::size_t i = loop.index, n = all.size();
    const auto number = [](std::size_t x) { return Value(static_cast<std::int64_t>(x)); };
    if (name == "index") return number(i + 1);
    if (name == "index0") return number(i);
    if (name == "first") return i == 0;
    if (name == "last") return i + 1 == n;
    if (name == "length") return number(n);
    if (name == "revindex") return number(n - i);
    if (name == "revindex0") return number(n - i - 1);
    if (name == "previtem") return i > 0 ? all[i - 1] : Value();
    if (name == "nextitem") return i + 1 < n ? all[i + 1] : Value();
    throw BadInput(fmt::format("loop.{} is not supported", name));
}

}  // namespace

Value item_of(Run& run, const Value& of, const Value& key) {
    if (of.is_undefined()) throw BadInput(fmt::format("'{}' of an undefined value", text_of(run, key).bytes));
    if (const Map* const map = of.map()) {
        run.step(map->items.size() / 8);
        for (const auto& [k, v] : map->items)
            if (k.text() && key.text() ? k.text()->bytes == key.text()->bytes : equal(run, k, key)) return v;
        return {};
    }
    if (const auto* const space = std::get_if<Namespace*>(&of)) {
        const auto found = (*space)->values.find(text_in(key, "a namespace").bytes);
        return found == (*space)->values.end() ? Value() : found->second;
    }
    if (of.loop() && key.text()) return loop_value(*of.loop(), key.text()->bytes);
    if (!key.is<std::int64_t>() && !key.is<bool>()) return {};
    if (const List* const list = of.list(); list && list->kind <= ListKind::range) {
        const auto n = static_cast<std::int64_t>(list->items.size()), i = integer(key) + (integer(key) < 0 ? n : 0);
        return i >= 0 && i < n ? list->items[static_cast<std::size_t>(i)] : Value();
    }
    if (!of.text()) return {};
    const auto next = integer(key) + 1;
    const Value one = slice_of(run, of, key, next == 0 ? Value() : Value(next), {});
    return is_true(one) ? one : Value();
}

Value slice_of(Run& run, const Value& of, const Value& begin, const Value& end, const Value& step) {
    const Text* const text = of.text();
    const List* const list = of.list();
    check<BadInput>(text || (list && list->kind <= ListKind::range), "it slices neither a list nor a text");
    const auto given = [](const Value& v) { return !v.is_undefined() && !v.is_none(); };
    const std::int64_t by = given(step) ? whole(step, "a slice") : 1;
    check<BadInput>(by != 0, "a slice with the step 0");
    std::vector<std::size_t> places;
    if (text) {
        run.make(text->bytes.size() * sizeof(places[0]));
        places = character_places(text->bytes);
    }
    const auto n = static_cast<std::int64_t>(text ? places.size() - 1 : list->items.size());
    const auto place = [&](const Value& at, std::int64_t otherwise) {
        if (!given(at)) return otherwise;
        const std::int64_t i = whole(at, "a slice");
        return std::clamp<std::int64_t>(i < 0 ? i + n : i, by < 0 ? -1 : 0, by < 0 ? n - 1 : n);
    };
    const std::int64_t from = place(begin, by < 0 ? n - 1 : 0), to = place(end, by < 0 ? -1 : n);
    const auto at = [&](std::int64_t i) { return places[static_cast<std::size_t>(i)]; };
    if (text && by == 1) return run.text(text->part(at(from), at(std::max(from, to))));
    Text characters;
    std::vector<Value> items;
    // the step may be larger than all numbers of places
    for (std::int64_t i = from; by < 0 ? i > to : i < to; i += std::clamp(by, -n - 1, n + 1)) {
        if (text)
            run.add(characters, run.part(*text, at(i), at(i + 1)));
        else
            items.push_back(list->items[static_cast<std::size_t>(i)]);
    }
    return text ? run.text(std::move(characters)) : run.list(std::move(items), list->kind);
}

Items items_of(Run& run, const Value& value) {
    std::vector<Value> items;
    if (const auto* const list = std::get_if<std::shared_ptr<const List>>(&value)) {
        check<BadInput>(!(*list)->walked, "it reads a generator twice");
        (*list)->walked = (*list)->kind == ListKind::generator;
        return {*list};
    }
    if (const Map* const map = value.map()) {
        for (const auto& item : map->items) items.push_back(item.first);
    } else if (const Text* const text = value.text()) {
        run.make(text->bytes.size() * (sizeof(std::size_t) + sizeof(Value)));
        const auto places = character_places(text->bytes);
        for (std::size_t i = 0; i + 1 < places.size(); ++i)
            items.push_back(run.text(run.part(*text, places[i], places[i + 1])));
    } else {
        check<BadInput>(value.is_undefined(), "it loops over a value that is not a list");
    }
    return {std::get<std::shared_ptr<const List>>(run.list(std::move(items)))};
}

std::size_t length_of(const Value& value) {
    if (const Text* const text = value.text()) return count_characters(text->bytes);
    if (const Map* const map = value.map()) return map->items.size();
    if (value.is_undefined()) return 0;
    check<BadInput>(value.list() && value.list()->kind != ListKind::generator, "it takes a length that is undefined");
    return value.list()->items.size();
}

}  // namespace inkling::formats::jinja
