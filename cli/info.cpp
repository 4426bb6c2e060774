// inkling info
#include <dlfcn.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "cli/usage/flag_values.h"
#include "data/chat/chat_template.h"
#include "engine/base/cpu.h"
#include "engine/base/precision.h"
#include "formats/files/file.h"
#include "formats/json.h"
#include "models/files/folder.h"
#include "train/run/checkpoint.h"

namespace inkling::cli {
namespace {

namespace fs = std::filesystem;

struct InfoArguments {
    std::string model;
    bool cpu = false, json = false;
};

void print_info(const nlohmann::ordered_json& info, bool json) {
    if (json) return print(formats::json_text(info) + "\n");
    for (const auto& [key, value] : info.items())
        print(fmt::format("{:<14} {}\n", key, value.is_string() ? value.get<std::string>() : value.dump()));
}

int show_cpu(const InfoArguments& args) {
    const CpuKind used = used_kind(), cpu = cpu_kind(), library = library_kind();
    const char* why = "the CPU has it, and the library";
    if (used == allowed_kind() && used < std::min(cpu, library))
        why = "INKLING_CPU asks for no more";
    else if (used == library && used < cpu)
        why = "the library that was loaded is compiled for no more";
    else if (used == cpu && used < library)
        why = "the CPU has no more";
    Dl_info place{};
    const bool known = dladdr(reinterpret_cast<const void*>(&library_kind), &place) != 0 && place.dli_fname;
    print_info({{"cpu", cpu_name()},
                {"instructions", name_of(used)},
                {"why", why},
                {"cpu_has", name_of(cpu)},
                {"library_has", name_of(library)},
                {"library", known ? place.dli_fname : "unknown"},
                {"fast_bf16", has_fast_bf16()}},
               args.json);
    return 0;
}

std::string positions_of(const models::Architecture& c) {
    if (c.positions == models::Positions::learned) return "learned";
    const char* const scaling = c.rope.scaling == models::RopeScaling::linear   ? ", linear scaling by "
                                : c.rope.scaling == models::RopeScaling::llama3 ? ", llama3 scaling by "
                                                                                : "";
    return fmt::format("rotary, theta {}{}{}", c.rope_theta, scaling,
                       *scaling ? fmt::format("{}", c.rope.factor) : std::string());
}

// The chat template's end of an answer.
std::string template_of(const data::Tokenizer& tokenizer) {
    if (!tokenizer.chat) return "none";
    try {
        const std::int32_t end = data::ChatTemplate::of(tokenizer).end_of_turn();
        return "answers end with " + tokenizer.decode(std::span(&end, 1));
    } catch (const BadInput& e) {
        return e.what();
    }
}

int show(const InfoArguments& args) {
    if (args.cpu) return show_cpu(args);
    const fs::path folder = models::find_model(args.model);
    const models::ModelHeader header = models::read_header(folder);
    const models::Architecture& c = header.config;
    const auto cache = header.weights.quantized() ? models::CacheType::f16 : models::CacheType::f32;
    nlohmann::ordered_json info = {{"folder", folder.string()},
                                   {"arch", c.family},
                                   {"parameters", header.parameter_count()},
                                   {"n_layer", c.n_layer},
                                   {"n_head", c.n_head},
                                   {"n_embd", c.n_embd},
                                   {"n_inner", c.inner()},
                                   {"block_size", c.block_size},
                                   {"vocab_size", c.vocab_size},
                                   {"bias", c.qkv_bias},
                                   {"dropout", c.dropout},
                                   {"positions", positions_of(c)},
                                   {"tokenizer", name_of(header.tokenizer->kind())},
                                   {"chat_template", template_of(*header.tokenizer)},
                                   {"type", std::string(header.weights.type())},
                                   {"bytes", header.weights.bytes()},
                                   {"cache_bytes_per_token",  // of keys and values, without --cache-type
                                    models::KvCache::bytes_per_token(c, cache)}};
    if (const auto& [adapter, adapted, count] = header.adapter; adapter.rank > 0) {
        info["bytes"] = fs::file_size(folder / "adapter_model.safetensors");
        info.update({{"base_model", adapter.base}, {"lora_rank", adapter.rank}, {"lora_alpha", adapter.alpha}});
        info["lora_targets"] = fmt::format("{}", fmt::join(models::target_names(c, adapted), ","));
        info["trained_parameters"] = count;
    }
    if (c.kv_heads() != c.n_head) info["n_kv_head"] = c.kv_heads();
    if (formats::is_there(folder / "training_state.safetensors")) {
        const train::TrainingState state = train::stored_state(folder);
        info["step"] = state.step;
        if (std::isfinite(state.best_val_loss)) info["best_val_loss"] = state.best_val_loss;
        info["train_s"] = state.train_s;
    }
    print_info(info, args.json);
    return 0;
}

}  // namespace

Action add_info(CLI::App& app) {
    auto args = std::make_shared<InfoArguments>();
    CLI::Option* const model = offer(*app.add_option("--model", args->model, "folder of a model or run, or GGUF file")
                                          ->required()
                                          ->type_name("MODEL"),
                                     {kFiles});
    app.add_flag_callback(
           "--cpu",
           [args, model] {
               args->cpu = true;
               model->required(false);
           },
           "instead of --model: show which CPU instructions are used, and why; the environment variable INKLING_CPU "
           "limits them to avx2, avx512 or avx512-bf16")
        ->excludes(model);
    app.add_flag("--json", args->json, "print one JSON object");
    return [args] { return show(*args); };
}

}  // namespace inkling::cli
