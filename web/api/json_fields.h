// The fields of a request's JSON object, read one by one; what is wrong is refused by name:
//   Fields fields(body);
//   const double t = fields.number("temperature", 0, 2).value_or(1);    // HttpError 400: "temperature: a number from
//   ..." fields.ignore({"user", "metadata"}); fields.refuse_others();                                            //
//   what nobody asked for
// null stands for a field that is not there.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

namespace inkling::web {

// A whole number, also one that is written as 1.0; nothing for other values, and beyond 64 bits.
std::optional<std::int64_t> whole_number(const nlohmann::json& value);

class Fields {
  public:
    // Throws HttpError 400 for what is no JSON object, or too deep.
    explicit Fields(const std::string& body);
    explicit Fields(nlohmann::json object, std::string prefix = "");  // of a part of the body, as messages[0]

    const nlohmann::json* find(const std::string& name);  // null: not there
    std::optional<double> number(const std::string& name, double least, double most);
    std::optional<std::int64_t> integer(const std::string& name, std::int64_t least, std::int64_t most = INT64_MAX);
    std::optional<bool> boolean(const std::string& name);
    std::optional<std::string> text(const std::string& name);

    // Fields that change nothing here, and fields that would, unless they are `false`, 0, "", [], {}, or one of
    // `values`.
    void ignore(std::initializer_list<const char*> names);
    void require_neutral(const std::string& name, std::initializer_list<nlohmann::json> values = {});
    void refuse_unless(const std::string& name, bool value);  // it is not there, or has this value
    void refuse_others() const;

    [[noreturn]] void refuse(const std::string& name, const std::string& why) const;

  private:
    nlohmann::json object_;
    std::string prefix_;
    std::set<std::string> known_;
};

}  // namespace inkling::web
