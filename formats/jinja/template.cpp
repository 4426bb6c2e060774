#include "formats/jinja/template.h"

#include <algorithm>
#include <optional>

#include "engine/base/names.h"
#include "formats/jinja/expression.h"
#include "formats/utf8.h"

namespace inkling::formats::jinja {

namespace {

class StatementParser {
  public:
    StatementParser(const std::string& source, Program& program) : parts_(cut(source)), program_(program) {}

    const Block* all() {
        const Block* const block = until({});
        check<BadInput>(at_ == parts_.size(), "{{% {} %}} without its opening", ended_by_);
        return block;
    }

  private:
    using Statement = std::function<Flow(Run&)>;

    // Up to one of these statements, which is then ended_by_, and parser_ is behind its name.
    const Block* until(std::initializer_list<std::string_view> ends) {
        const Run::Inside inside(depth_, Run::kMaxNested);
        Block* const block = program_.block();
        while (at_ < parts_.size()) {
            const Part& part = parts_[at_++];
            if (part.kind == Part::Kind::text) {
                block->statements.push_back([text = part.text](Run& run) {
                    run.add(run.out, text);
                    return Flow::on;
                });
            } else if (part.kind == Part::Kind::output) {
                ExpressionParser parser(part.tokens, program_);
                block->statements.push_back([value = parser.expressions()](Run& run) {
                    run.add(run.out, text_of(run, value(run)));
                    return Flow::on;
                });
                parser.end();
            } else {
                parser_.emplace(part.tokens, program_);
                const std::string name = parser_->name();
                if (std::count(ends.begin(), ends.end(), name)) {
                    ended_by_ = name;
                    return block;
                }
                block->statements.push_back(statement(name));
            }
        }
        check<BadInput>(ends.size() == 0, "a statement is not closed");
        return block;
    }

    const Block* body(std::string_view end) {
        parser_->end();
        return until({end});
    }

    const Block* outside_loops(std::string_view end) {
        const std::size_t loops = std::exchange(loops_, 0);
        const Block* const block = body(end);
        loops_ = loops;
        return block;
    }

    Statement statement(const std::string& name) {
        if (name == "set") return set();
        if (name == "if") return condition();
        if (name == "for") return loop();
        if (name == "macro") return macro();
        if (name == "filter") {
            const Expression made = parser_->filtered(written());
            return captured(parser_->filters(made), "endfilter",
                            [](Run& run, const Value& value) { run.add(run.out, text_of(run, value)); });
        }
        if (name == "generation") {  // transformers' mark of what the assistant says
            return [inner = body("endgeneration")](Run& run) {
                const std::size_t begin = run.out.bytes.size();
                const Flow flow = (*inner)(run);
                run.out.spans.push_back({begin, run.out.bytes.size(), kGeneration});
                return flow;
            };
        }
        if (name == "break" || name == "continue") {
            check<BadInput>(loops_ > 0, "its {} is outside a for", name);
            parser_->end();
            return [flow = name == "break" ? Flow::stop : Flow::next](Run&) { return flow; };
        }
        throw BadInput(fmt::format("its statement {} is not supported", name));
    }

    Statement set() {
        const Target target = parser_->target();
        if (!parser_->take("="))
            return captured(parser_->filters(written()), "endset",
                            [target](Run& run, const Value& value) { target.set(run, value); });
        const Expression value = parser_->expressions();
        parser_->end();
        return [target, value](Run& run) {
            target.set(run, value(run));
            return Flow::on;
        };
    }

    Expression written() {
        return program_.add([](Run& run) { return run.captured; });
    }

    Statement captured(Expression made, std::string_view end, std::function<void(Run&, const Value&)> use) {
        return [=, inner = outside_loops(end)](Run& run) {
            run.captured = run.text(run.apart(run.frames(), [&] { (*inner)(run); }));
            use(run, made(run));
            return Flow::on;
        };
    }

