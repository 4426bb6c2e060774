// The filters that give one text or number.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "formats/ascii.h"
#include "formats/jinja/library.h"

namespace inkling::formats::jinja {

namespace {

Text indented(Run& run, const Text& text, const Arguments& given) {
    const auto all = given.by("indent", {"width", "first", "blank"});
    const std::int64_t width = all[0].is_undefined() || all[0].text() ? 4 : whole(all[0], "indent");
    constexpr std::int64_t kMax = 1000;
    check<BadInput>(width <= kMax, "indent of more than {} is not known", kMax);
    const Text by = all[0].text() ? *all[0].text()
                                  : Text(std::string(static_cast<std::size_t>(std::max<std::int64_t>(0, width)), ' '));
    Text closed = text, result;
    closed.add("\n");  // as Jinja has it, so that the last line is one where it is empty
    bool begins = true;
    for (const Text& line : lines_of(run, closed, false)) {
        if (!begins) run.add(result, "\n");
        const bool wanted = begins ? is_true(all[1]) : is_true(all[2]) || !line.bytes.empty();
        if (wanted) run.add(result, by);
        run.add(result, line);
        begins = false;
    }
    return result;
}

Text escaped(Run& run, const Text& text) {
    run.make(text.bytes.size() * 2 * sizeof(std::size_t));
    return text.mapped([](std::string_view c, std::string& out) {
        out += c == "&"    ? "&amp;"
               : c == "<"  ? "&lt;"
               : c == ">"  ? "&gt;"
               : c == "'"  ? "&#39;"
               : c == "\"" ? "&#34;"
                           : c;
    });
}

std::string digits_of(const Text& text) {
    const std::string digits = strip(text, {}).bytes;
    return digits.starts_with('+') ? digits.substr(1) : digits;
}

std::optional<double> parsed(const Value& value) {
    if (value.is_number()) return real(value, "float");
    if (!value.text()) return std::nullopt;
    return parse_number<double>(digits_of(*value.text()));
}

// The whole part, towards zero, of a number that `what` takes.
std::int64_t truncated(double number, std::string_view what) {
    check<BadInput>(std::abs(number) < 9e18, "{} of {} is not known", what, number);
    return static_cast<std::int64_t>(number);
}

Value to_integer(const Value& value, const Arguments& given) {
    const auto all = given.by("int", {"default", "base"});
    check<BadInput>(all[1].is_undefined(), "int with a base is not known");
    if (value.is<std::int64_t>()) return value;
    if (value.text())
        if (const auto number = parse_number<std::int64_t>(digits_of(*value.text()))) return *number;
    const std::optional<double> number = parsed(value);
    if (!number || !std::isfinite(*number)) return all[0].is_undefined() ? Value(std::int64_t{0}) : all[0];
    return truncated(*number, "int");
}

Value rounded(const Value& value, const Arguments& given) {
    const auto all = given.by("round", {"precision", "method"});
    const std::int64_t places = all[0].is_undefined() ? 0 : whole(all[0], "round");
    check<BadInput>(places >= 0 && places < 20, "round to {} places is not known", places);
    const std::string method = all[1].is_undefined() ? "common" : text_in(all[1], "round").bytes;
    if (method == "common") {
        if (!value.is<double>()) return whole(value, "round");
        return std::stod(fmt::format("{:.{}f}", std::get<double>(value), places));
    }
    check<BadInput>(method == "ceil" || method == "floor", "round by {} is not known", method);
    const double scale = std::pow(10.0, static_cast<double>(places)), x = real(value, "round") * scale;
    return (method == "ceil" ? std::ceil(x) : std::floor(x)) / scale;
}

}  // namespace

// %[(name)][-+ 0#][width][.precision]letter
Text formatted(Run& run, const Text& form, const Arguments& given) {
    Text result;
    const std::string& bytes = form.bytes;
    std::size_t next = 0;
    for (std::size_t at = 0; at < bytes.size();) {
        const std::size_t sign = std::min(bytes.find('%', at), bytes.size());
        run.add(result, run.part(form, at, sign));
        if (sign == bytes.size()) break;
        at = sign + 1;
        const Value* value = nullptr;
        if (at < bytes.size() && bytes[at] == '(') {
            const std::size_t end = std::min(bytes.find(')', at), bytes.size() - 1);
            for (const auto& [name, one] : given.named)
                if (name == std::string_view(bytes).substr(at + 1, end - at - 1)) value = &one;
            at = end + 1;
        }
        const std::size_t letter = std::min(bytes.find_first_not_of("-+ 0#.123456789", at), bytes.size());
        const std::string options = bytes.substr(at, letter - at);
        const char kind = letter < bytes.size() ? bytes[letter] : 0;
        at = letter + 1;
        if (kind == '%' && options.empty()) {
            run.add(result, form.part(letter, at));
            continue;
        }
        if (!value && next < given.list.size()) value = &given.list[next++];
        const auto refuse_unless = [&](bool fine) {
            check<BadInput>(fine, "format: %{}{} is not known", options, kind);
        };
        check<BadInput>(value, "format: the value of %{}{} is not there", options, kind);
        const std::size_t width_at = std::min(options.find_first_of(".123456789"), options.size()),
                          point = std::min(options.find('.'), options.size());
        const auto has = [&](char flag) { return std::string_view(options).substr(0, width_at).find(flag) < width_at; };
        const auto digits = [&](std::size_t begin, std::size_t end) {
            const std::string text = options.substr(begin, end - begin);
            refuse_unless(text.size() < 5 && text.find_first_not_of("0123456789") == std::string::npos);
            return text;
        };
        const std::string width = digits(width_at, point);
        const bool precise = point < options.size(), left = has('-');
        const std::string precision = precise ? "." + digits(point + 1, options.size()) : "";
        refuse_unless(kind != 0 && !has('#'));
        const std::string spec = std::string("{:") + (left ? "<" : "") +
                                 (has('+')   ? "+"
                                  : has(' ') ? " "
                                             : "") +
                                 (has('0') && !left ? "0" : "") + width + (precision == "." ? ".0" : precision);
        if (std::strchr("diuxXo", kind)) {
            refuse_unless(!precise);
            const std::int64_t number = value->is<double>()
                                            ? truncated(std::get<double>(*value), fmt::format("format: %{}", kind))
                                            : whole(*value, "format");
            run.add(result, fmt::format(fmt::runtime(spec + (kind == 'i' || kind == 'u' ? 'd' : kind) + "}"), number));
        } else if (std::strchr("fFeEgG", kind)) {
            run.add(result, fmt::format(fmt::runtime(spec + kind + "}"), real(*value, "format")));
        } else {
            refuse_unless(kind == 's' && !precise);
            const Text text = text_of(run, *value);
            const std::size_t n = count_characters(text.bytes), wide = width.empty() ? 0 : std::stoul(width);
            const Text space(std::string(wide > n ? wide - n : 0, ' '));
            run.add(result, left ? text : space);
            run.add(result, left ? space : text);
        }
    }
    check<BadInput>(next >= given.list.size(), "format: more values than places");
    return result;
}

std::optional<Value> text_filter(Run& run, const std::string& name, const Value& of, const Arguments& given) {
    const auto text = [&] {
        Text all = text_of(run, of);
        run.step(all.memory() / 16);
        return all;
    };
    const auto none = [&] { given.by(name, {}); };
    if (name == "trim") return run.text(strip(text(), given.by(name, {"chars"})[0]));
    if (name == "tojson") return run.text(json_of(run, of, given));
    if (name == "indent") return run.text(indented(run, text(), given));
    if (name == "format") return run.text(formatted(run, text(), given));
    if (name == "replace") {
        const auto all = given.by(name, {"old", "new", "count"});
        const bool every = all[2].is_undefined() || all[2].is_none();
        return run.text(
            replace(run, text(), text_of(run, all[0]).bytes, text_of(run, all[1]), every ? -1 : whole(all[2], name)));
    }
    if (name == "int") return to_integer(of, given);
    if (name == "float") {
        const std::optional<double> number = parsed(of);
        const Value otherwise = given.by(name, {"default"})[0];
        return number ? *number : otherwise.is_undefined() ? Value(0.0) : otherwise;
    }
    if (name == "round") return rounded(of, given);
    if (name == "abs") return none(), is_less(run, of, std::int64_t{0}) ? operate(run, "-", std::int64_t{0}, of) : of;
    if (name == "upper") return none(), run.text(with_letters(run, text(), Letters::upper));
    if (name == "lower") return none(), run.text(with_letters(run, text(), Letters::lower));
    if (name == "capitalize") return none(), run.text(capitalized(run, text()));
    if (name == "title") {
        const auto begins = [](char32_t c) {
            return is_python_space(c) || c == U'-' || c == U'(' || c == U'{' || c == U'[' || c == U'<';
        };
        return none(), run.text(titled(run, text(), begins));
    }
    if (name == "string" || name == "safe") return none(), run.text(text());
    if (name == "escape" || name == "e") return none(), run.text(escaped(run, text()));
    return std::nullopt;
}

}  // namespace inkling::formats::jinja
