// An HTTP error in OpenAI's format, which its clients turn into exceptions:
//   throw HttpError(400, "temperature: expected 0 to 2, got 7", "temperature");
//   {"error": {"message": "...", "type": "invalid_request_error", "param": "temperature", "code": null}}
#pragma once

#include <string>

#include "engine/base/check.h"

namespace inkling::web {

struct HttpError : Error {
    HttpError(int status_, const std::string& message, std::string param_ = "", std::string code_ = "")
        : Error(message), status(status_), param(std::move(param_)), code(std::move(code_)) {}

    int status;               // 400, 401, 404, 405, 408, 413, 429, 500, 503 ...
    std::string param, code;  // "": null
};

// The error for a client that closed the connection. One of HTTP/1.0 that closed its side alone still reads it.
HttpError client_gone();

// The response body, one line. Bytes of the message that are not UTF-8 become U+FFFD.
std::string error_json(const HttpError& error);

}  // namespace inkling::web
