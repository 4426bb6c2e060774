// What requests for completions and for chats have in common.
#pragma once

#include "serve/fields.h"
#include "serve/text_request.h"

namespace inkling::serve {

constexpr std::int64_t kMaxLogprobs = 20;

void read_common(Fields& fields, const RequestLimits& limits, TextRequest& request);

}  // namespace inkling::serve
