#include "web/http/http_error.h"

#include <nlohmann/json.hpp>

namespace inkling::web {
namespace {

const char* type_of(int status) {
    if (status == 401) return "authentication_error";
    if (status == 429) return "rate_limit_error";
    return status < 500 ? "invalid_request_error" : "server_error";
}

}  // namespace

HttpError client_gone() {
    return {400, "the client closed the connection before it had the answer", "", "client_gone"};
}

std::string error_json(const HttpError& error) {
    using nlohmann::ordered_json;
    const auto or_null = [](const std::string& text) { return text.empty() ? ordered_json() : ordered_json(text); };
    const ordered_json body = {{"error",
                                {{"message", error.what()},
                                 {"type", type_of(error.status)},
                                 {"param", or_null(error.param)},
                                 {"code", or_null(error.code)}}}};
    return body.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace inkling::web
