// The expressions of a template, as functions of a Run; template.h has the statements around them.
//   ExpressionParser parser(tokens, program);           // of message['role'] == 'user' and not loop.last
//   const Expression e = parser.expression();
//   parser.end();
//   if (is_true(e(run))) ...
#pragma once

#include <deque>

#include "formats/jinja/run.h"
#include "formats/jinja/tokens.h"

namespace inkling::formats::jinja {

using Body = std::function<Value(Run&)>;

// A Body that a Program owns.
class Expression {
  public:
    Expression() = default;
    explicit Expression(const Body& body) : body_(&body) {}
    explicit operator bool() const { return body_ != nullptr; }
    Value operator()(Run& run) const {
        const auto inside = run.enter();
        return (*body_)(run);
    }

  private:
    const Body* body_ = nullptr;
};

enum class Flow { on, next, stop };  // next, stop: continue and break of the loop around

struct Block {
    std::vector<std::function<Flow(Run&)>> statements;
    Flow operator()(Run& run) const {
        const auto inside = run.enter();
        for (const auto& statement : statements)
            if (const Flow flow = statement(run); flow != Flow::on) return flow;
        return Flow::on;
    }
};

// Owns the parts of a template in one list, so that no recursion is as deep as the template is long.
struct Program {
    std::deque<Body> bodies;
    std::deque<Block> blocks;
    std::deque<std::string> names;

    Expression add(Body body) { return Expression(bodies.emplace_back(std::move(body))); }
    Block* block() { return &blocks.emplace_back(); }
    std::string_view name(std::string name) { return names.emplace_back(std::move(name)); }
};

struct CallArguments {
    std::vector<std::pair<std::string, Expression>> list;  // by name; "": positional
    Arguments operator()(Run& run) const;
};

// The target of `set` and `for`: a name, an attribute of a namespace, or several of these.
struct Target {
    std::string_view name, attribute;
    std::vector<Target> several;
    void set(Run& run, const Value& value) const;
};

class ExpressionParser {
  public:
    ExpressionParser(std::vector<Token> tokens, Program& program) : tokens_(std::move(tokens)), program_(&program) {}

    Expression expression();             // a if b else c
    Expression expressions();            // also a, b: a tuple
    Expression either();                 // the sequence of a for, before its `if` filter
    Target target();                     // a, b
    CallArguments arguments();           // up to )
    Expression filters(Expression of);   // of | a | b
    Expression filtered(Expression of);  // the same, after the first |
    bool take(std::string_view word);    // whether this name or sign comes next; skips it
    void expect(std::string_view word);  // throws BadInput if not
    std::string name();
    // one() for each item of a list with commas between, and perhaps after the last, up to `end`
    void each(std::string_view end, const std::function<void()>& one);
    bool at_end() const { return next().kind == Token::Kind::end; }
    void end();

  private:
    const Token& next() const { return tokens_[at_]; }
    Expression constant(Value value);
    Expression negated(), compared(), binary(int level), signed_value(bool with_filters), value(), number();
    Expression map(), item(Expression of), attribute(Expression of), at(Expression of, Expression key);
    Expression list_of(std::vector<Expression> items, ListKind kind);
    Expression postfix(Expression of), tested(Expression of), called(Expression of);

    std::vector<Token> tokens_;
    Program* program_;
    std::size_t at_ = 0, depth_ = 0;
};

}  // namespace inkling::formats::jinja
