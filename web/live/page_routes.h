// Routes for pages and their data. Pages, styles and scripts hold no user data and need no key; their data does.
//   add_assets(server);                     // styles and scripts
//   add_playground(server, "runs");         // GET /; and GET /runs, /runs/NAME, and the data of the folder's runs:
//                                           // GET /api/runs, /api/runs/NAME, POST /api/runs/NAME/heads {"prompt"}
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "web/http/http.h"
#include "web/report/pages.h"

namespace inkling::web {

void add_assets(HttpServer& server);
void add_playground(HttpServer& server, const std::string& runs);  // "": without runs. Throws BadInput

HttpResponse page_response(const Page& page, const std::string& title, const nlohmann::ordered_json& data);

// `prompt` of a body {"prompt": "..."}; "" if absent. Throws BadInput for any other body.
std::string prompt_of(const HttpRequest& request);

}  // namespace inkling::web
