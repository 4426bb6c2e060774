// The part of Jinja in which chat templates are written: text with {{ expressions }} and {% for %}, {% if %}, {% set
// %}, rendered as transformers does (trim_blocks and lstrip_blocks are on).
//   const Jinja greeting("{% for n in names %}Hello {{ n | trim }}!{% endfor %}");
//   greeting.render({{"names", {"Rosa ", "Otto"}}});     // "Hello Rosa!Hello Otto!"
// Throws BadInput for what it does not know: statements at once, filters, functions and methods where they are reached,
// so that a template may have parts that are never used. raise_exception() throws BadInput with its text.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace inkling::formats {

// Without the white space at its ends, as str.strip() of Python.
std::string_view python_strip(std::string_view text, bool left = true, bool right = true);

class Jinja {
  public:
    explicit Jinja(const std::string& text);
    std::string render(const nlohmann::json& variables) const;  // an object

    struct Block;  // statements and texts, in order

  private:
    std::shared_ptr<const Block> block_;
};

}  // namespace inkling::formats
