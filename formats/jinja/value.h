// The values of a template: the Python values that Jinja's expressions can make. They are shared and immutable, except
// namespaces, which the Run owns.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "formats/jinja/text.h"

namespace inkling::formats::jinja {

class Run;
struct Value;
struct List;
struct Map;
struct Loop;
struct Arguments;
struct Namespace;

struct Undefined {};  // false; empty as text
struct None {};
using Function = std::function<Value(Run&, const Arguments&)>;

using Variant =
    std::variant<Undefined, None, bool, std::int64_t, double, std::shared_ptr<const Text>, std::shared_ptr<const List>,
                 std::shared_ptr<const Map>, std::shared_ptr<const Loop>, Namespace*, std::shared_ptr<const Function>>;

struct Value : Variant {
    using Variant::Variant;

    bool is_undefined() const { return std::holds_alternative<Undefined>(*this); }
    bool is_none() const { return std::holds_alternative<None>(*this); }
    bool is_number() const { return is<bool>() || is<std::int64_t>() || is<double>(); }
    template <class T>
    bool is() const {
        return std::holds_alternative<T>(*this);
    }
    // null for another kind of value
    const Text* text() const { return of<Text>(); }
    const List* list() const { return of<List>(); }
    const Map* map() const { return of<Map>(); }
    const Loop* loop() const { return of<Loop>(); }
    const Function* function() const { return of<Function>(); }

  private:
    template <class T>
    const T* of() const {
        const auto* const p = std::get_if<std::shared_ptr<const T>>(this);
        return p ? p->get() : nullptr;
    }
};

// Views are the results of range(), items() and the like; only range has an index. Generators are walked once.
enum class ListKind { list, tuple, range, view, generator };

struct List {
    std::vector<Value> items;
    ListKind kind = ListKind::list;
    std::size_t depth = 1;
    mutable bool walked = false;
};

// Holds a list while it is walked: for (const Value& item : items_of(run, value))
struct Items : std::shared_ptr<const List> {
    auto begin() const { return (*this)->items.begin(); }
    auto end() const { return (*this)->items.end(); }
};

struct Map {
    std::vector<std::pair<Value, Value>> items;  // in insertion order
    std::size_t depth = 1;
};

struct Namespace {
    std::map<std::string, Value> values;
};

// The variable `loop` inside a for.
struct Loop {
    std::shared_ptr<const List> items;
    mutable std::size_t index = 0;
    std::size_t depth = 1;
};

struct Arguments {
    std::vector<Value> list;
    std::vector<std::pair<std::string, Value>> named;
    // In the order of `names`; missing ones are undefined. Throws BadInput for other names.
    std::vector<Value> by(std::string_view what, const std::vector<std::string_view>& names) const;
};

bool is_true(const Value& value);
bool equal(Run& run, const Value& a, const Value& b);
bool is_less(Run& run, const Value& a, const Value& b);
bool contains(Run& run, const Value& all, const Value& one);

// a < b and the like, by their sign; null for another text.
using Compare = bool (*)(Run& run, const Value& a, const Value& b);
Compare comparison(std::string_view sign);

// of[key], or of.key for a name. Undefined if missing.
Value item_of(Run& run, const Value& of, const Value& key);
// of[begin:end:step], as in Python; each may be undefined.
Value slice_of(Run& run, const Value& of, const Value& begin, const Value& end, const Value& step);
// The items of a list, the keys of a map, the characters of a text. Throws BadInput for other values.
Items items_of(Run& run, const Value& value);
std::size_t length_of(const Value& value);

// Converts to a number or a text, or throws BadInput with the name of the operation.
// a + b and the like
Value operate(Run& run, std::string_view sign, const Value& a, const Value& b);

std::int64_t whole(const Value& value, std::string_view what);
const Text& text_in(const Value& value, std::string_view what);
double real(const Value& value, std::string_view what);

Text text_of(Run& run, const Value& value);  // Python's str()
Text json_of(Run& run, const Value& value, const Arguments& given);

// The source of the texts below a key of the outermost object, or of all others for ""; -1: the template.
using SourceOfKey = std::function<std::int32_t(std::string_view key)>;
// Throws BadInput for what Python writes beyond JSON, and for deep nesting.
Value from_json(Run& run, const nlohmann::json& json, const SourceOfKey& source_of);

// of | name(given), of.name(given), of is name(given); and the names that every template has
Value filter(Run& run, const std::string& name, const Value& of, const Arguments& given);
Value method(Run& run, const std::string& name, const Value& of, const Arguments& given);
bool test(Run& run, const std::string& name, const Value& of, const Arguments& given);
Value global(const std::string& name);

}  // namespace inkling::formats::jinja
