#include "web/http/routes.h"

#include "web/http/http_error.h"

namespace inkling::web {
namespace {

bool path_matches(std::string_view route, std::string_view path) {
    return route.ends_with('*') ? path.starts_with(route.substr(0, route.size() - 1)) : path == route;
}

}  // namespace

const HttpRoute& find_route(const std::vector<HttpRoute>& routes, const HttpRequest& request) {
    const HttpRoute* other = nullptr;
    for (const HttpRoute& route : routes) {
        if (!path_matches(route.path, request.path)) continue;
        if (route.method == (request.method == "HEAD" ? "GET" : request.method)) return route;
        other = &route;
    }
    if (!other) throw HttpError(404, "nothing is at " + request.path, "", "not_found");
    throw HttpError(405, request.path + " is for " + other->method, "", "method_not_allowed");
}

}  // namespace inkling::web
