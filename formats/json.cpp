#include "formats/json.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <vector>

#include "engine/check.h"
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

// What nlohmann does not see, or sees too late.
void check_bytes(std::string_view text, const std::string& what) {
    const std::size_t invalid = find_invalid_utf8(text);
    check<BadInput>(invalid == std::string_view::npos, "{}: not UTF-8: byte {} is 0x{:02X}", what, invalid,
                    static_cast<unsigned char>(invalid < text.size() ? text[invalid] : 0));
    // nlohmann takes NUL for the end of the text and would leave the rest unread.
    const std::size_t nul = text.find('\0');
    check<BadInput>(nul == std::string_view::npos, "{}: not valid JSON: byte {} is NUL", what, nul);
}

std::string syntax_error(const std::string& what, const nlohmann::json::exception& e, std::optional<std::size_t> byte) {
    const std::string place = byte ? fmt::format(" at byte {}", *byte) : "";
    return fmt::format("{}: not valid JSON{}: {}", what, place, reason_of(e.what()));
}

// A first pass that builds nothing: depth and duplicate keys. nlohmann's own parser callback would cost a search of the
// whole enclosing object or array for every object that ends, minutes for 100,000 of them.
struct Strict : nlohmann::json_sax<nlohmann::json> {
    const std::string& what;
    const int max_depth;
    int depth = 0;
    std::vector<std::unordered_set<std::string>> keys = {};  // of the objects that are open

    Strict(const std::string& w, int d) : what(w), max_depth(d) {}
    bool open() {
        check<BadInput>(depth++ < max_depth, "{}: JSON nested deeper than {} levels", what, max_depth);
        return true;
    }
    bool start_object(std::size_t) override { return keys.emplace_back(), open(); }
    bool end_object() override { return keys.pop_back(), depth--, true; }
    bool start_array(std::size_t) override { return open(); }
    bool end_array() override { return depth--, true; }
    bool key(string_t& k) override {
        const bool fresh = keys.back().insert(k).second;
        if (!fresh)
            check<BadInput>(false, "{}: the key {} appears twice in one object", what,
                            nlohmann::json(k).dump(-1, ' ', true).substr(0, 80));  // escaped: one line of ASCII
        return true;
    }
    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }
    // Left to the second pass, which throws it: it knows where and why.
    bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override { return false; }
};

}  // namespace

nlohmann::json parse_json(std::string_view text, const std::string& what, int max_depth) {
    check_bytes(text, what);
    Strict strict{what, max_depth};
    try {
        nlohmann::json::sax_parse(text.begin(), text.end(), &strict);
        return nlohmann::json::parse(text.begin(), text.end());
    } catch (const nlohmann::json::parse_error& e) {
        throw BadInput(syntax_error(what, e, e.byte));
    } catch (const nlohmann::json::exception& e) {
        throw BadInput(syntax_error(what, e, {}));
    }
}

bool JsonParts::parse_error(std::size_t byte, const std::string&, const nlohmann::json::exception& error) {
    throw BadInput(syntax_error(what_, error, byte));
}

void read_json(std::string_view text, JsonParts& parts) {
    check_bytes(text, parts.what());
    nlohmann::json::sax_parse(text.begin(), text.end(), &parts);
}

}  // namespace inkling::formats
