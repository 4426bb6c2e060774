#include "web/http/http_answer.h"

#include <boost/beast/http/status.hpp>

#include <nlohmann/json.hpp>

#include "formats/ascii.h"
#include "formats/json_object.h"
#include "web/http/http_error.h"

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
    return json_response(body).body;
}

HttpResponse json_response(const nlohmann::ordered_json& json) {
    return {.body = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)};
}

HttpResponse error_response(const HttpError& error) {
    HttpResponse response{.status = error.status, .body = error_json(error)};
    if (error.status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
    if (error.status == 429 || error.status == 503) response.headers.emplace_back("Retry-After", "1");
    return response;
}

HttpResponse error_response(std::exception_ptr exception) {
    try {
        std::rethrow_exception(exception);
    } catch (const HttpError& e) {
        return error_response(e);
    } catch (const formats::BadKey& e) {
        return error_response(HttpError(400, e.what(), e.key));
    } catch (const BadInput& e) {
        return error_response(HttpError(400, e.what()));
    } catch (const std::exception& e) {
        return error_response(HttpError(500, e.what()));
    } catch (...) {
        return error_response(HttpError(500, "the request failed"));
    }
}

bool is_preflight(const HttpRequest& request) {
    return request.method == "OPTIONS" && request.headers.contains("access-control-request-method");
}

HttpResponse preflight_response(const HttpRequest& request) {
    HttpResponse response{.status = 204};
    response.headers = {{"Access-Control-Allow-Methods", "GET, POST"}, {"Access-Control-Max-Age", "600"}};
    if (const std::string wanted = request.header("access-control-request-headers"); !wanted.empty())
        response.headers.emplace_back("Access-Control-Allow-Headers", wanted);
    return response;
}

void allow_origin(HttpResponse& response, const HttpRequest& request) {
    response.headers.emplace_back("Access-Control-Allow-Origin", formats::lower(request.header("origin")));
    response.headers.emplace_back("Vary", "Origin");
}

std::string head_text(const HttpResponse& response, bool chunked, bool last) {
    const bool page = response.type.starts_with("text/html");
    std::map<std::string, std::string> headers = {
        {"X-Content-Type-Options", "nosniff"},
        {"X-Frame-Options", "DENY"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cache-Control", "no-store"},
        {"Content-Security-Policy",
         page ? "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' "
                "data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
              : "default-src 'none'; frame-ancestors 'none'"}};
    if (response.status != 204) headers["Content-Type"] = response.type;
    if (response.stream && chunked) headers["Transfer-Encoding"] = "chunked";
    if (!response.stream && response.status != 204) headers["Content-Length"] = std::to_string(response.body.size());
    if (last) headers["Connection"] = "close";
    for (const auto& [name, value] : response.headers) headers[name] = value;
    const auto reason =
        boost::beast::http::obsolete_reason(boost::beast::http::int_to_status(static_cast<unsigned>(response.status)));
    std::string text =
        fmt::format("HTTP/1.1 {} {}\r\n", response.status, std::string_view(reason.data(), reason.size()));
    for (const auto& [name, value] : headers) text += name + ": " + value + "\r\n";
    return text + "\r\n";
}

std::string chunk_text(std::string_view piece) { return fmt::format("{:x}\r\n{}\r\n", piece.size(), piece); }

}  // namespace inkling::web
