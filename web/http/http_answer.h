// Serializes responses and errors, with security headers for browsers.
#pragma once

#include <exception>

#include "web/http/http.h"

namespace inkling::web {

HttpResponse error_response(const HttpError& error);
HttpResponse error_response(std::exception_ptr exception);  // for an exception of a handler

// Answers the preflight request of a page from an allowed origin (CORS).
bool is_preflight(const HttpRequest& request);
HttpResponse preflight_response(const HttpRequest& request);
void allow_origin(HttpResponse& response, const HttpRequest& request);  // lets that page read the response

// The status line and headers. `chunked`: a stream follows; `last`: the connection closes after this response.
std::string head_text(const HttpResponse& response, bool chunked, bool last);
std::string chunk_text(std::string_view piece);  // of a stream; an empty one ends it

}  // namespace inkling::web
