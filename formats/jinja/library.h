// Shared by the filters, methods and tests of templates.
#pragma once

#include "formats/jinja/run.h"

namespace inkling::formats::jinja {

// text.name(given), as Python's
Value text_method(Run& run, const std::string& name, const Text& text, const Arguments& given);

// A form whose places hold the given values: {} for the signs "{}", %s and %d for "%".
Text filled(Run& run, const Text& form, std::string_view signs, const Arguments& given);
Text strip(const Text& text, const Value& characters, bool left = true, bool right = true);  // undefined: white space
Text join(Run& run, const List& items, const Text& by);
std::vector<Text> lines_of(Run& run, const Text& text);
Text with_letters(Run& run, const Text& text, std::string_view how);  // "upper", "lower", "title", "capitalize"

}  // namespace inkling::formats::jinja
