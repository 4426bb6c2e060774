// A server in this process, on a free port, with a small model of the stories.
#pragma once

#include "tests/models/chat_folder.h"
#include "tests/support/http_client.h"
#include "web/api/api.h"

namespace inkling::testing {

inline const web::ApiOptions kSmallServer{.http = {.port = 0}};

inline std::string streamed_text(const Answer& a) {
    std::string text;
    for (const nlohmann::json& event : events(a)) text += event["choices"][0]["text"].get<std::string>();
    return text;
}

struct Served {
    explicit Served(web::ApiOptions options = kSmallServer,
                    const std::string& folder = tests_path("reference/greedy_gpt2"))
        : api(std::move(options)) {
        api.start();
        api.add_model(web::load_served_model("stories", folder, WeightType::fp32));
    }
    int port() {
        api.ready();
        return api.http().port();
    }
    Answer complete(const nlohmann::json& body) { return post(port(), "/v1/completions", body); }
    // Requires a successful answer, and returns its first choice, or the text of that.
    nlohmann::json choice(const nlohmann::json& body) {
        const Answer a = complete(body);
        INFO(a.body);
        REQUIRE(a.status == 200);
        return a.json()["choices"][0];
    }
    std::string text(const nlohmann::json& body) { return choice(body)["text"]; }

    web::Api api;
};

}  // namespace inkling::testing
