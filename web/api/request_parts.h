// The parts that completion and chat requests share.
#pragma once

#include "web/api/json_fields.h"
#include "web/api/text_request.h"

namespace inkling::web {

constexpr std::int64_t kMaxLogprobs = 20;

void read_common(Fields& fields, const RequestLimits& limits, TextRequest& request);

}  // namespace inkling::web
