// Values as text: as Python's str() and repr(), and as its json.dumps(ensure_ascii=False).
#include <utf8proc.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "formats/jinja/run.h"
#include "formats/utf8.h"

namespace inkling::formats::jinja {

namespace {

// The digits of Python's shortest form, which has an exponent below 1e-4 and from 1e16 on.
std::string layout_of(double value) {
    char buffer[32];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
    const std::string all(buffer, end), sign = all[0] == '-' ? "-" : "";
    const std::size_t e = all.find('e');
    const int exponent = std::stoi(all.substr(e + 1));
    std::string digits;
    for (const char c : all.substr(0, e))
        if (c >= '0' && c <= '9') digits += c;
    const int n = static_cast<int>(digits.size());
    if (exponent < -4 || exponent >= 16)
        return sign + digits[0] + (n > 1 ? "." + digits.substr(1) : "") +
               fmt::format("e{}{:02}", exponent < 0 ? '-' : '+', std::abs(exponent));
    if (exponent < 0) return sign + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
    if (n <= exponent + 1) return sign + digits + std::string(static_cast<std::size_t>(exponent + 1 - n), '0') + ".0";
    const auto point = static_cast<std::size_t>(exponent + 1);
    return sign + digits.substr(0, point) + "." + digits.substr(point);
}

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
    static constexpr std::string_view kLetters = "\b\f\n\r\t\"\\", kEscapes = "bfnrt\"\\";
    std::size_t at = 0;
    const auto code = static_cast<std::uint32_t>(next_code_point(character, at));
    if (const auto place = kLetters.find(character[0]); place != std::string_view::npos) {
        (out += '\\') += kEscapes[place];
    } else if (code < 0x20 || (ascii && code >= 0x7F && code < 0x10000)) {
        out += fmt::format("\\u{:04x}", code);
    } else if (ascii && code >= 0x10000) {
        out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + ((code - 0x10000) >> 10), 0xDC00 + (code & 0x3FF));
    } else {
        out += character;
    }
}

// Shared by repr() and JSON: brackets, commas, and items in order.
class ValueWriter {
  public:
    explicit ValueWriter(Run& run) : run_(run) {}
    virtual ~ValueWriter() = default;

    void write(const Value& value) {
        const auto inside = run_.enter();
        const List* const list = value.list();
        if (list) {
            check<BadInput>(list->kind <= ListKind::tuple, "the text of what is no list is not known");
            const bool tuple = is_python && list->kind == ListKind::tuple;
            add(tuple ? "(" : "[");
            each(list->items, [&](const Value& item) { write(item); });
            add(tuple && list->items.size() == 1 ? ",)" : tuple ? ")" : "]");
        } else if (const Map* const map = value.map()) {
            add("{");
            const auto write_item = [&](const std::pair<Value, Value>& item) {
                write_key(item.first);
                add(colon);
                write(item.second);
            };
            auto items = map->items;
            if (sorted)
                std::stable_sort(items.begin(), items.end(),
                                 [&](const auto& a, const auto& b) { return is_less(run_, a.first, b.first); });
            each(items, write_item);
            add("}");
        } else if (const Text* const text = value.text()) {
            run_.make(text->bytes.size() * 2 * sizeof(std::size_t));
            write_text(*text);
        } else {
            write_atom(value);
        }
    }

    Text out;

  protected:
    template <class T>
    void add(const T& text) {
        run_.add(out, text);
    }
    virtual void write_text(const Text& text) = 0;
    virtual void write_atom(const Value& value) = 0;
    virtual void write_key(const Value& key) { write(key); }

    Run& run_;
    bool is_python = true, sorted = false;
    Text comma{", "}, colon{": "}, indent;  // indent: of a level

