// A server in this process, on a port of its own, with a small model of the stories.
#pragma once

#include "models/folder.h"
#include "serve/api.h"
#include "tests/data/scratch_folder.h"
#include "tests/paths.h"
#include "tests/serve/client.h"

namespace inkling::testing {

inline const std::string kChatMl =
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + "
    "'\\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

inline serve::ApiOptions small_server() {
    serve::ApiOptions options;
    options.http.port = 0;
    return options;
}

struct Served {
    explicit Served(serve::ApiOptions options = small_server(), const std::string& folder = "reference/greedy_gpt2")
        : api(std::move(options)) {
        api.start();
        api.add_model(serve::load_served_model("stories", tests_path(folder), WeightType::fp32));
    }
    int port() {
        api.ready();
        return api.http().port();
    }
    Answer complete(const nlohmann::json& body) { return post(port(), "/v1/completions", body); }
    // The only text of an answer that is as it should be.
    std::string text(const nlohmann::json& body) {
        const Answer a = complete(body);
        INFO(a.body);
        REQUIRE(a.status == 200);
        return a.json()["choices"][0]["text"].get<std::string>();
    }

    serve::Api api;
};

// A folder with a model of random weights that has a chat template, and ChatML's marks as tokens 811 and 812.
struct ChatFolder {
    data::tests::ScratchFolder scratch;
    explicit ChatFolder(const std::string& chat_template = kChatMl);
};

}  // namespace inkling::testing
