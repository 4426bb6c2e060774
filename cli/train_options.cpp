#include "cli/train_options.h"

#include "models/folder.h"
#include "train/checkpoint.h"
#include "train/run_folder.h"

namespace inkling::cli {

namespace fs = std::filesystem;
using train::TrainOptions;

namespace {

// A resumed run starts from its own settings: those of its folder, which may be newer, else of a checkpoint.
void read_own_settings(const Resume& resume, TrainOptions& options) {
    if (!resume.run.empty() && fs::exists(resume.run / "config.toml"))
        return read_toml(resume.run / "config.toml", options);
    for (const fs::path& candidate : resume.candidates) {
        try {
            return train::parse_toml(train::stored_config(candidate), candidate.string(), options);
        } catch (const BadInput&) {  // said when it is tried
        }
    }
}

}  // namespace

Resume find_resume(const TrainArguments& args) {
    TrainOptions options;
    if (!args.config.empty()) read_toml(args.config, options);
    if (args.has("out")) options.out = args.given.out;
    const std::string& from = args.given.resume;
    if (from.empty()) return {};
    if (from == "auto") return {options.out, train::find_checkpoints(options.out)};
    Resume resume{from, train::find_checkpoints(from)};
    if (!resume.candidates.empty()) return resume;
    const fs::path checkpoint = fs::weakly_canonical(models::find_model(from));  // `latest` is a link
    const bool named_as_one = train::is_checkpoint(checkpoint.filename().string());
    return {named_as_one ? checkpoint.parent_path() : fs::path(), {checkpoint}};
}

TrainOptions resolve(const TrainArguments& args, const Resume& resume) {
    TrainOptions options;
    const bool resumed = !resume.candidates.empty();
    if (resumed) {
        read_own_settings(resume, options);
        if (!resume.run.empty()) options.out = resume.run.string();  // it may have been moved
    }
    if (!args.recipe.empty()) {
        if (const auto names = train::recipe_names(); std::find(names.begin(), names.end(), args.recipe) == names.end())
            throw Usage(fmt::format("--recipe must be one of {}, got '{}'", fmt::join(names, ", "), args.recipe));
        options = train::recipe(args.recipe);
    } else if (!resumed && args.given.data.empty() && args.config.empty()) {
        options = train::recipe("stories");
    }
    if (!args.config.empty()) read_toml(args.config, options);
    TrainOptions::visit(options, [&](const std::string& flag, auto& field, const char*) {
        TrainOptions::visit(args.given, [&](const std::string& other, const auto& value, const char*) {
            if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::decay_t<decltype(field)>>) {
                if (flag == other && args.has(flag)) field = value;
            }
        });
    });
    if (args.has("vocab-size") && options.tokenizer != "bpe")
        throw Usage(fmt::format("--vocab-size is for --tokenizer bpe, got --tokenizer {}", options.tokenizer));
    try {
        options.validate();
    } catch (const Error& e) {
        throw Usage(e.what());
    }
    return options;
}

void take_shape(const TrainArguments& args, const models::GPTConfig& config, TrainOptions& options) {
    const auto take = [&](const char* flag, auto& field, auto value) {
        if (args.has(flag) && field != value) {
            throw Usage(
                fmt::format("--{} is {} in the model that is loaded, got {}: leave the flag out", flag, value, field));
        }
        field = value;
    };
    take("arch", options.arch, models::arch_name(config.arch));
    take("n-layer", options.n_layer, config.n_layer);
    take("n-head", options.n_head, config.n_head);
    if ((options.n_kv_head ? options.n_kv_head : config.n_head) != config.kv_heads())
        take("n-kv-head", options.n_kv_head, config.kv_heads());
    take("n-embd", options.n_embd, config.n_embd);
    take("block-size", options.block_size, config.block_size);
    take("bias", options.bias, config.bias);
}

}  // namespace inkling::cli
