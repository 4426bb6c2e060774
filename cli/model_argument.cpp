#include "cli/model_argument.h"

#include <sys/stat.h>

#include <filesystem>

namespace inkling::cli {
namespace {

// What tells one state of a folder from another: where its links lead, and which files are there.
std::string state_of(const std::string& path) {
    std::error_code none;
    const std::filesystem::path folder = std::filesystem::canonical(models::find_model(path), none);
    std::string state = folder.string();
    for (const char* name : {"config.json", "tokenizer.json", "model.safetensors", "model.safetensors.index.json"}) {
        struct stat s {};
        if (stat((folder / name).c_str(), &s) == 0)
            state += fmt::format(" {}.{}.{}.{}", s.st_ino, s.st_size, s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
    }
    return state;
}

}  // namespace

models::LoadedModel load_current(const std::string& path, models::Kept kept) {
    for (int attempt = 1;; ++attempt) {
        const std::string before = state_of(path);
        const auto changed = [&] { return attempt < 5 && state_of(path) != before; };
        try {
            std::error_code none;
            models::LoadedModel loaded =
                models::load_model(std::filesystem::canonical(models::find_model(path), none), std::nullopt, kept);
            if (!changed()) return loaded;
        } catch (const BadInput&) {
            if (!changed()) throw;
        }
    }
}

}  // namespace inkling::cli
