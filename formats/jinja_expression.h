// The expressions of Jinja, as functions of the variables in sight; jinja.h has the statements around them.
//   JinjaParser parser("message['role'] == 'user' and not loop.last");
//   const JinjaExpression e = parser.expression();
//   parser.end();
//   if (is_true(e(scope))) ...
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/jinja_values.h"

namespace inkling::formats {

// Variables by name. What a for loop sets is gone after each turn.
class JinjaScope {
  public:
    explicit JinjaScope(JinjaValue variables) : frames_{std::move(variables)} {}
    JinjaValue* find(const std::string& name);  // null: there is none
    void set(const std::string& name, JinjaValue value) { frames_.back()[name] = std::move(value); }
    void open() { frames_.push_back(JinjaValue::object()); }
    void close() { frames_.pop_back(); }

  private:
    std::vector<JinjaValue> frames_;
};

using JinjaExpression = std::function<JinjaValue(JinjaScope&)>;

class JinjaParser {
  public:
    explicit JinjaParser(std::string_view source);

    JinjaExpression expression();
    bool take(std::string_view word);    // whether this name or sign comes next, which it then passes
    void expect(std::string_view word);  // throws BadInput where it does not
    std::string name();
    void end();

  private:
    struct Token {
        enum class Kind { name, text, number, sign, end } kind;
        std::string value;
    };
    const Token& next() const { return tokens_[at_]; }
    JinjaExpression either(), both(), negated(), compared(), sum(), joined(), product(), signed_value(), value(),
        postfix(JinjaExpression of), attribute(JinjaExpression of), filtered(JinjaExpression of),
        tested(JinjaExpression of), item(JinjaExpression of), call(const std::string&function), list();
    std::vector<std::pair<std::string, JinjaExpression>> arguments();

    std::vector<Token> tokens_;
    std::size_t at_ = 0, depth_ = 0;
};

}  // namespace inkling::formats
