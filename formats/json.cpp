#include "formats/json.h"

#include <algorithm>
#include <vector>

#include "engine/base/check.h"
#include "formats/python_json.h"
#include "formats/utf8.h"

namespace inkling::formats {

namespace {

// nlohmann writes "[json.exception.parse_error.101] parse error at line 1, column 2: <reason>; last read: '<any
// length>'; <expected>": keeps the reason.
std::string reason_of(std::string message) {
    if (const auto head = message.find("] "); head != std::string::npos) message.erase(0, head + 2);
    if (const auto place = message.find(": "); message.starts_with("parse error") && place != std::string::npos)
        message.erase(0, place + 2);
    return message.substr(0, std::min(message.find("; last read"), std::size_t{120}));
}

// Errors that nlohmann misses or reports too late.
void check_bytes(std::string_view text, const std::string& what) {
    const std::size_t invalid = find_invalid_utf8(text);
    check<BadInput>(invalid == std::string_view::npos, "{}: not UTF-8: byte {} is 0x{:02X}", what, invalid,
                    static_cast<unsigned char>(invalid < text.size() ? text[invalid] : 0));
    // nlohmann takes NUL for the end of the text and would leave the rest unread.
    const std::size_t nul = text.find('\0');
    check<BadInput>(nul == std::string_view::npos, "{}: not valid JSON: byte {} is NUL", what, nul);
}

// Builds the value, with depth counted and duplicate keys refused. nlohmann's own parser callback would cost a search
// of the whole enclosing object or array for every object that ends, minutes for 100,000 of them.
class Builder : public nlohmann::json_sax<nlohmann::json> {
  public:
    nlohmann::json value;
    std::vector<std::pair<std::size_t, std::size_t>> replaced;  // offsets in the parsed text and in the given text

    Builder(const std::string& what, int max_depth, std::size_t max_values)
        : what_(what), max_depth_(max_depth), left_(max_values) {}
    bool start_object(std::size_t) override { return open(nlohmann::json::object()); }
    bool end_object() override { return open_.pop_back(), true; }
    bool start_array(std::size_t) override { return open(nlohmann::json::array()); }
    bool end_array() override { return open_.pop_back(), true; }
    bool key(string_t& k) override {
        if (open_.back()->contains(k))
            check<BadInput>(false, "{}: the key {} appears twice in one object", what_, quote(k));
        key_ = std::move(k);
        return true;
    }
    bool null() override { return put(nullptr); }
    bool boolean(bool v) override { return put(v); }
    bool number_integer(number_integer_t v) override { return put(v); }
    bool number_unsigned(number_unsigned_t v) override { return put(v); }
    bool number_float(number_float_t v, const string_t&) override { return put(v); }
    bool string(string_t& v) override {
        std::optional<binary_t> foreign = python_value(v);
        return foreign ? binary(*foreign) : put(std::move(v));
    }
    bool binary(binary_t& v) override { return put(std::move(v)); }
    bool parse_error(std::size_t byte, const std::string&, const nlohmann::json::exception& error) override {
        std::size_t given = byte;
        for (const auto& [here, there] : replaced)
            if (here < byte) given = there + byte - here;
        throw BadInput(fmt::format("{}: not valid JSON at byte {}: {}", what_, given, reason_of(error.what())));
    }

  private:
    nlohmann::json& place(nlohmann::json&& v) {
        check<BadInput>(left_-- > 0, "{}: has too many values", what_);
        if (open_.empty()) return value = std::move(v);
        nlohmann::json& in = *open_.back();
        if (in.is_array()) return in.emplace_back(std::move(v));
        return *in.emplace(std::move(key_), std::move(v)).first;
    }
    bool put(nlohmann::json&& v) { return place(std::move(v)), true; }
    bool open(nlohmann::json&& empty) {
        check<BadInput>(open_.size() < static_cast<std::size_t>(max_depth_), "{}: JSON nested deeper than {} levels",
                        what_, max_depth_);
        open_.push_back(&place(std::move(empty)));
        return true;
    }

