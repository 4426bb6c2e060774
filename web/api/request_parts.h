// The parts that completion and chat requests share.
#pragma once

#include "formats/json_object.h"
#include "web/api/text_request.h"

namespace inkling::web {

constexpr std::int64_t kMaxLogprobs = 20;

// The body of a request. Throws BadInput, "the body: ...", for anything but a JSON object.
nlohmann::json parse_body(const std::string& body);

// The fields of a request; errors name the field.
class Fields : public formats::JsonObject {
  public:
    explicit Fields(const nlohmann::json& object, const std::string& place = "") : JsonObject(object, place) {}

    void ignore(const std::string& names) const;  // fields without effect here, separated by spaces
    // Accepts a field only if it is off (false, 0, "", [], {}) or one of `values`.
    void require_neutral(const std::string& name, std::initializer_list<nlohmann::json> values = {}) const;
    void refuse_unless(const std::string& name, bool value) const;  // unless absent or of this value
    void refuse_others() const;                                     // that are on
};

void read_common(const Fields& fields, const RequestLimits& limits, TextRequest& request);

}  // namespace inkling::web
