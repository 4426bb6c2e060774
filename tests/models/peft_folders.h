// Folders of adapters that PEFT wrote (tests/reference/make_adapters.py).
#pragma once

#include "tests/models/folders.h"

namespace inkling::testing {

inline nlohmann::json peft_numbers(const fs::path& folder) {
    return nlohmann::json::parse(formats::read_file(folder / "expected.json"));
}

// An adapter's folder whose files can be changed.
struct AdapterCopy {
    ScratchFolder scratch;
    fs::path folder = scratch.path("adapter");

    explicit AdapterCopy(const std::string& name) {
        fs::copy(tests_path("reference/adapters/" + name), folder);
        change([&](auto& j) {
            j["base_model_name_or_path"] = tests_path("reference/" + peft_numbers(folder)["base"].get<std::string>());
        });
    }
    void change(const std::function<void(nlohmann::json&)>& f) const {
        change_json_file(folder / "adapter_config.json", f);
    }
    void change_tensors(const std::function<void(StoredTensors&)>& f) const {
        testing::change_tensors(folder / "adapter_model.safetensors", f);
    }
    std::string refusal() const {
        return error_of([&] { models::load_model(folder); });
    }
};

}  // namespace inkling::testing
