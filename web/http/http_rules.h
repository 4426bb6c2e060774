// Access rules by the request's Host, Origin and key.
#pragma once

#include "web/http/http.h"

namespace inkling::web {

// Throws HttpError 403 for a request from another site's page (CSRF), and for an unknown Host (DNS rebinding).
void check_source(const HttpOptions& options, const HttpRequest& request);

// Throws HttpError 401.
void check_key(const std::vector<std::string>& keys, const HttpRequest& request);

// Whether --allow-origin names its Origin.
bool is_allowed_origin(const HttpOptions& options, const HttpRequest& request);

}  // namespace inkling::web
