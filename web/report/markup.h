// Escapes text for markup.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace inkling::web {

// For the text and the quoted attributes of HTML and SVG. What XML cannot hold becomes U+FFFD: control characters, and
// bytes that are not UTF-8.
std::string escape_markup(std::string_view text);

// For the inside of <script>, where "</script" and "<!--" have a meaning even within strings. ASCII output; bytes that
// are not UTF-8 become U+FFFD.
std::string for_script(const nlohmann::ordered_json& json);

// Replaces each {{name}} of the template, once: values are not expanded again.
std::string fill(std::string_view page, const std::vector<std::pair<std::string_view, std::string>>& parts);

}  // namespace inkling::web
