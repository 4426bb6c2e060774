#include "formats/jinja_expression.h"

#include <algorithm>
#include <cctype>

#include "engine/check.h"
#include "formats/jinja_values.h"

namespace inkling::formats {

JinjaValue* JinjaScope::find(const std::string& name) {
    for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame)
        if (const auto found = frame->find(name); found != frame->end()) return &*found;
    return nullptr;
}

JinjaParser::JinjaParser(std::string_view source) {
    using Kind = Token::Kind;
    const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    for (std::size_t i = 0; i < source.size();) {
        const char c = source[i];
        std::size_t end = i + 1;
        if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
        } else if (c == '\'' || c == '"') {
            std::string text;
            for (; end < source.size() && source[end] != c; ++end) {
                const bool escaped = source[end] == '\\' && end + 1 < source.size();
                const char d = source[end += escaped];
                text += !escaped ? d : d == 'n' ? '\n' : d == 't' ? '\t' : d == 'r' ? '\r' : d;
            }
            check<BadInput>(end < source.size(), "a text without an end");
            ++end;
            tokens_.push_back({Kind::text, text});
        } else if (is_word(c)) {
            while (end < source.size() && is_word(source[end])) ++end;
            tokens_.push_back({is_digit(c) ? Kind::number : Kind::name, std::string(source.substr(i, end - i))});
        } else {
            static constexpr std::string_view kPairs[] = {"==", "!=", "<=", ">=", "//"};
            if (std::count(std::begin(kPairs), std::end(kPairs), source.substr(i, 2))) ++end;
            tokens_.push_back({Kind::sign, std::string(source.substr(i, end - i))});
        }
        i = end;
    }
    tokens_.push_back({Kind::end, "its end"});
}

bool JinjaParser::take(std::string_view word) {
    const bool there = (next().kind == Token::Kind::name || next().kind == Token::Kind::sign) && next().value == word;
    at_ += there;
    return there;
}

void JinjaParser::expect(std::string_view word) {
    check<BadInput>(take(word), "it has '{}' where '{}' is expected", next().value, word);
}

std::string JinjaParser::name() {
    check<BadInput>(next().kind == Token::Kind::name, "it has '{}' where a name is expected", next().value);
    return tokens_[at_++].value;
}

void JinjaParser::end() {
    check<BadInput>(next().kind == Token::Kind::end, "it has '{}' where an end is expected", next().value);
}

JinjaExpression JinjaParser::value() {
    using Kind = Token::Kind;
    const Token token = next();
    if (token.kind == Kind::text) {
        std::string text;
        while (next().kind == Kind::text) text += tokens_[at_++].value;
        return [text](JinjaScope&) { return JinjaValue(text); };
    }
    if (token.kind == Kind::number) {
        ++at_;
        const bool small = token.value.size() < 10 && std::all_of(token.value.begin(), token.value.end(), ::isdigit);
        check<BadInput>(small, "its number {} is not known", token.value);
        return [n = std::stoi(token.value)](JinjaScope&) { return JinjaValue(n); };
    }
    if (take("(")) {
        const JinjaExpression inner = expression();
        expect(")");
        return inner;
    }
    if (take("[")) return list();
    const std::string called = name();
    if (called == "true" || called == "True") return [](JinjaScope&) { return JinjaValue(true); };
    if (called == "false" || called == "False") return [](JinjaScope&) { return JinjaValue(false); };
    if (called == "none" || called == "None") return [](JinjaScope&) { return JinjaValue(); };
    if (take("(")) return call(called);
    return [called](JinjaScope& s) {
        const JinjaValue* const found = s.find(called);
        return found ? *found : undefined();
    };
}

JinjaExpression JinjaParser::list() {
    std::vector<JinjaExpression> items;
    while (!take("]")) {
        items.push_back(expression());
        if (!take(",")) {
            expect("]");
            break;
        }
    }
    return [items](JinjaScope& s) {
        JinjaValue all = JinjaValue::array();
        for (const JinjaExpression& item : items) all.push_back(item(s));
        return all;
    };
}

// Behind the bracket: values, each with the name it is given under, or "".
std::vector<std::pair<std::string, JinjaExpression>> JinjaParser::arguments() {
    std::vector<std::pair<std::string, JinjaExpression>> all;
    while (!take(")")) {
        const bool named = next().kind == Token::Kind::name && tokens_[at_ + 1].value == "=" &&
                           tokens_[at_ + 1].kind == Token::Kind::sign;
        const std::string key = named ? name() : "";
        if (named) expect("=");
        all.emplace_back(key, expression());
        if (!take(",")) {
            expect(")");
            break;
        }
    }
    return all;
}

JinjaExpression JinjaParser::call(const std::string& function) {
    return [function, given = arguments()](JinjaScope& s) -> JinjaValue {
        if (function == "namespace") {
            JinjaValue made = JinjaValue::object();
            for (const auto& [key, value] : given) made[key] = value(s);
            return made;
        }
        if (function == "raise_exception" && given.size() == 1) throw BadInput(text_of(given[0].second(s)));
        throw BadInput(fmt::format("its function {} is not known", function));
    };
}

JinjaExpression JinjaParser::postfix(JinjaExpression of) {
    while (true) {
        if (take(".")) {
            of = attribute(of);
        } else if (take("[")) {
            of = item(of);
        } else if (take("|")) {
            of = filtered(of);
        } else if (take("is")) {
            of = tested(of);
        } else {
            return of;
        }
    }
}

JinjaExpression JinjaParser::attribute(JinjaExpression of) {
    const std::string key = name();
    if (!take("(")) return [of, key](JinjaScope& s) { return item_of(of(s), key); };
    return [of, key, given = arguments()](JinjaScope& s) {
        std::vector<JinjaValue> values;
        for (const auto& one : given) values.push_back(one.second(s));
        return jinja_method(key, of(s), values);
    };
}

JinjaExpression JinjaParser::item(JinjaExpression of) {
    const JinjaExpression none = [](JinjaScope&) { return undefined(); };
    JinjaExpression parts[3] = {none, none, none};
    std::size_t n = 0;
    for (; n < 3; ++n) {
        if (next().value != ":" && next().value != "]") parts[n] = expression();
        if (!take(":")) break;
    }
    expect("]");
    if (n == 0) return [of, key = parts[0]](JinjaScope& s) { return item_of(of(s), key(s)); };
    return [of, begin = parts[0], end = parts[1], step = parts[2]](JinjaScope& s) {
        return slice_of(of(s), begin(s), end(s), step(s));
    };
}

JinjaExpression JinjaParser::filtered(JinjaExpression of) {
    const std::string called = name();
    std::vector<std::pair<std::string, JinjaExpression>> given;
    if (take("(")) given = arguments();
    return [=](JinjaScope& s) {
        std::vector<JinjaValue> values;
        for (const auto& one : given) values.push_back(one.second(s));
        return jinja_filter(called, of(s), values);
    };
}

JinjaExpression JinjaParser::tested(JinjaExpression of) {
    const bool no = take("not");
    return [of, no, test = name()](JinjaScope& s) { return JinjaValue(jinja_test(test, of(s)) != no); };
}

}  // namespace inkling::formats
