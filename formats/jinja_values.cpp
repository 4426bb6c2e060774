#include "formats/jinja_values.h"

#include <fmt/core.h>
#include <utf8proc.h>

#include <algorithm>

#include "engine/check.h"
#include "formats/jinja.h"
#include "formats/utf8.h"

namespace inkling::formats {

namespace {

bool is_python_space(char32_t c) {
    return (c >= 9 && c <= 13) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

const std::string& text_in(const JinjaValue& value, const char* what) {
    check<BadInput>(value.is_string(), "{} wants a text", what);
    return value.get_ref<const std::string&>();
}

// Letter for letter, where Python writes two for a few: the capital of German's sharp s is one letter here.
std::string changed(const std::string& text, std::int32_t (*change)(std::int32_t)) {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        const char32_t c = next_code_point(text, at);
        check<BadInput>(c != invalid_code_point, "a text that is no UTF-8");
        append_utf8(result, static_cast<char32_t>(change(static_cast<std::int32_t>(c))));
    }
    return result;
}

JinjaValue length_of(const JinjaValue& value) {
    if (!value.is_string()) return value.size();
    const std::string& text = value.get_ref<const std::string&>();
    return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

JinjaValue split(const std::string& text, const std::string& by) {
    check<BadInput>(!by.empty(), "split('') is not known");
    JinjaValue parts = JinjaValue::array();
    for (std::size_t begin = 0;;) {
        const std::size_t end = text.find(by, begin);
        parts.push_back(text.substr(begin, end - begin));
        if (end == std::string::npos) return parts;
        begin = end + by.size();
    }
}

}  // namespace

std::string_view python_strip(std::string_view text, bool left, bool right) {
    while (left && !text.empty()) {
        std::size_t end = 0;
        if (!is_python_space(next_code_point(text, end))) break;
        text.remove_prefix(end);
    }
    while (right && !text.empty()) {
        std::size_t begin = text.size() - 1, end = 0;
        while (begin > 0 && (text[begin] & 0xC0) == 0x80) --begin;
        if (!is_python_space(next_code_point(text.substr(begin), end))) break;
        text.remove_suffix(text.size() - begin);
    }
    return text;
}

bool is_true(const JinjaValue& value) {
    if (value.is_discarded() || value.is_null()) return false;
    if (value.is_boolean()) return value.get<bool>();
    if (value.is_number()) return value.get<double>() != 0;
    return value.is_string() ? !value.get_ref<const std::string&>().empty() : !value.empty();
}

std::string text_of(const JinjaValue& value) {
    if (value.is_discarded()) return "";
    if (value.is_string()) return value.get<std::string>();
    if (value.is_null()) return "None";
    if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
    check<BadInput>(value.is_number(), "the text of a list or mapping is not known");
    return value.dump();
}

std::string added(std::string a, const std::string& b) {
    constexpr std::size_t kMax = 256 << 20;
    check<BadInput>(a.size() + b.size() <= kMax, "it makes a text of more than {} MB", kMax >> 20);
    return a += b;
}

bool is_less(const JinjaValue& a, const JinjaValue& b) {
    check<BadInput>((a.is_number() && b.is_number()) || (a.is_string() && b.is_string()),
                    "it compares what are neither two numbers nor two texts");
    return a < b;
}

bool contains(const JinjaValue& all, const JinjaValue& one) {
    if (all.is_string()) return one.is_string() && text_in(all, "in").find(text_in(one, "in")) != std::string::npos;
    if (all.is_object()) return one.is_string() && all.contains(one.get<std::string>());
    return std::find(all.begin(), all.end(), one) != all.end();
}

JinjaValue item_of(const JinjaValue& of, const JinjaValue& key) {
    check<BadInput>(!of.is_discarded(), "'{}' of what is not defined", text_of(key));
    if (of.is_object()) {
        if (!key.is_string() || !of.contains(key.get<std::string>())) return undefined();
        return of[key.get<std::string>()];
    }
    if (!of.is_array() || !key.is_number_integer()) return undefined();
    auto i = key.get<std::int64_t>();
    const auto n = static_cast<std::int64_t>(of.size());
    if (i < 0) i += n;
    return i >= 0 && i < n ? of[static_cast<std::size_t>(i)] : undefined();
}

// of[begin:end:step], as in Python, with a step of 1 or -1.
JinjaValue slice_of(const JinjaValue& of, const JinjaValue& begin, const JinjaValue& end, const JinjaValue& step) {
    check<BadInput>(of.is_array(), "slices of what is no list are not known");
    const bool back = step.is_number() && step == JinjaValue(-1);
    check<BadInput>(back || step.is_discarded() || step == JinjaValue(1),
                    "slices with other steps than 1 and -1 are unknown");
    const auto n = static_cast<std::int64_t>(of.size());
    const auto place = [&](const JinjaValue& at, std::int64_t otherwise) {
        if (!at.is_number_integer()) return otherwise;
        const auto i = at.get<std::int64_t>();
        return std::clamp<std::int64_t>(i < 0 ? i + n : i, back ? -1 : 0, back ? n - 1 : n);
    };
    JinjaValue part = JinjaValue::array();
    if (back) {
        for (std::int64_t i = place(begin, n - 1); i > place(end, -1); --i)
            part.push_back(of[static_cast<std::size_t>(i)]);
    } else {
        for (std::int64_t i = place(begin, 0); i < place(end, n); ++i) part.push_back(of[static_cast<std::size_t>(i)]);
    }
    return part;
}

JinjaValue jinja_filter(const std::string& name, const JinjaValue& of, const std::vector<JinjaValue>& given) {
    const auto text = [&] { return text_of(of); };
    if (name == "trim" && given.empty()) return std::string(python_strip(text()));
    if (name == "length" || name == "count") return length_of(of);
    if (name == "upper") return changed(text(), utf8proc_toupper);
    if (name == "lower") return changed(text(), utf8proc_tolower);
    if (name == "string" || name == "safe") return text();
    if (name == "default" || name == "d") return of.is_discarded() && !given.empty() ? given[0] : of;
    if (name == "first") return item_of(of, 0);
    if (name == "last") return item_of(of, -1);
    if (name == "list" && of.is_array()) return of;
    throw BadInput(fmt::format("its filter {} is not known", name));
}

JinjaValue jinja_method(const std::string& name, const JinjaValue& of, const std::vector<JinjaValue>& given) {
    const auto text = [&]() -> const std::string& { return text_in(of, name.c_str()); };
    const auto argument = [&]() -> const std::string& {
        check<BadInput>(given.size() == 1, "{} with {} arguments is not known", name, given.size());
        return text_in(given[0], name.c_str());
    };
    if (given.empty() && (name == "strip" || name == "lstrip" || name == "rstrip"))
        return std::string(python_strip(text(), name != "rstrip", name != "lstrip"));
    if (name == "startswith") return text().starts_with(argument());
    if (name == "endswith") return text().ends_with(argument());
    if (name == "split") return split(text(), argument());
    if (name == "upper") return changed(text(), utf8proc_toupper);
    if (name == "lower") return changed(text(), utf8proc_tolower);
    if (name == "get" && of.is_object() && !given.empty()) {
        const JinjaValue found = item_of(of, given[0]);
        return !found.is_discarded() ? found : given.size() > 1 ? given[1] : JinjaValue();
    }
    throw BadInput(fmt::format("its method {} is not known", name));
}

bool jinja_test(const std::string& test, const JinjaValue& value) {
    if (test == "defined") return !value.is_discarded();
    if (test == "undefined") return value.is_discarded();
    if (test == "none") return value.is_null();
    if (test == "string") return value.is_string();
    if (test == "mapping") return value.is_object();
    if (test == "iterable" || test == "sequence") return value.is_string() || value.is_structured();
    if (test == "boolean") return value.is_boolean();
    if (test == "number") return value.is_number();
    if (test == "true" || test == "false") return value.is_boolean() && value.get<bool>() == (test == "true");
    throw BadInput(fmt::format("its test '{}' is not known", test));
}

}  // namespace inkling::formats
