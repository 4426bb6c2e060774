// The pages that a server shows, and the data that they ask for. Pages, styles and scripts hold nothing of a user, so
// they need no key; what they ask for does.
//   add_pages(server);                      // styles and scripts
//   add_playground(server, true);           // GET /
//   add_runs(server, "runs");               // GET /runs, /runs/NAME, and their data: GET /api/runs, /api/runs/NAME,
//                                           // POST /api/runs/NAME/heads {"prompt"}
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "web/http/http.h"
#include "web/report/pages.h"

namespace inkling::web {

void add_pages(HttpServer& server);
void add_playground(HttpServer& server, bool runs = false);  // runs: it links to them
void add_runs(HttpServer& server, const std::filesystem::path& folder);

HttpResponse page_response(const web::Page& page, const std::string& title, const nlohmann::ordered_json& data);
HttpResponse json_response(const nlohmann::ordered_json& json);

// The text `prompt` of a body {"prompt": "..."}, "" when there is none; throws HttpError for any other body.
std::string prompt_of(const HttpRequest& request);

std::string cursor_of(const HttpRequest& request);  // ?cursor=, "" when there is none

// The heads of a run's best checkpoint: {"prompt", "heads"}, for show_heads(). "": the prompt of its samples; heads is
// null when it has none, or no checkpoint yet.
nlohmann::ordered_json heads_of(const std::filesystem::path& run, const std::string& prompt);

}  // namespace inkling::web
