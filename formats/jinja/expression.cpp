#include "formats/jinja/expression.h"

#include <algorithm>

#include "formats/ascii.h"

namespace inkling::formats::jinja {

Arguments CallArguments::operator()(Run& run) const {
    Arguments given;
    for (const auto& [name, value] : list) {
        if (name.empty())
            given.list.push_back(value(run));
        else
            given.named.emplace_back(name, value(run));
    }
    return given;
}

void Target::set(Run& run, const Value& value) const {
    if (!several.empty()) {
        const auto items = items_of(run, value);
        check<BadInput>(items->items.size() == several.size(), "it sets {} names to {} values", several.size(),
                        items->items.size());
        for (std::size_t i = 0; i < several.size(); ++i) several[i].set(run, items->items[i]);
    } else if (attribute.empty()) {
        run.set(name, value);
    } else {
        const Value* const found = run.find(name);
        const auto* const space = found ? std::get_if<Namespace*>(found) : nullptr;
        check<BadInput>(space, "it sets {} of {}, which is not a namespace", attribute, name);
        run.make(sizeof(Value));
        (*space)->values[std::string(attribute)] = value;
    }
}

bool ExpressionParser::take(std::string_view word) {
    const bool there = (next().kind == Token::Kind::name || next().kind == Token::Kind::sign) && next().value == word;
    at_ += there;
    return there;
}

void ExpressionParser::expect(std::string_view word) {
    check<BadInput>(take(word), "it has '{}' where '{}' is expected", next().value, word);
}

std::string ExpressionParser::name() {
    check<BadInput>(next().kind == Token::Kind::name, "it has '{}' where a name is expected", next().value);
    return tokens_[at_++].value;
}

void ExpressionParser::end() { check<BadInput>(at_end(), "it has '{}' where an end is expected", next().value); }

Expression ExpressionParser::constant(Value value) {
    return program_->add([value = std::move(value)](Run&) { return value; });
}

Expression ExpressionParser::number() {
    std::string digits = tokens_[at_++].value;
    const std::string text = digits;
    digits.erase(std::remove(digits.begin(), digits.end(), '_'), digits.end());
    if (const auto whole = parse_number<std::int64_t>(digits)) return constant(*whole);
    const auto real = parse_number<double>(digits);
    check<BadInput>(real && digits.find_first_of(".eE") != std::string::npos, "its number {} is not supported", text);
    return constant(*real);
}

Expression ExpressionParser::value() {
    using Kind = Token::Kind;
    if (next().kind == Kind::text) {
        std::string text;
        while (next().kind == Kind::text) text += tokens_[at_++].value;
        return constant(std::make_shared<const Text>(std::move(text)));
    }
    if (next().kind == Kind::number) return number();
    if (take("(")) {
        if (take(")")) return list_of({}, ListKind::tuple);
        const Expression inner = expressions();
        expect(")");
        return inner;
    }
    if (take("[")) {
        std::vector<Expression> items;
        each("]", [&] { items.push_back(expression()); });
        return list_of(std::move(items), ListKind::list);
    }
    if (take("{")) return map();
    const std::string word = name();
    if (word == "true" || word == "True") return constant(true);
    if (word == "false" || word == "False") return constant(false);
    if (word == "none" || word == "None") return constant(None());
    return program_->add([word, other = global(word)](Run& run) {
        const Value* const found = run.find(word);
        return found ? *found : other;
    });
}

void ExpressionParser::each(std::string_view end, const std::function<void()>& one) {
    while (!take(end)) {
        one();
        if (take(",")) continue;
        expect(end);
        break;
    }
}

Expression ExpressionParser::list_of(std::vector<Expression> items, ListKind kind) {
    return program_->add([items = std::move(items), kind](Run& run) {
        std::vector<Value> all;
        for (const Expression& item : items) all.push_back(item(run));
        return run.list(std::move(all), kind);
    });
}

Expression ExpressionParser::map() {
    std::vector<std::pair<Expression, Expression>> items;
    each("}", [&] {
        const Expression key = expression();
        expect(":");
        items.emplace_back(key, expression());
    });
    return program_->add([items](Run& run) {
        std::vector<std::pair<Value, Value>> all;
        for (const auto& [key, value] : items) {
            const Value k = key(run);
            check<BadInput>(k.text() || k.is_number() || k.is_none(), "a map whose key is neither text nor number");
            const auto same =
                std::find_if(all.begin(), all.end(), [&](const auto& x) { return equal(run, x.first, k); });
            if (same != all.end())
                same->second = value(run);
            else
                all.emplace_back(k, value(run));
        }
        return run.map(std::move(all));
    });
}

// The arguments of a call, after its (.
CallArguments ExpressionParser::arguments() {
    CallArguments given;
    each(")", [&] {
        std::string key;
        if (next().kind == Token::Kind::name && tokens_[at_ + 1].value == "=" &&
            tokens_[at_ + 1].kind == Token::Kind::sign) {
            key = name();
            take("=");
        }
        given.list.emplace_back(key, expression());
    });
    return given;
}

Expression ExpressionParser::postfix(Expression of) {
    while (true) {
        if (take("."))
            of = attribute(of);
        else if (take("["))
            of = item(of);
        else if (take("("))
            of = called(of);
        else
            return of;
    }
}

Expression ExpressionParser::called(Expression of) {
    return program_->add([of, given = arguments()](Run& run) {
        const Value f = of(run);
        check<BadInput>(f.function(), "it calls a value that is not a function");
        return (*f.function())(run, given(run));
    });
}

Expression ExpressionParser::attribute(Expression of) {
    if (next().kind == Token::Kind::number) return at(of, number());
    const std::string key = name();
    if (!take("(")) {
        static constexpr std::string_view kMethods[] = {"items", "keys", "values", "get", "copy", "pop", "update"};
        const bool method_of_maps = std::count(std::begin(kMethods), std::end(kMethods), key);
        return program_->add([=, word = Value(std::make_shared<const Text>(key))](Run& run) {
            const Value value = of(run);
            check<BadInput>(!method_of_maps || !value.map(), "the method {} without () is not supported", key);
            return item_of(run, value, word);
        });
    }
    return program_->add([of, key, given = arguments()](Run& run) {
        const Value value = of(run);
        return method(run, key, value, given(run));
    });
}

Expression ExpressionParser::at(Expression of, Expression key) {
    return program_->add([of, key](Run& run) {
        const Value value = of(run);
        return item_of(run, value, key(run));
    });
}

Expression ExpressionParser::item(Expression of) {
    const Expression none = constant({});
    Expression parts[3] = {none, none, none};
    std::size_t n = 0;
    for (; n < 3; ++n) {
        if (next().value != ":" && next().value != "]") parts[n] = n == 0 ? expressions() : expression();
        if (!take(":")) break;
    }
    expect("]");
    if (n == 0) return at(of, parts[0]);
    return program_->add([of, begin = parts[0], end = parts[1], step = parts[2]](Run& run) {
        const Value value = of(run), from = begin(run), to = end(run);
        return slice_of(run, value, from, to, step(run));
    });
}

Expression ExpressionParser::filters(Expression of) {
    while (true) {
        if (take("|"))
            of = filtered(of);
        else if (take("is"))
            of = tested(of);
        else if (take("("))
            of = called(of);
        else
            return of;
    }
}

Expression ExpressionParser::filtered(Expression of) {
    const std::string word = name();
    CallArguments given;
    if (take("(")) given = arguments();
    return program_->add([of, word, given](Run& run) {
        const Value value = of(run);
        return filter(run, word, value, given(run));
    });
}

Expression ExpressionParser::tested(Expression of) {
    const bool no = take("not");
    const std::string word = name();
    CallArguments given;
    using Kind = Token::Kind;
    const Token& after = next();
    const bool word_after = after.kind == Kind::name && after.value != "else" && after.value != "or" &&
                            after.value != "and" && after.value != "is" && after.value != "if" && after.value != "not";
    if (take("("))
        given = arguments();
    else if (word_after || after.kind == Kind::text || after.kind == Kind::number || after.value == "[" ||
             after.value == "{")
        given.list.emplace_back("", postfix(value()));
    return program_->add([=](Run& run) {
        const Value value = of(run);
        return Value(test(run, word, value, given(run)) != no);
    });
}

}  // namespace inkling::formats::jinja
