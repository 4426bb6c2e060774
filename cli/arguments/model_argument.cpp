#include "cli/arguments/model_argument.h"

#include <sys/stat.h>

#include <filesystem>

#include "cli/common.h"
#include "formats/files/file.h"
#include "models/files/adapter_folder.h"

namespace inkling::cli {
namespace {

// What tells one state of a folder from another: where its links lead, and which files are there.
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

// What load(canonical folder) makes of one state of the folder.
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
        app.add_option("--model", argument.model, "model folder, the folder of a run, or a GGUF file")->required();
    add_adapter_flag(app, argument.adapter, *model);
}

void add_adapter_flag(CLI::App& app, std::string& adapter, CLI::Option& model) {
    const auto take = [&adapter, &model](const std::string& folder) {
        adapter = folder;
        model.required(false);
    };
    app.add_option_function<std::string>("--adapter", take,
                                         "low-rank adapter of the model: its folder, PEFT's too, or that of a run; "
                                         "without --model, of the model that it names");
}

models::LoadedModel load_current(const std::string& path, models::Kept kept) {
    return load_unchanged(path, [kept](const auto& folder) { return models::load_model(folder, std::nullopt, kept); });
}

models::LoadedModel load_current(const ModelArgument& argument, models::Kept kept) {
    if (argument.adapter.empty()) return load_current(argument.model, kept);
    const auto check_adapter = [&](const std::filesystem::path& folder) {
        check<BadInput>(models::is_adapter(folder), "--adapter {}: is no adapter: it has no adapter_config.json",
                        argument.adapter);
    };
    check_adapter(models::find_model(argument.adapter));
    if (argument.model.empty()) return load_current(argument.adapter, kept);
    models::LoadedModel loaded = load_current(argument.model, kept);
    if (loaded.model->adapter.rank > 0)
        throw Usage(fmt::format("--model {} has an adapter of its own: leave --adapter out, or name its model",
                                argument.model));
    load_unchanged(argument.adapter, [&](const auto& folder) {
        check_adapter(folder);
        models::load_adapter(folder, *loaded.model);
        return 0;
    });
    return loaded;
}

}  // namespace inkling::cli
