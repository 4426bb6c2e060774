#include "web/api/json_fields.h"

#include <algorithm>
#include <cmath>

#include "engine/base/names.h"
#include "formats/json.h"
#include "web/http/http_error.h"

namespace inkling::web {
namespace {

constexpr int kDepth = 32;

nlohmann::json parse_body(const std::string& body) {
    try {
        return formats::parse_json(body, "the body", kDepth);
    } catch (const BadInput& e) {
        throw HttpError(400, e.what());
    }
}

}  // namespace

std::optional<std::int64_t> whole_number(const nlohmann::json& value) {
    constexpr double kExact = 9007199254740992;  // 2^53: above, a double represents several integers
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) return std::nullopt;
    if (value.is_number_integer()) return value.get<std::int64_t>();
    const double x = value.is_number_float() ? value.get<double>() : std::nan("");
    if (!(std::abs(x) < kExact) || x != std::trunc(x)) return std::nullopt;
    return static_cast<std::int64_t>(x);
}

Fields::Fields(const std::string& body) : Fields(parse_body(body)) {}

Fields::Fields(nlohmann::json object, std::string prefix) : object_(std::move(object)), prefix_(std::move(prefix)) {
    if (!object_.is_object()) throw HttpError(400, (prefix_.empty() ? "the body" : prefix_) + " must be a JSON object");
}

void Fields::refuse(const std::string& name, const std::string& why) const {
    std::string path = prefix_.empty() ? name : prefix_ + "." + name;
    path = shortened(path, 100);
    std::replace_if(
        path.begin(), path.end(), [](unsigned char c) { return c < ' '; }, '?');
    throw HttpError(400, path + ": " + why, path);
}

const nlohmann::json* Fields::find(const std::string& name) {
    known_.insert(name);
    const auto found = object_.find(name);
    if (found == object_.end() || found->is_null()) return nullptr;
    refuse_what_json_lacks(name, *found);
    for (std::size_t i = 0; found->is_array() && i < found->size(); ++i) refuse_what_json_lacks(name, (*found)[i]);
    return &*found;
}

// What Python writes beyond JSON (formats::parse_json).
void Fields::refuse_what_json_lacks(const std::string& name, const nlohmann::json& value) const {
    if (!value.is_binary()) return;
    refuse(name, value.get_binary().has_subtype()
                     ? "the text has half of a surrogate pair: whole characters are required"
                     : fmt::format("a number of JSON is required, got {}", formats::quote(value).text()));
}

std::optional<double> Fields::number(const std::string& name, double least, double most) {
    const nlohmann::json* const value = find(name);
    if (!value) return std::nullopt;
    const double x = value->is_number() ? value->get<double>() : std::nan("");
    if (!(x >= least && x <= most)) refuse(name, fmt::format("a number from {} to {} is required", least, most));
    return x;
}

std::optional<std::int64_t> Fields::integer(const std::string& name, std::int64_t least, std::int64_t most) {
    const nlohmann::json* const value = find(name);
    if (!value) return std::nullopt;
    const std::optional<std::int64_t> n = whole_number(*value);
    if (!n || *n < least || *n > most)
        refuse(name, most == INT64_MAX ? fmt::format("a whole number of at least {} is required", least)
                                       : fmt::format("a whole number from {} to {} is required", least, most));
    return n;
}

std::optional<bool> Fields::boolean(const std::string& name) {
    const nlohmann::json* const value = find(name);
    if (!value) return std::nullopt;
    if (!value->is_boolean()) refuse(name, "true or false is required");
    return value->get<bool>();
}

std::optional<std::string> Fields::text(const std::string& name) {
    const nlohmann::json* const value = find(name);
    if (!value) return std::nullopt;
    if (!value->is_string()) refuse(name, "a text is required");
    return value->get<std::string>();
}

void Fields::ignore(std::initializer_list<const char*> names) {
    for (const char* name : names) known_.insert(name);
}

void Fields::require_neutral(const std::string& name, std::initializer_list<nlohmann::json> values) {
    const nlohmann::json* const value = find(name);
    if (!value) return;
    const bool empty = (value->is_structured() || value->is_string()) ? value->empty() || *value == nlohmann::json("")
                       : value->is_boolean()                          ? !value->get<bool>()
                                                                      : *value == nlohmann::json(0);
    if (!empty && std::find(values.begin(), values.end(), *value) == values.end())
        refuse(name, "this server does not have it: leave it out");
}

void Fields::refuse_unless(const std::string& name, bool value) {
    if (boolean(name).value_or(value) != value) refuse(name, fmt::format("this server does not have it: {}", value));
}

void Fields::refuse_others() const {
    for (const auto& [name, value] : object_.items()) {
        if (!known_.contains(name) && !value.is_null())
            refuse(name, "this server does not know it, and it may change the result: leave it out");
    }
}

}  // namespace inkling::web