    const std::string& what_;  // prefix of every message
    const int max_depth_;
    std::size_t left_;                   // values
    std::vector<nlohmann::json*> open_;  // objects and arrays that have not ended
    std::string key_;
};

}  // namespace

nlohmann::json parse_json(std::string_view text, const std::string& what, int max_depth, std::size_t max_values) {
    check_bytes(text, what);
    Builder builder(what, max_depth, max_values);
    const std::string marked = python_values_marked(text, builder.replaced);
    if (!builder.replaced.empty()) text = marked;
    nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
    return std::move(builder.value);
}

nlohmann::json json_or_null(std::string_view text) {
    constexpr std::size_t kMaxBytes = 4 << 20;
    try {
        return text.size() <= kMaxBytes ? parse_json(text, "", 64) : nullptr;
    } catch (const BadInput&) {
        return nullptr;
    }
}

nlohmann::ordered_json ordered_json_or_null(std::string_view text) {
    return json_or_null(text).is_null() ? nlohmann::ordered_json()
                                        : nlohmann::ordered_json::parse(text, nullptr, false);
}

const nlohmann::json& at_or_null(const nlohmann::json& object, const char* key) {
    static const nlohmann::json null;
    if (!object.is_object()) return null;
    const auto found = object.find(key);
    return found == object.end() ? null : *found;
}

std::string Quoted::text() const {
    constexpr std::size_t kMax = 40;
    const auto error = nlohmann::json::error_handler_t::replace;
    if (!value) return none;
    if (!value->is_binary()) return value->dump(-1, ' ', true, error).substr(0, kMax);
    const std::string bytes(value->get_binary().begin(), value->get_binary().end());
    if (!value->get_binary().has_subtype()) return bytes.substr(0, kMax);
    return nlohmann::json(bytes).dump(-1, ' ', true, error).substr(0, kMax) + ", half of a surrogate pair in it";
}

namespace {

constexpr std::string_view kSign = "\xF4\x8F\xBF\xBE";  // U+10FFFE, a noncharacter

// Strings of bytes as UTF-8: the sign and two digits for a byte that is not, the sign twice for itself.
template <class Json>
void make_utf8(Json& value) {
    if (value.is_structured()) {
        for (Json& one : value) make_utf8(one);
    } else if (value.is_string()) {
        std::string& text = value.template get_ref<std::string&>();
        std::string made;
        for (std::size_t at = 0; at < text.size();) {
            const std::string_view rest = std::string_view(text).substr(at);
            const std::size_t good = std::min({find_invalid_utf8(rest), rest.find(kSign), rest.size()});
            made += rest.substr(0, good);
            at += good;
            if (good == rest.size()) break;
            const bool sign = rest.substr(good).starts_with(kSign);
            made += kSign;
            made += sign ? std::string(kSign) : fmt::format("{:02x}", static_cast<unsigned char>(text[at]));
            at += sign ? kSign.size() : 1;
        }
        text = std::move(made);
    }
}

template <class Json>
std::string text_of(const Json& value, int indent) {
    try {
        return value.dump(indent);
    } catch (const nlohmann::json::type_error&) {  // a string is not UTF-8
    }
    Json made = value;
    make_utf8(made);
    std::string text = made.dump(indent);
    for (std::size_t at = 0; (at = text.find(kSign, at)) != std::string::npos;) {
        const bool sign = std::string_view(text).substr(at + kSign.size()).starts_with(kSign);
        text.replace(at, kSign.size(), sign ? "" : "\\udc");
        at += sign ? kSign.size() : 6;
    }
    return text;
}

}  // namespace

std::string json_text(const nlohmann::json& value, int indent) { return text_of(value, indent); }
std::string json_text(const nlohmann::ordered_json& value, int indent) { return text_of(value, indent); }

std::optional<std::string> file_name(const nlohmann::json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (!value.is_binary() || !value.get_binary().has_subtype()) return std::nullopt;
    return std::string(value.get_binary().begin(), value.get_binary().end());
}

}  // namespace inkling::formats