  private:
    template <class Items, class Write>
    void each(const Items& items, const Write& write_one) {
        const auto new_line = [&] {
            if (!pretty || items.empty()) return;
            add("\n");
            for (std::size_t i = 0; i < level_; ++i) add(indent);
        };
        ++level_;
        for (const auto& item : items) {
            if (&item != &items[0]) add(comma);
            new_line();
            write_one(item);
        }
        --level_;
        new_line();
    }
    std::size_t level_ = 0;

  protected:
    bool pretty = false;
};

struct PythonWriter : ValueWriter {
    using ValueWriter::ValueWriter;
    void write_text(const Text& text) override {
        const bool quoted = text.bytes.find('\'') != std::string::npos && text.bytes.find('"') == std::string::npos;
        const char quote = quoted ? '"' : '\'';
        add(std::string_view(&quote, 1));
        run_.add(out, text.mapped([&](std::string_view c, std::string& to) { escape_python(c, quote, to); }));
        add(std::string_view(&quote, 1));
    }
    void write_atom(const Value& value) override {
        if (const auto* const b = std::get_if<bool>(&value)) return add(*b ? "True" : "False");
        if (const auto* const i = std::get_if<std::int64_t>(&value)) return add(fmt::format("{}", *i));
        if (const auto* const d = std::get_if<double>(&value)) return add(float_text(*d));
        check<BadInput>(value.is_none() || value.is_undefined(), "the text of what has no value is not known");
        add(value.is_none() ? "None" : "Undefined");
    }
};

struct JsonWriter : ValueWriter {
    JsonWriter(Run& run, const Arguments& given) : ValueWriter(run) {
        const auto all = given.by("tojson", {"ensure_ascii", "indent", "separators", "sort_keys"});
        is_python = false;
        ascii_ = is_true(all[0]);
        sorted = is_true(all[3]);
        pretty = !all[1].is_undefined() && !all[1].is_none();
        if (pretty) {
            comma = Text(",");
            constexpr std::int64_t kMaxIndent = 100;
            const std::int64_t width =
                all[1].text() ? 0 : std::clamp<std::int64_t>(whole(all[1], "tojson"), 0, kMaxIndent);
            indent = all[1].text() ? *all[1].text() : Text(std::string(static_cast<std::size_t>(width), ' '));
        }
        if (!is_true(all[2])) return;
        check<BadInput>(all[2].list() && all[2].list()->items.size() == 2, "tojson wants two separators");
        comma = text_in(all[2].list()->items[0], "tojson");
        colon = text_in(all[2].list()->items[1], "tojson");
    }
    void write_text(const Text& text) override {
        add("\"");
        run_.add(out, text.mapped([&](std::string_view c, std::string& to) { escape_json(c, ascii_, to); }));
        add("\"");
    }
    void write_atom(const Value& value) override {
        if (const auto* const b = std::get_if<bool>(&value)) return add(*b ? "true" : "false");
        if (const auto* const i = std::get_if<std::int64_t>(&value)) return add(fmt::format("{}", *i));
        if (const auto* const d = std::get_if<double>(&value)) {
            const bool infinite = std::isinf(*d);
            return add(infinite ? (*d < 0 ? "-Infinity" : "Infinity") : std::isnan(*d) ? "NaN" : float_text(*d));
        }
        check<BadInput>(value.is_none(), "tojson of what has no value");
        add("null");
    }
    void write_key(const Value& key) override {
        if (key.text()) return write(key);
        add("\"");
        write_atom(key);
        add("\"");
    }

  private:
    bool ascii_ = false;
};

}  // namespace

std::string float_text(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    return layout_of(value);
}

Text text_of(Run& run, const Value& value) {
    if (value.is_undefined()) return {};
    if (const Text* const text = value.text()) return *text;
    PythonWriter writer(run);
    writer.write(value);
    return std::move(writer.out);
}

Text json_of(Run& run, const Value& value, const Arguments& given) {
    JsonWriter writer(run, given);
    writer.write(value);
    return std::move(writer.out);
}

}  // namespace inkling::formats::jinja
