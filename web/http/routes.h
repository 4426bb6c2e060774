// The handlers of a server, by method and path.
#pragma once

#include <string>
#include <vector>

#include "web/http/http.h"

namespace inkling::web {

struct HttpRoute {
    std::string method, path;  // a path ends in * for all that begin like it
    HttpHandler handler;
    HttpAccess access;
};

// The route of a request; that of GET also for HEAD. Throws HttpError 404, or 405 for another method.
const HttpRoute& find_route(const std::vector<HttpRoute>& routes, const HttpRequest& request);

}  // namespace inkling::web
