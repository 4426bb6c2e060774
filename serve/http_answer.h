// Answers and errors as cpp-httplib's responses, with the headers that keep browsers from harm.
#pragma once

#include <exception>

#include "serve/http.h"

namespace httplib {
struct Response;
}

namespace inkling::serve {

void set_header(httplib::Response& response, const std::string& name, const std::string& value);  // replaces it
void set_answer(httplib::Response& response, HttpResponse answer, bool chunks);                   // chunks: of a stream

// An answer that the library has no part in; the connection ends with it.
std::string refusal_text(const HttpError& error);

// For a page of another site that may use the server (CORS).
void set_allowed_origin(httplib::Response& response, const std::string& origin);
void set_preflight(httplib::Response& response, const std::string& wanted_headers);

// `last`: the connection ends with it.
void set_error(httplib::Response& response, const HttpError& error, bool last);
void set_exception(httplib::Response& response, std::exception_ptr exception, bool last);

}  // namespace inkling::serve
