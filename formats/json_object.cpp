#include "formats/json_object.h"

#include <algorithm>
#include <cmath>

#include "engine/base/names.h"
#include "formats/json.h"

namespace inkling::formats {
namespace {

// A text with half of a surrogate pair.
bool is_broken(const nlohmann::json& text) { return text.is_binary() && text.get_binary().has_subtype(); }

}  // namespace

std::optional<std::int64_t> whole_number(const nlohmann::json& value) {
    constexpr double kExact = 9007199254740992;  // 2^53: above, a double represents several integers
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) return std::nullopt;
    if (value.is_number_integer()) return value.get<std::int64_t>();
    const double x = value.is_number_float() ? value.get<double>() : std::nan("");
    if (!(std::abs(x) < kExact) || x != std::trunc(x)) return std::nullopt;
    return static_cast<std::int64_t>(x);
}

JsonObject::JsonObject(const nlohmann::json& object, std::string place) : json_(object), place_(std::move(place)) {
    if (object.is_object()) return;
    const std::string path = place_.substr(0, place_.find_last_not_of(". :") + 1);
    throw BadKey(path, " must be a JSON object, got " + quote(object).text());
}

void JsonObject::refuse(const std::string& key, const std::string& why) const {
    const nlohmann::json* const value = find(key);
    const bool broken =
        value && (is_broken(*value) || (value->is_array() && std::any_of(value->begin(), value->end(), is_broken)));
    throw BadKey(place_ + shown_name(key),
                 ": " + (broken ? "the text has half of a surrogate pair: whole characters are required" : why));
}

void JsonObject::refuse_kind(const std::string& key, const std::string& kind) const {
    const nlohmann::json* const value = find(key);
    if (value && is_broken(*value)) refuse(key, "");
    throw BadKey(place_ + shown_name(key), fmt::format(" must be {}, got {}", kind, quote(value, "nothing")));
}

const nlohmann::json* JsonObject::find(const std::string& key) const {
    known_.insert(key);
    const auto found = json_.find(key);
    return found == json_.end() || found->is_null() ? nullptr : &*found;
}

std::optional<std::string> JsonObject::text(const std::string& key) const {
    const nlohmann::json* const value = find(key);
    if (!value) return std::nullopt;
    if (!value->is_string()) refuse_kind(key, "a text");
    return value->get<std::string>();
}

std::optional<double> JsonObject::number(const std::string& key, double least, double most) const {
    const nlohmann::json* const value = find(key);
    if (!value) return std::nullopt;
    const double x = value->is_number() ? value->get<double>() : std::nan("");
    if (!(x >= least && x <= most))
        refuse_kind(key, std::isinf(most) ? "a number" : fmt::format("a number from {} to {}", least, most));
    return x;
}

std::optional<std::int64_t> JsonObject::integer(const std::string& key, std::int64_t least, std::int64_t most) const {
    const nlohmann::json* const value = find(key);
    if (!value) return std::nullopt;
    const std::optional<std::int64_t> n = whole_number(*value);
    if (!n || *n < least || *n > most)
        refuse_kind(key, most == INT64_MAX ? fmt::format("a whole number of at least {}", least)
                                           : fmt::format("a whole number from {} to {}", least, most));
    return n;
}

std::optional<bool> JsonObject::flag(const std::string& key) const {
    const nlohmann::json* const value = find(key);
    if (!value) return std::nullopt;
    if (!value->is_boolean()) refuse_kind(key, "true or false");
    return value->get<bool>();
}

std::vector<std::string> JsonObject::texts(const std::string& key) const {
    const nlohmann::json* const value = find(key);
    if (!value) return {};
    if (!value->is_array() ||
        !std::all_of(value->begin(), value->end(), [](const nlohmann::json& t) { return t.is_string(); }))
        refuse_kind(key, "a list of texts");
    return value->get<std::vector<std::string>>();
}

std::string JsonObject::required_text(const std::string& key) const {
    const std::optional<std::string> found = text(key);
    if (!found) refuse_kind(key, "a text");
    return *found;
}

bool JsonObject::required_flag(const std::string& key) const {
    const std::optional<bool> found = flag(key);
    if (!found) refuse_kind(key, "true or false");
    return *found;
}

void JsonObject::refuse_others() const {
    for (const auto& [key, value] : json_.items())
        if (!known_.contains(key) && !value.is_null())
            refuse(key, "not supported, and it may change the result; remove it");
}

}  // namespace inkling::formats
