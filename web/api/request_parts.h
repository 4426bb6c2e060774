// The parts that requests share.
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

    // Refuses a field unless it is absent or has a value without effect, as listed.
    void accept(const std::string& name, const std::vector<nlohmann::json>& values) const;
    void refuse_others() const;  // refuses unknown fields, unless their value means off
};

// The token ids of a list, the field `name` or a part of it.
std::vector<std::int32_t> read_ids(const Fields& fields, const std::string& name, const nlohmann::json& list);

void read_common(const Fields& fields, const RequestLimits& limits, TextRequest& request);

}  // namespace inkling::web
