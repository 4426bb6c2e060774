// The operators of Jinja's expressions, from those that bind least to the sign before a value.
#include "engine/check.h"
#include "formats/jinja_expression.h"

namespace inkling::formats {

// yes if condition else no
JinjaExpression JinjaParser::expression() {
    constexpr std::size_t kMaxDepth = 100;
    check<BadInput>(++depth_ <= kMaxDepth, "it is nested more than {} deep", kMaxDepth);
    JinjaExpression yes = either();
    if (take("if")) {
        JinjaExpression condition = either(), no = [](JinjaScope&) { return undefined(); };
        if (take("else")) no = expression();
        yes = [=](JinjaScope& s) { return is_true(condition(s)) ? yes(s) : no(s); };
    }
    --depth_;
    return yes;
}

JinjaExpression JinjaParser::either() {
    JinjaExpression a = both();
    while (take("or"))
        a = [a, b = both()](JinjaScope& s) {
            const JinjaValue first = a(s);
            return is_true(first) ? first : b(s);
        };
    return a;
}

JinjaExpression JinjaParser::both() {
    JinjaExpression a = negated();
    while (take("and"))
        a = [a, b = negated()](JinjaScope& s) {
            const JinjaValue first = a(s);
            return is_true(first) ? b(s) : first;
        };
    return a;
}

JinjaExpression JinjaParser::negated() {
    bool no = false, any = false;
    while (take("not")) no = !no, any = true;
    if (!any) return compared();
    return [no, a = compared()](JinjaScope& s) { return JinjaValue(is_true(a(s)) != no); };
}

JinjaExpression JinjaParser::compared() {
    JinjaExpression a = sum();
    while (true) {
        if (take("==")) {
            a = [a, b = sum()](JinjaScope& s) { return JinjaValue(a(s) == b(s)); };
        } else if (take("!=")) {
            a = [a, b = sum()](JinjaScope& s) { return JinjaValue(!(a(s) == b(s))); };
        } else if (take("<")) {
            a = [a, b = sum()](JinjaScope& s) { return JinjaValue(is_less(a(s), b(s))); };
        } else if (take(">")) {
            a = [a, b = sum()](JinjaScope& s) { return JinjaValue(is_less(b(s), a(s))); };
        } else if (take("<=")) {
            a = [a, b = sum()](JinjaScope& s) { return JinjaValue(!is_less(b(s), a(s))); };
        } else if (take(">=")) {
            a = [a, b = sum()](JinjaScope& s) { return JinjaValue(!is_less(a(s), b(s))); };
        } else if (take("in")) {
            a = [a, b = sum()](JinjaScope& s) { return JinjaValue(contains(b(s), a(s))); };
        } else if (take("not")) {
            expect("in");
            a = [a, b = sum()](JinjaScope& s) { return JinjaValue(!contains(b(s), a(s))); };
        } else {
            return a;
        }
    }
}

JinjaExpression JinjaParser::sum() {
    const auto number = [](const JinjaValue& x) {
        check<BadInput>(x.is_number_integer(), "it adds what is neither text nor number");
        return x.get<std::int64_t>();
    };
    JinjaExpression a = joined();
    while (true) {
        if (take("+")) {
            a = [=, b = joined()](JinjaScope& s) -> JinjaValue {
                const JinjaValue x = a(s), y = b(s);
                if (x.is_string() && y.is_string()) return added(x.get<std::string>(), y.get<std::string>());
                return number(x) + number(y);
            };
        } else if (take("-")) {
            a = [=, b = joined()](JinjaScope& s) -> JinjaValue { return number(a(s)) - number(b(s)); };
        } else {
            return a;
        }
    }
}

JinjaExpression JinjaParser::joined() {
    JinjaExpression a = product();
    while (take("~")) a = [a, b = product()](JinjaScope& s) { return JinjaValue(added(text_of(a(s)), text_of(b(s)))); };
    return a;
}

JinjaExpression JinjaParser::product() {
    JinjaExpression a = signed_value();
    while (take("%"))
        a = [a, b = signed_value()](JinjaScope& s) -> JinjaValue {
            const JinjaValue x = a(s), y = b(s);
            check<BadInput>(x.is_number_integer() && y.is_number_integer() && y.get<std::int64_t>() > 0,
                            "its % wants numbers");
            const auto n = y.get<std::int64_t>();
            return (x.get<std::int64_t>() % n + n) % n;
        };
    return a;
}

JinjaExpression JinjaParser::signed_value() {
    if (!take("-")) return postfix(value());
    return [a = postfix(value())](JinjaScope& s) -> JinjaValue {
        const JinjaValue x = a(s);
        check<BadInput>(x.is_number_integer(), "its - wants a number");
        return -x.get<std::int64_t>();
    };
}

}  // namespace inkling::formats
