// From a checked request for text to its answer: writers for its prompts, jobs for the scheduler, and the pieces that
// come back as OpenAI's JSON, whole or as server-sent events.
#pragma once

#include "serve/http.h"
#include "serve/scheduler.h"
#include "serve/served_model.h"
#include "serve/text_request.h"

namespace inkling::serve {

HttpResponse answer_completion(const CompletionRequest& request, std::shared_ptr<const ServedModel> model,
                               Scheduler& scheduler, const std::function<bool()>& hung_up);

// Throws HttpError 400 for a model without a chat template.
HttpResponse answer_chat(const ChatRequest& request, std::shared_ptr<const ServedModel> model, Scheduler& scheduler,
                         const std::function<bool()>& hung_up);

}  // namespace inkling::serve
