// What can be done with the values of Jinja, which are JSON's and one more: what is not defined. All throw BadInput for
// what is not known here.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace inkling::formats {

using JinjaValue = nlohmann::json;

// What an undefined variable is. It is false, and empty as text.
inline JinjaValue undefined() { return JinjaValue(JinjaValue::value_t::discarded); }
bool is_true(const JinjaValue& value);
std::string text_of(const JinjaValue& value);

std::string added(std::string a, const std::string& b);  // up to a limit that no conversation reaches
bool is_less(const JinjaValue& a, const JinjaValue& b);  // of two numbers or two texts
bool contains(const JinjaValue& all, const JinjaValue& one);
JinjaValue item_of(const JinjaValue& of, const JinjaValue& key);
// of[begin:end:step], as in Python, with a step of 1 or -1; each may be undefined.
JinjaValue slice_of(const JinjaValue& of, const JinjaValue& begin, const JinjaValue& end, const JinjaValue& step);

// of | name(given), of.name(given), of is test
JinjaValue jinja_filter(const std::string& name, const JinjaValue& of, const std::vector<JinjaValue>& given);
JinjaValue jinja_method(const std::string& name, const JinjaValue& of, const std::vector<JinjaValue>& given);
bool jinja_test(const std::string& test, const JinjaValue& value);

}  // namespace inkling::formats
