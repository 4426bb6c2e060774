#include "formats/json.h"

#include <algorithm>
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

// Builds the value, with depth counted and duplicate keys refused. nlohmann's own parser callback would cost a search
// of the whole enclosing object or array for every object that ends, minutes for 100,000 of them.
class Builder : public JsonParts {
  public:
    nlohmann::json value;

    Builder(std::string what, int max_depth) : JsonParts(std::move(what)), max_depth_(max_depth) {}
    bool start_object(std::size_t) override { return open(nlohmann::json::object()); }
    bool end_object() override { return open_.pop_back(), true; }
    bool start_array(std::size_t) override { return open(nlohmann::json::array()); }
    bool end_array() override { return open_.pop_back(), true; }
    bool key(string_t& k) override {
        if (open_.back()->contains(k))
            check<BadInput>(false, "{}: the key {} appears twice in one object", what(),
                            nlohmann::json(k).dump(-1, ' ', true).substr(0, 80));  // escaped: one line of ASCII
        key_ = std::move(k);
        return true;
    }
    bool null() override { return put(nullptr); }
    bool boolean(bool v) override { return put(v); }
    bool number_integer(number_integer_t v) override { return put(v); }
    bool number_unsigned(number_unsigned_t v) override { return put(v); }
    bool number_float(number_float_t v, const string_t&) override { return put(v); }
    bool string(string_t& v) override { return put(std::move(v)); }

  private:
    nlohmann::json& place(nlohmann::json&& v) {
        if (open_.empty()) return value = std::move(v);
        nlohmann::json& in = *open_.back();
        if (in.is_array()) return in.emplace_back(std::move(v));
        return *in.emplace(std::move(key_), std::move(v)).first;
    }
    bool put(nlohmann::json&& v) { return place(std::move(v)), true; }
    bool open(nlohmann::json&& empty) {
        check<BadInput>(open_.size() < static_cast<std::size_t>(max_depth_), "{}: JSON nested deeper than {} levels",
                        what(), max_depth_);
        open_.push_back(&place(std::move(empty)));
        return true;
    }

    const int max_depth_;
    std::vector<nlohmann::json*> open_;  // objects and arrays that have not ended
    std::string key_;
};

}  // namespace

nlohmann::json parse_json(std::string_view text, const std::string& what, int max_depth) {
    Builder builder(what, max_depth);
    read_json(text, builder);
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

bool JsonParts::parse_error(std::size_t byte, const std::string&, const nlohmann::json::exception& error) {
    throw BadInput(fmt::format("{}: not valid JSON at byte {}: {}", what_, byte, reason_of(error.what())));
}

void read_json(std::string_view text, JsonParts& parts) {
    check_bytes(text, parts.what());
    nlohmann::json::sax_parse(text.begin(), text.end(), &parts);
}

}  // namespace inkling::formats
