// inkling info
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "formats/file.h"
#include "formats/safetensors.h"
#include "models/adapter_folder.h"
#include "models/folder.h"
#include "models/weight_files.h"

namespace inkling::cli {
namespace {

namespace fs = std::filesystem;

struct InfoArguments {
    std::string model;
    bool json = false;
};

std::uint64_t bytes_of(const fs::path& folder) {
    if (models::is_adapter(folder)) return fs::file_size(folder / "adapter_model.safetensors");
    return models::WeightFiles::open(folder).bytes();
}

int show(const InfoArguments& args) {
    const fs::path folder = models::find_model(args.model);
    const auto [model, tokenizer] = models::load_model(folder);
    const models::Architecture& c = model->config;
    nlohmann::ordered_json info = {{"folder", folder.string()},
                                   {"arch", c.family},
                                   {"parameters", model->parameter_count()},
                                   {"n_layer", c.n_layer},
                                   {"n_head", c.n_head},
                                   {"n_embd", c.n_embd},
                                   {"block_size", c.block_size},
                                   {"vocab_size", c.vocab_size},
                                   {"bias", c.qkv_bias},
                                   {"dropout", c.dropout},
                                   {"tokenizer", name_of(tokenizer->kind())},
                                   {"bytes", bytes_of(folder)}};
    if (const models::AdapterOptions& adapter = model->adapter; adapter.rank > 0) {
        info.update({{"base_model", adapter.base}, {"lora_rank", adapter.rank}, {"lora_alpha", adapter.alpha}});
        const auto adapted = [&m = *model](const models::Parameter& p) { return m.has_adapter(p); };
        info["lora_targets"] = fmt::format("{}", fmt::join(models::target_names(c, adapted), ","));
        info["trained_parameters"] = models::adapter_count(c, adapter.rank, adapted);
    }
    if (c.kv_heads() != c.n_head) info["n_kv_head"] = c.kv_heads();
    const fs::path state = folder / "training_state.safetensors";
    if (formats::is_there(state)) {
        const auto file = formats::SafetensorsFile::open(state);
        for (const char* key : {"step", "best_val_loss", "train_s"}) {
            const auto found = file.metadata().find(key);
            if (found == file.metadata().end()) continue;
            const auto number = nlohmann::ordered_json::parse(found->second, nullptr, false);
            if (number.is_number()) info[key] = number;  // a best_val_loss of "inf" is none
        }
    }
    if (args.json) {
        print(info.dump() + "\n");
    } else {
        for (const auto& [key, value] : info.items()) {
            print(fmt::format("{:<14} {}\n", key, value.is_string() ? value.get<std::string>() : value.dump()));
        }
    }
    return 0;
}

}  // namespace

Action add_info(CLI::App& app) {
    auto args = std::make_shared<InfoArguments>();
    app.add_option("--model", args->model, "model folder, or the folder of a run")->required();
    app.add_flag("--json", args->json, "print one JSON object");
    return [args] { return show(*args); };
}

}  // namespace inkling::cli
