// Answers validated requests: makes jobs for the scheduler, and turns their pieces into OpenAI's JSON, whole or as
// server-sent events.
#pragma once

#include "web/api/scheduler.h"
#include "web/api/served_model.h"
#include "web/api/text_request.h"
#include "web/http/http.h"

namespace inkling::web {

HttpResponse answer_completion(const CompletionRequest& request, std::shared_ptr<const ServedModel> model,
                               Scheduler& scheduler, const std::function<bool()>& hung_up);

// Throws HttpError 400 for a model without a chat template.
HttpResponse answer_chat(const ChatRequest& request, std::shared_ptr<const ServedModel> model, Scheduler& scheduler,
                         const std::function<bool()>& hung_up);

}  // namespace inkling::web
