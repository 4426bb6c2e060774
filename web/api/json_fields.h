// Reads the fields of a request's JSON object one by one; errors name the field:
//   Fields fields(body);
//   const double t = fields.number("temperature", 0, 2).value_or(1);    // HttpError 400 outside of [0, 2]
//   fields.ignore({"user", "metadata"});
//   fields.refuse_others();                                             // HttpError 400 for an unknown field
// A field that is null counts as absent.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

namespace inkling::web {

// An integer, also written as 1.0; none for other values and beyond 64 bits.
std::optional<std::int64_t> whole_number(const nlohmann::json& value);

class Fields {
  public:
    // Throws HttpError 400 unless the body is a JSON object of limited depth.
    explicit Fields(const std::string& body);
    explicit Fields(nlohmann::json object, std::string prefix = "");  // a part of the body, such as messages[0]

    const nlohmann::json* find(const std::string& name);  // null: absent
    std::optional<double> number(const std::string& name, double least, double most);
    std::optional<std::int64_t> integer(const std::string& name, std::int64_t least, std::int64_t most = INT64_MAX);
    std::optional<bool> boolean(const std::string& name);
    std::optional<std::string> text(const std::string& name);

    // ignore: fields without effect here. The other accepts a field only if it is off (false, 0, "", [], {}) or one
    // of `values`.
    void ignore(std::initializer_list<const char*> names);
    void require_neutral(const std::string& name, std::initializer_list<nlohmann::json> values = {});
    void refuse_unless(const std::string& name, bool value);  // unless absent or of this value
    void refuse_others() const;

    [[noreturn]] void refuse(const std::string& name, const std::string& why) const;

  private:
    void refuse_what_json_lacks(const std::string& name, const nlohmann::json& value) const;

    nlohmann::json object_;
    std::string prefix_;
    std::set<std::string> known_;
};

}  // namespace inkling::web
