// Who may ask: by the name that a request calls the server, and the web page that sends it.
#pragma once

#include "web/http/http.h"

namespace inkling::web {

// Throws HttpError 403 for a page of another site, which a browser lets act on the user's behalf, and for a name that
// its owner may let point to this machine (DNS rebinding).
void check_source(const HttpOptions& options, const HttpRequest& request);

// Throws HttpError 401.
void check_key(const std::vector<std::string>& keys, const HttpRequest& request);

// Whether a page that --allow-origin names sends it.
bool is_allowed_origin(const HttpOptions& options, const HttpRequest& request);

}  // namespace inkling::web
