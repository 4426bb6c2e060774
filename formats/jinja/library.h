// Shared by the filters and methods of templates.
#pragma once

#include "formats/jinja/run.h"

namespace inkling::formats::jinja {

inline constexpr std::size_t kMaxSought = 1000;  // if the time is the product of both lengths

Text replace(Run& run, const Text& text, const std::string& from, const Text& to, std::int64_t count);  // -1: all
Text strip(const Text& text, const Value& characters, bool left = true, bool right = true);  // undefined: white space
Text with_letters(Run& run, const Text& text, Letters to);
Text capitalized(Run& run, const Text& text);
// Capitalizes each word: words begin after a non-letter, or after one of those characters.
Text titled(Run& run, const Text& text, bool (*begins_behind)(char32_t));
Text join(Run& run, const List& items, const Text& by);
Text formatted(Run& run, const Text& form, const Arguments& given);  // as Python's %
std::vector<Text> lines_of(Run& run, const Text& text, bool keep_ends);
std::vector<Text> split(Run& run, const Text& text, const Arguments& given, bool from_right);
std::vector<Text> partition(const Text& text, const Text& by, bool from_right);

Value text_method(Run& run, const std::string& name, const Value& of, const Arguments& given);
// null for an unknown filter
std::optional<Value> text_filter(Run& run, const std::string& name, const Value& of, const Arguments& given);
std::optional<Value> list_filter(Run& run, const std::string& name, const Value& of, const Arguments& given);

}  // namespace inkling::formats::jinja
