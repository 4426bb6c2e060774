// Models whose config.json is written, read and refused.
#pragma once

#include "tests/models/architectures.h"
#include "tests/support/json_changes.h"

namespace inkling::testing {

inline json good() { return config_json(gpt2_shape(65, 3, 2, 32, 16, 0.25, false, 1e-6)); }

inline Architecture nanochat() {
    Architecture a = nanochat_shape(65, 3, 4, 2, 32, 16, 0.25, true);
    a.n_inner = 100, a.rope_theta = 50000, a.softcap = 20;
    return a;
}

// A Llama with an explicit head size.
inline Architecture llama() {
    Architecture a = llama_shape(65, 3, 4, 2, 32, 16, 0.25);
    a.n_inner = 100, a.rope_theta = 500, a.head_dim = 12, a.norm_epsilon = 1e-5;
    return a;
}

// As it is read from a file's text.
inline Architecture reread(const json& j) { return read_config(json::parse(j.dump()), "c"); }

inline Architecture there_and_back(const Architecture& a, std::int64_t end = -1) { return reread(config_json(a, end)); }

// The error message for a config; "" if it is read.
inline std::string refusal(const json& j) {
    const std::string error = error_of([&] { read_config(json::parse(j.dump()), "config.json"); });
    if (error.empty()) return error;
    CHECK(error.starts_with("config.json: "));
    CHECK(error.size() < 300);  // one short line, whatever a value holds
    CHECK(error.find_first_of("\n\x1b") == std::string::npos);
    return error;
}

inline json config_changes(const char* name) {
    return json_in(tests_path("models/families/config_changes.json"))[name];
}

}  // namespace inkling::testing
