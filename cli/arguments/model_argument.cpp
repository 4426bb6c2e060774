#include "cli/arguments/model_argument.h"

#include <sys/stat.h>

#include <filesystem>

#include "cli/common.h"
#include "cli/log.h"
#include "cli/usage/flag_values.h"
#include "cli/usage/wrong_usage.h"
#include "formats/files/file.h"
#include "models/files/adapter_folder.h"
#include "models/files/gguf/gguf_tokenizer.h"

namespace inkling::cli {
namespace {

// Identifies a state of a folder: the targets of its links, and its files.
std::string state_of(const std::string& path) {
    std::error_code none;
    const std::filesystem::path folder = std::filesystem::canonical(models::find_model(path), none);
    std::string state = folder.string();
    const auto add = [&](const std::filesystem::path& file) {
        struct stat s {};
        if (stat(file.c_str(), &s) == 0)
            state += fmt::format(" {}.{}.{}.{}", s.st_ino, s.st_size, s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
    };
    if (!formats::is_folder(folder)) add(folder);  // a GGUF file
    for (const char* name : {"config.json", "tokenizer.json", "model.safetensors", "model.safetensors.index.json",
                             "adapter_config.json", "adapter_model.safetensors"})
        add(folder / name);
    return state;
}

// Returns load(canonical folder), repeated until the folder did not change meanwhile, at most 5 times.
template <class Load>
auto load_unchanged(const std::string& path, const Load& load) {
    for (int attempt = 1;; ++attempt) {
        const std::string before = state_of(path);
        const auto changed = [&] { return attempt < 5 && state_of(path) != before; };
        try {
            std::error_code none;
            auto loaded = load(std::filesystem::canonical(models::find_model(path), none));
            if (!changed()) return loaded;
        } catch (const BadInput&) {
            if (!changed()) throw;
        }
    }
}

}  // namespace

void add_model_flags(CLI::App& app, ModelArgument& argument) {
    CLI::Option* const model =
        app.add_option("--model", argument.model, "folder of a model or run, or GGUF file")->required();
    offer(*model->type_name("MODEL"), {kFiles});
    const auto take = [&argument, model](const std::string& folder) {
        argument.adapter = folder;
        model->required(false);
    };
    offer(*app.add_option_function<std::string>("--adapter", take,
                                                "low-rank adapter: the folder of a run or of PEFT; without --model it "
                                                "runs on the model in its config"),
          {kFolders});
}

void warn_of_tokenizer(const data::Tokenizer& tokenizer) {
    if (const std::string warning = models::gguf_warning(tokenizer.origin); !warning.empty())
        spdlog::warn("{}", warning);
}

models::LoadedModel load_current(const std::string& path, models::WeightStorage storage) {
    auto loaded = load_unchanged(
        path, [storage](const auto& folder) { return models::load_model(folder, std::nullopt, storage); });
    warn_of_tokenizer(*loaded.tokenizer);
    return loaded;
}

models::LoadedModel load_current(const ModelArgument& argument, models::WeightStorage storage) {
    if (argument.adapter.empty()) return load_current(argument.model, storage);
    models::find_adapter("--adapter", argument.adapter);
    if (argument.model.empty()) return load_current(argument.adapter, storage);
    models::LoadedModel loaded = load_current(argument.model, storage);
    check<Usage>(loaded.model->adapter.rank == 0,
                 "--model {} has an adapter of its own: leave --adapter out, or name its model", argument.model);
    load_unchanged(argument.adapter, [&](const auto& folder) {
        models::load_adapter(folder, *loaded.model);
        return 0;
    });
    return loaded;
}

WeightType WeightFlags::type_for(const std::filesystem::path& model) const {
    if (!quantize.empty()) return WeightType::q8_0;
    if (precision.empty()) return load_unchanged(model.string(), models::usual_weights);
    return precision == "bf16" ? WeightType::bf16 : WeightType::fp32;
}

void add_weight_flags(CLI::App& app, WeightFlags& flags) {
    auto* const precision =
        app.add_option("--precision", flags.precision,
                       "type of the weights: fp32 or bf16; default: fp32, or the file's own for a quantized GGUF file")
            ->check(refuse_other_than({"fp32", "bf16"}));
    app.add_option("--quantize", flags.quantize, "quantize the weights: q8_0 (8 bits, as in llama.cpp)")
        ->check(refuse_other_than({"q8_0"}))
        ->excludes(precision);
}

void add_cache_flag(CLI::App& app, WeightFlags& flags) {
    app.add_option("--cache-type", flags.cache,
                   "type of cached keys and values: f32, or f16, which takes half the memory and rounds them; "
                   "default: f16 with quantized weights, otherwise f32")
        ->check(refuse_other_than(names_of<models::CacheType>()));
}

InferenceArgument load_for_inference(const ModelArgument& argument, const WeightFlags& weights) {
    const WeightType type = weights.type_for(argument.weights());
    models::LoadedModel loaded = load_current(argument, {type, true});
    auto model = std::make_shared<models::InferenceModel>(*loaded.model, type);
    model->cache_type = weights.cache_type().value_or(model->cache_type);
    return {std::move(model), std::move(loaded.tokenizer)};
}

}  // namespace inkling::cli