    Statement condition() {
        std::vector<std::pair<Expression, const Block*>> branches;
        ended_by_ = "elif";
        while (ended_by_ == "elif" || ended_by_ == "else") {
            const bool otherwise = ended_by_ == "else";
            const Expression when = otherwise ? Expression() : parser_->expressions();
            parser_->end();
            branches.emplace_back(when, otherwise ? until({"endif"}) : until({"elif", "else", "endif"}));
        }
        return [branches](Run& run) {
            for (const auto& [when, inner] : branches)
                if (!when || is_true(when(run))) return (*inner)(run);
            return Flow::on;
        };
    }

    Statement loop() {
        const Target target = parser_->target();
        parser_->expect("in");
        const Expression list = parser_->either(), filter = parser_->take("if") ? parser_->expression() : Expression();
        parser_->end();
        ++loops_;
        const Block* const inner = until({"else", "endfor"});
        --loops_;
        const Block* const otherwise = ended_by_ == "else" ? body("endfor") : nullptr;
        return [=](Run& run) {
            Items all = items_of(run, list(run));
            const std::size_t frame = run.open();
            if (filter) {
                std::vector<Value> some;
                for (const Value& item : all) {
                    target.set(run, item);
                    if (is_true(filter(run))) some.push_back(item);
                }
                all = {std::get<std::shared_ptr<const List>>(run.list(std::move(some)))};
            }
            const Value loop = std::make_shared<const Loop>(Loop{all, 0, all->depth + 1});
            for (const Value& item : all) {
                run.close(frame);
                run.open();
                run.set("loop", loop);
                target.set(run, item);
                const Flow flow = (*inner)(run);
                ++loop.loop()->index;
                if (flow == Flow::stop) break;
            }
            run.close(frame);
            return otherwise && all->items.empty() ? (*otherwise)(run) : Flow::on;
        };
    }

    Statement macro() {
        const std::string_view name = program_.name(parser_->name());
        parser_->expect("(");
        std::vector<std::pair<std::string_view, Expression>> parameters;
        parser_->each(")", [&] {
            const std::string_view one = program_.name(parser_->name());
            parameters.emplace_back(one, parser_->take("=") ? parser_->expression() : Expression());
        });
        const Block* const inner = outside_loops("endmacro");
        return [=](Run& run) {
            const std::size_t outer = run.frames();
            run.set(name, std::make_shared<const Function>([=](Run& r, const Arguments& given) {
                        return call(r, name, outer, parameters, *inner, given);
                    }));
            return Flow::on;
        };
    }

    // The macro's output; it sees the variables of its definition.
    static Value call(Run& run, std::string_view name, std::size_t outer,
                      const std::vector<std::pair<std::string_view, Expression>>& parameters, const Block& inner,
                      const Arguments& given) {
        std::vector<std::string_view> names;
        for (const auto& parameter : parameters) names.push_back(parameter.first);
        const std::vector<Value> values = given.by(name, names);
        return run.text(run.apart(outer, [&] {
            for (std::size_t i = 0; i < values.size(); ++i) {
                const Expression& otherwise = parameters[i].second;
                run.set(names[i], values[i].is_undefined() && otherwise ? otherwise(run) : values[i]);
            }
            inner(run);
        }));
    }

    const std::vector<Part> parts_;
    Program& program_;
    std::size_t at_ = 0, depth_ = 0, loops_ = 0;
    std::optional<ExpressionParser> parser_;
    std::string ended_by_;
};

// Shortens errors of f to one line, since they may quote the template or user text.
template <class F>
auto in_one_line(const F& f) {
    try {
        return f();
    } catch (const BadInput& e) {
        std::string line = shortened(e.what(), 300);
        std::replace_if(
            line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }, ' ');
        throw BadInput(line);
    }
}

}  // namespace

Template::Template(const std::string& text) {
    check<BadInput>(find_invalid_utf8(text) == std::string::npos, "it is not UTF-8");
    auto program = std::make_shared<Program>();
    all_ = in_one_line([&] { return StatementParser(text, *program).all(); });
    program_ = std::move(program);
}

Text Template::render(Run& run) const {
    return in_one_line([&] {
        (*all_)(run);
        return std::move(run.out);
    });
}

}  // namespace inkling::formats::jinja
