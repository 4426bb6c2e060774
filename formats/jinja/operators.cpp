// The operators of expressions, from those that bind least to the sign before a value.
#include "formats/jinja/expression.h"

namespace inkling::formats::jinja {

Expression ExpressionParser::expressions() {
    const Expression first = expression();
    if (!take(",")) return first;
    std::vector<Expression> items{first};
    const auto ends = [&] { return at_end() || next().value == ")" || next().value == "]" || next().value == "="; };
    while (!ends()) {
        items.push_back(expression());
        if (!take(",")) break;
    }
    return list_of(std::move(items), ListKind::tuple);
}

Target ExpressionParser::target() {
    std::vector<Target> all;
    do {
        if (take("(")) {
            all.push_back(target());
            expect(")");
            continue;
        }
        const std::string_view word = program_->name(name());
        all.push_back({word, take(".") ? program_->name(name()) : "", {}});
    } while (take(",") && next().value != "=" && next().value != "in");
    return all.size() == 1 ? all[0] : Target{"", "", all};
}

// yes if condition else no
Expression ExpressionParser::expression() {
    const Run::Inside inside(depth_, Run::kMaxNested);
    Expression yes = either();
    while (take("if")) {
        const Expression condition = either(), no = take("else") ? expression() : constant({});
        yes = program_->add([=](Run& run) { return is_true(condition(run)) ? yes(run) : no(run); });
    }
    return yes;
}

Expression ExpressionParser::either() {
    const auto both = [&] {
        Expression a = negated();
        while (take("and"))
            a = program_->add([a, b = negated()](Run& run) {
                Value first = a(run);
                return is_true(first) ? b(run) : first;
            });
        return a;
    };
    Expression a = both();
    while (take("or"))
        a = program_->add([a, b = both()](Run& run) {
            Value first = a(run);
            return is_true(first) ? first : b(run);
        });
    return a;
}

Expression ExpressionParser::negated() {
    bool no = false, any = false;
    while (take("not")) no = !no, any = true;
    const Expression a = compared();
    return any ? program_->add([no, a](Run& run) { return Value(is_true(a(run)) != no); }) : a;
}

Compare comparison(std::string_view sign) {
    using Values = const Value&;
    if (sign == "==") return equal;
    if (sign == "!=") return [](Run& run, Values a, Values b) { return !equal(run, a, b); };
    if (sign == "<") return is_less;
    if (sign == ">") return [](Run& run, Values a, Values b) { return is_less(run, b, a); };
    if (sign == "<=") return [](Run& run, Values a, Values b) { return is_less(run, a, b) || equal(run, a, b); };
    if (sign == ">=") return [](Run& run, Values a, Values b) { return is_less(run, b, a) || equal(run, a, b); };
    if (sign == "in") return [](Run& run, Values a, Values b) { return contains(run, b, a); };
    return nullptr;
}

// a < b <= c is a < b and b <= c, as in Python.
Expression ExpressionParser::compared() {
    const auto next_sign = [&]() -> Compare {
        for (const std::string_view sign : {"==", "!=", "<", ">", "<=", ">=", "in"})
            if (take(sign)) return comparison(sign);
        if (!take("not")) return nullptr;
        expect("in");
        return [](Run& run, const Value& a, const Value& b) { return !contains(run, b, a); };
    };
    const Expression first = binary(0);
    std::vector<std::pair<Compare, Expression>> rest;
    while (const Compare compare = next_sign()) rest.emplace_back(compare, binary(0));
    if (rest.empty()) return first;
    return program_->add([first, rest](Run& run) {
        Value a = first(run);
        for (const auto& [compare, expression] : rest) {
            const Value b = expression(run);
            if (!compare(run, a, b)) return Value(false);
            a = b;
        }
        return Value(true);
    });
}

Expression ExpressionParser::binary(int level) {
    static const std::vector<std::string_view> kSigns[] = {{"+", "-"}, {"~"}, {"*", "//", "/", "%"}};
    const auto inner = [&] { return level < 2 ? binary(level + 1) : signed_value(true); };
    Expression a = inner();
    while (true) {
        std::string_view sign;
        for (const std::string_view one : kSigns[level])
            if (sign.empty() && take(one)) sign = one;
        if (sign.empty()) return a;
        a = program_->add([sign, a, b = inner()](Run& run) {
            const Value x = a(run);
            return operate(run, sign, x, b(run));
        });
    }
}

Expression ExpressionParser::signed_value(bool with_filters) {
    Expression of;
    const bool minus = take("-");
    if (minus || take("+")) {
        const Run::Inside inside(depth_, Run::kMaxNested);
        of = program_->add([minus, a = signed_value(false)](Run& run) {
            return operate(run, minus ? "-" : "+", std::int64_t{0}, a(run));
        });
    } else {
        of = value();
    }
    of = postfix(of);
    return with_filters ? filters(of) : of;
}

namespace {

Value operate_numbers(std::string_view sign, const Value& a, const Value& b) {
    const auto wanted = [&](bool holds) { check<BadInput>(holds, "its {} wants other numbers", sign); };
    if (a.is<double>() || b.is<double>() || sign == "/") {
        const double x = real(a, sign), y = real(b, sign);
        if (sign == "+") return x + y;
        if (sign == "-") return x - y;
        if (sign == "*") return x * y;
        wanted(sign == "/" && y != 0);
        return x / y;
    }
    const std::int64_t x = whole(a, sign), y = whole(b, sign);
    std::int64_t result = 0;
    if (sign == "+") return wanted(!__builtin_add_overflow(x, y, &result)), result;
    if (sign == "-") return wanted(!__builtin_sub_overflow(x, y, &result)), result;
    if (sign == "*") return wanted(!__builtin_mul_overflow(x, y, &result)), result;
    wanted(y != 0 && !(x == INT64_MIN && y == -1));
    const std::int64_t rest = x % y, modulo = rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
    return sign == "%" ? modulo : (x - modulo) / y;
}

Text repeated(Run& run, const Text& text, std::int64_t times) {
    Text all;
    for (std::int64_t i = 0; i < times && !text.bytes.empty(); ++i) {
        run.step();
        run.add(all, text);
    }
    return all;
}

}  // namespace

Value operate(Run& run, std::string_view sign, const Value& a, const Value& b) {
    const List *const x = a.list(), *const y = b.list();
    if (sign == "~" || (sign == "+" && a.text() && b.text())) {
        Text all = text_of(run, a);
        const Text more = text_of(run, b);
        run.make(all.memory() + more.memory());
        all.add(more);
        return std::make_shared<const Text>(std::move(all));
    }
    if (sign == "+" && x && y && x->kind == y->kind && x->kind <= ListKind::tuple) {
        run.make((x->items.size() + y->items.size()) * sizeof(Value));
        std::vector<Value> items = x->items;
        items.insert(items.end(), y->items.begin(), y->items.end());
        return run.list(std::move(items), x->kind);
    }
    if (sign == "*" && a.text()) return run.text(repeated(run, *a.text(), whole(b, "*")));
    check<BadInput>(a.is_number() && b.is_number(), "its {} wants two numbers or two texts", sign);
    return operate_numbers(sign, a, b);
}

}  // namespace inkling::formats::jinja
