// Routes for pages and their data. Pages, styles and scripts hold no user data and need no key; their data does.
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
void add_playground(HttpServer& server, bool runs = false);  // runs: link to /runs
void add_runs(HttpServer& server, const std::filesystem::path& folder);

HttpResponse page_response(const web::Page& page, const std::string& title, const nlohmann::ordered_json& data);
HttpResponse json_response(const nlohmann::ordered_json& json);

// `prompt` of a body {"prompt": "..."}; "" if absent. Throws HttpError for any other body.
std::string prompt_of(const HttpRequest& request);

std::string cursor_of(const HttpRequest& request);  // ?cursor=; "" if absent

// The heads of a run's best checkpoint: {"prompt", "heads"}, for show_heads(). "" chooses the prompt of its samples.
// heads is null without a prompt or a checkpoint.
nlohmann::ordered_json heads_of(const std::filesystem::path& run, const std::string& prompt);

}  // namespace inkling::web
