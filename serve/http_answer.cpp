#include "serve/http_answer.h"

#include <httplib.h>

namespace inkling::serve {
namespace {

void set_security_headers(httplib::Response& response, const std::string& type) {
    const bool page = type.starts_with("text/html");
    set_header(response, "X-Content-Type-Options", "nosniff");
    set_header(response, "X-Frame-Options", "DENY");
    set_header(response, "Referrer-Policy", "no-referrer");
    set_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    set_header(response, "Cache-Control", "no-store");
    set_header(response, "Content-Security-Policy",
               page ? "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' "
                      "data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
                    : "default-src 'none'; frame-ancestors 'none'");
}

}  // namespace

void set_header(httplib::Response& response, const std::string& name, const std::string& value) {
    response.headers.erase(name);
    response.set_header(name, value);
}

void set_error(httplib::Response& response, const HttpError& error, bool last) {
    response.status = error.status;
    response.body = error_json(error);
    set_security_headers(response, "");
    set_header(response, "Content-Type", "application/json");
    if (error.status == 401) set_header(response, "WWW-Authenticate", "Bearer");
    if (error.status == 429 || error.status == 503) set_header(response, "Retry-After", "1");
    if (last) set_header(response, "Connection", "close");
}

void set_exception(httplib::Response& response, std::exception_ptr exception, bool last) {
    try {
        std::rethrow_exception(exception);
    } catch (const HttpError& e) {
        set_error(response, e, last);
    } catch (const BadInput& e) {
        set_error(response, {400, e.what()}, last);
    } catch (const std::exception& e) {
        set_error(response, {500, e.what()}, last);
    } catch (...) {
        set_error(response, {500, "the request failed"}, last);
    }
}

std::string refusal_text(const HttpError& error) {
    httplib::Response response;
    set_error(response, error, true);
    set_header(response, "Content-Length", std::to_string(response.body.size()));
    std::string text = fmt::format("HTTP/1.1 {} Refused\r\n", error.status);
    for (const auto& [name, value] : response.headers) text += name + ": " + value + "\r\n";
    return text + "\r\n" + response.body;
}

void set_allowed_origin(httplib::Response& response, const std::string& origin) {
    set_header(response, "Access-Control-Allow-Origin", origin);
    set_header(response, "Vary", "Origin");
}

void set_preflight(httplib::Response& response, const std::string& wanted_headers) {
    response.status = 204;
    set_header(response, "Access-Control-Allow-Methods", "GET, POST");
    set_header(response, "Access-Control-Max-Age", "600");
    if (!wanted_headers.empty()) set_header(response, "Access-Control-Allow-Headers", wanted_headers);
}

void set_answer(httplib::Response& to, HttpResponse from, bool chunks) {
    to.status = from.status;
    set_security_headers(to, from.type);
    for (const auto& [name, value] : from.headers) set_header(to, name, value);
    if (!from.stream) return to.set_content(from.body, from.type);
    auto provider = [stream = std::move(from.stream)](size_t, httplib::DataSink& sink) {
        bool there = true;
        try {
            stream([&](std::string_view piece) {
                if (there && !piece.empty()) there = sink.write(piece.data(), piece.size());
                return there;
            });
        } catch (...) {  // the answer has begun: it can only be cut
            return false;
        }
        if (there) sink.done();
        return there;
    };
    if (chunks)
        to.set_chunked_content_provider(from.type, std::move(provider));
    else
        to.set_content_provider(from.type, std::move(provider));
}

}  // namespace inkling::serve
