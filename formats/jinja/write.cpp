// Values as text: as Python's str() and repr(), and as its json.dumps(ensure_ascii=False).
#include <utf8proc.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "formats/jinja/run.h"
#include "formats/utf8.h"

namespace inkling::formats::jinja {

namespace {

bool is_printable(char32_t c) {
    const auto category = utf8proc_category(static_cast<std::int32_t>(c));
    return c == ' ' || (category != UTF8PROC_CATEGORY_CN && category < UTF8PROC_CATEGORY_ZS);
}

void escape_python(std::string_view character, char quote, std::string& out) {
    std::size_t at = 0;
    const char32_t c = next_code_point(character, at);
    const auto code = static_cast<std::uint32_t>(c);
    if (c == '\n' || c == '\t' || c == '\r') {
        out += c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r";
    } else if (c == '\\' || c == static_cast<unsigned char>(quote)) {
        (out += '\\') += character;
    } else if (is_printable(c)) {
        out += character;
    } else {
        out += c < 0x100     ? fmt::format("\\x{:02x}", code)
               : c < 0x10000 ? fmt::format("\\u{:04x}", code)
                             : fmt::format("\\U{:08x}", code);
    }
}

void escape_json(std::string_view character, bool ascii, std::string& out) {
    const auto c = static_cast<unsigned char>(character[0]);
    if (c >= 0x20 && c != '"' && c != '\\' && (!ascii || c < 0x7F)) {
        out += character;
    } else {
        const std::string quoted = nlohmann::json(character).dump(-1, ' ', ascii);
        out.append(quoted, 1, quoted.size() - 2);
    }
}

// Python and fmt write the same digits; Python shows that a whole number is a float.
std::string float_text(double value) {
    const std::string text = std::isnan(value) ? "nan" : fmt::format("{}", value);
    return text.find_first_not_of("-0123456789") == std::string::npos ? text + ".0" : text;
}

// A value as Python's repr(), or as JSON.
class ValueWriter {
  public:
    explicit ValueWriter(Run& run) : run_(run) {}
    ValueWriter(Run& run, const Arguments& tojson) : run_(run), json_(true) {
        const auto all = tojson.by("tojson", {"ensure_ascii", "indent", "separators"});
        ascii_ = is_true(all[0]);
        pretty_ = !all[1].is_undefined() && !all[1].is_none();
        if (pretty_) {
            constexpr std::int64_t kMaxIndent = 100;
            const auto width = std::clamp<std::int64_t>(whole(all[1], "tojson"), 0, kMaxIndent);
            indent_ = std::string(static_cast<std::size_t>(width), ' ');
            comma_ = Text(",");
        }
        if (!is_true(all[2])) return;
        check<BadInput>(all[2].list() && all[2].list()->items.size() == 2, "tojson wants two separators");
        comma_ = text_in(all[2].list()->items[0], "tojson");
        colon_ = text_in(all[2].list()->items[1], "tojson");
    }

    void write(const Value& value) {
        const auto inside = run_.enter();
        if (const List* const list = value.list()) {
            check<BadInput>(list->kind <= ListKind::tuple, "this list cannot be written as text");
            const bool tuple = !json_ && list->kind == ListKind::tuple;
            add(tuple ? "(" : "[");
            each(list->items, [&](const Value& item) { write(item); });
            add(tuple && list->items.size() == 1 ? ",)" : tuple ? ")" : "]");
        } else if (const Map* const map = value.map()) {
            add("{");
            each(map->items, [&](const std::pair<Value, Value>& item) {
                const std::string_view quote = json_ && !item.first.text() ? "\"" : "";
                add(quote);
                write(item.first);
                add(quote);
                add(colon_);
                write(item.second);
            });
            add("}");
        } else if (const Text* const text = value.text()) {
            run_.make(text->bytes.size() * 2 * sizeof(std::size_t));
            write_text(*text);
        } else {
            write_atom(value);
        }
    }

    Text out;

  private:
    template <class T>
    void add(const T& text) {
        run_.add(out, text);
    }
    void write_text(const Text& text) {
        const bool apostrophe = text.bytes.find('\'') != std::string::npos && text.bytes.find('"') == std::string::npos;
        const char quote = json_ || apostrophe ? '"' : '\'';
        add(std::string_view(&quote, 1));
        add(text.mapped([&](std::string_view c, std::string& to) {
            json_ ? escape_json(c, ascii_, to) : escape_python(c, quote, to);
        }));
        add(std::string_view(&quote, 1));
    }
    void write_atom(const Value& value) {
        if (const auto* const b = std::get_if<bool>(&value))
            return add(json_ ? (*b ? "true" : "false") : *b ? "True" : "False");
        if (const auto* const i = std::get_if<std::int64_t>(&value)) return add(fmt::format("{}", *i));
        if (const auto* const d = std::get_if<double>(&value)) {
            if (json_ && std::isnan(*d)) return add("NaN");
            if (json_ && std::isinf(*d)) return add(*d < 0 ? "-Infinity" : "Infinity");
            return add(float_text(*d));
        }
        check<BadInput>(value.is_none() || (value.is_undefined() && !json_),
                        "{} of an undefined value is not supported", json_ ? "tojson" : "the text");
        add(json_ ? "null" : value.is_none() ? "None" : "Undefined");
    }
    template <class Items, class Write>
    void each(const Items& items, const Write& write_one) {
        const auto new_line = [&] {
            if (!pretty_ || items.empty()) return;
            add("\n");
            for (std::size_t i = 0; i < level_; ++i) add(indent_);
        };
        ++level_;
        for (const auto& item : items) {
            if (&item != &items[0]) add(comma_);
            new_line();
            write_one(item);
        }
        --level_;
        new_line();
    }

    Run& run_;
    bool json_ = false, ascii_ = false, pretty_ = false;
    Text comma_{", "}, colon_{": "};
    std::string indent_;  // of a level
    std::size_t level_ = 0;
};

}  // namespace

Text text_of(Run& run, const Value& value) {
    if (value.is_undefined()) return {};
    if (const Text* const text = value.text()) return *text;
    ValueWriter writer(run);
    writer.write(value);
    return std::move(writer.out);
}

Text json_of(Run& run, const Value& value, const Arguments& given) {
    ValueWriter writer(run, given);
    writer.write(value);
    return std::move(writer.out);
}

}  // namespace inkling::formats::jinja
