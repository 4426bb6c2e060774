// Methods, tests and functions by name.
#include "formats/jinja/library.h"

#include <ctime>

namespace inkling::formats::jinja {

Value method(Run& run, const std::string& name, const Value& of, const Arguments& given) {
    if (of.text()) return text_method(run, name, *of.text(), given);
    check<BadInput>(of.map(), "its method {} is not supported", name);
    if (name == "get") {
        const auto all = given.by(name, {"key", "default"});
        const Value found = item_of(run, of, all[0]);
        return !found.is_undefined() ? found : all[1].is_undefined() ? Value(None()) : all[1];
    }
    given.by(name, {});
    check<BadInput>(name == "items" || name == "keys" || name == "values", "its method {} is not supported", name);
    std::vector<Value> all;
    for (const auto& [key, value] : of.map()->items)
        all.push_back(name == "items" ? run.list({key, value}, ListKind::tuple) : name == "keys" ? key : value);
    return run.list(std::move(all), ListKind::view);
}

bool test(Run& run, const std::string& name, const Value& of, const Arguments& given) {
    static const std::map<std::string, const char*> kSigns = {{"eq", "=="},         {"equalto", "=="}, {"ne", "!="},
                                                              {"lt", "<"},          {"lessthan", "<"}, {"gt", ">"},
                                                              {"greaterthan", ">"}, {"le", "<="},      {"ge", ">="}};
    const auto sign = kSigns.find(name);
    if (const Compare compare = comparison(sign == kSigns.end() ? name : sign->second))
        return compare(run, of, given.by(name, {"other"})[0]);
    given.by(name, {});
    const bool indexed = of.text() || of.map() || (of.list() && of.list()->kind <= ListKind::range);
    if (name == "defined") return !of.is_undefined();
    if (name == "undefined") return of.is_undefined();
    if (name == "none") return of.is_none();
    if (name == "string") return of.text();
    if (name == "mapping") return of.map();
    if (name == "sequence") return indexed || of.is_undefined();
    if (name == "iterable") return indexed || of.list() || of.loop() || of.is_undefined();
    if (name == "boolean") return of.is<bool>();
    if (name == "number") return of.is_number();
    if (name == "integer") return of.is<std::int64_t>();
    if (name == "float") return of.is<double>();
    if (name == "true" || name == "false") return of.is<bool>() && std::get<bool>(of) == (name == "true");
    if (name == "odd" || name == "even") return (whole(of, name) % 2 != 0) == (name == "odd");
    throw BadInput(fmt::format("its test '{}' is not supported", name));
}

namespace {

Value range(Run& run, const Arguments& given) {
    const auto all = given.by("range", {"start", "stop", "step"});
    const bool one = all[1].is_undefined();
    const std::int64_t from = one ? 0 : whole(all[0], "range"), to = whole(all[one ? 0 : 1], "range"),
                       by = all[2].is_undefined() ? 1 : whole(all[2], "range");
    constexpr std::int64_t kMost = 100'000;  // as Jinja's sandbox has it
    check<BadInput>(by != 0, "range with the step 0");
    std::vector<Value> numbers;
    for (std::int64_t i = from; by > 0 ? i < to : i > to;) {
        check<BadInput>(static_cast<std::int64_t>(numbers.size()) < kMost, "a range of more than {} numbers", kMost);
        numbers.push_back(i);
        if (__builtin_add_overflow(i, by, &i)) break;
    }
    return run.list(std::move(numbers), ListKind::range);
}

Value make_namespace(Run& run, const Arguments& given) {
    check<BadInput>(given.list.empty(), "namespace with unnamed arguments is not supported");
    Namespace* const space = run.space();
    for (const auto& [name, value] : given.named) space->values[name] = value;
    return space;
}

Value make_map(Run& run, const Arguments& given) {
    check<BadInput>(given.list.empty(), "dict with unnamed arguments is not supported");
    std::vector<std::pair<Value, Value>> items;
    for (const auto& [name, value] : given.named) items.emplace_back(run.text(Text(name)), value);
    return run.map(std::move(items));
}

Value now(Run& run, const Arguments& given) {
    const Value form_given = given.by("strftime_now", {"format"})[0];
    const std::string& form = text_in(form_given, "strftime_now").bytes;
    check<BadInput>(form_given.text()->spans.empty(), "strftime_now with text from a message is not supported");
    const std::time_t time = std::time(nullptr);
    std::tm parts{};
    localtime_r(&time, &parts);
    char text[1000];
    const std::size_t n = std::strftime(text, sizeof text, form.c_str(), &parts);
    check<BadInput>(n > 0 || form.empty(), "the form of strftime_now is not supported");
    return run.text(Text(std::string(text, n)));
}

Value raise(Run& run, const Arguments& given) {
    throw BadInput(text_of(run, given.by("raise_exception", {"message"})[0]).bytes);
}

}  // namespace

Value global(const std::string& name) {
    using Made = Value (*)(Run&, const Arguments&);
    const Made made = name == "range"             ? range
                      : name == "namespace"       ? make_namespace
                      : name == "dict"            ? make_map
                      : name == "strftime_now"    ? now
                      : name == "raise_exception" ? raise
                                                  : nullptr;
    return made ? Value(std::make_shared<const Function>(made)) : Value();
}

}  // namespace inkling::formats::jinja
