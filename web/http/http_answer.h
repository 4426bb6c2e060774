// Answers and errors as bytes, with the headers that keep browsers from harm.
#pragma once

#include <exception>

#include "web/http/http.h"

namespace inkling::web {

HttpResponse error_response(const HttpError& error);
HttpResponse error_response(std::exception_ptr exception);  // what a handler throws

// For a page of another site that may use the server (CORS): what a browser asks before it sends the request.
bool is_preflight(const HttpRequest& request);
HttpResponse preflight_response(const HttpRequest& request);

// The status line and headers. `chunked`: of a stream; `last`: the connection ends with this answer.
std::string head_text(const HttpResponse& response, bool chunked, bool last);

}  // namespace inkling::web
