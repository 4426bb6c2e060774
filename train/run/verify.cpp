#include "train/run/verify.h"

#include "engine/base/check.h"
#include "models/files/adapter_folder.h"
#include "models/files/folder.h"
#include "train/run/run_folder.h"
#include "train/settings/settings.h"

namespace inkling::train {

namespace fs = std::filesystem;

namespace {

models::LoadedModel load(const fs::path& folder, const std::string& base, const TrainOptions& options) {
    if (!models::is_adapter(folder)) return models::load_model(folder, options.dropout);
    const fs::path model = base.empty() ? models::base_of_adapter(folder) : models::find_model(base);
    models::LoadedModel loaded = models::load_model(model, options.dropout, {options.base_precision});
    models::load_adapter(folder, *loaded.model);
    return loaded;
}

CheckedLink verify_link(const fs::path& run, const std::string& name, const std::string& wanted) {
    CheckedLink link{name, ""};
    std::error_code none;
    if (fs::is_symlink(fs::symlink_status(run / name, none))) link.target = fs::read_symlink(run / name, none).string();
    if (link.target == wanted) return link;
    if (wanted.empty()) {
        link.problem = fmt::format("points to {}, which is not whole", link.target);
    } else if (link.target.empty()) {
        link.problem = fmt::format("is missing, and should point to {}", wanted);
    } else if (!fs::exists(run / name, none)) {
        link.problem = fmt::format("points to {}, which does not exist, and should point to {}", link.target, wanted);
    } else {
        link.problem = fmt::format("points to {}, and should point to {}", link.target, wanted);
    }
    return link;
}

}  // namespace

CheckedCheckpoint verify_checkpoint(const fs::path& folder, const std::string& base) {
    CheckedCheckpoint found{folder};
    try {
        const std::string what = (folder / "training_state.safetensors: config").string();
        const TrainOptions options = parse_toml(stored_state(folder).config, what).options;
        const models::LoadedModel loaded = load(folder, base, options);
        nn::FlatParameters<float> parameters(*loaded.model);
        const auto optimizer = make_optimizer(options, parameters);
        WeightAverage average(parameters, options.ema);
        const TrainingState state = load_state(folder, parameters, *optimizer, average);
        check<BadInput>(!is_checkpoint(folder.filename().string()) || step_of(folder) == state.step,
                        "{}: its training state is of step {}", folder.string(), state.step);
        check<BadInput>(state.base_fingerprint == base_fingerprint(*loaded.model),
                        "{}: its adapters were trained for another model than {} holds now", folder.string(),
                        base.empty() ? loaded.model->adapter.base : base);
        found.files = hashes_of(folder);
        found.val_loss = state.val_loss;
        found.data_fingerprint = state.data_fingerprint;
    } catch (const Error& e) {
        found.problem = e.what();
    }
    return found;
}

std::vector<CheckedLink> verify_links(const fs::path& run, const std::vector<CheckedCheckpoint>& newest_first) {
    std::vector<Evaluated> whole;
    for (const CheckedCheckpoint& c : newest_first)
        if (c.problem.empty()) whole.push_back({c.folder, c.val_loss});
    return {verify_link(run, "latest", whole.empty() ? "" : whole.front().name()),
            verify_link(run, "best", best_of(whole))};
}

}  // namespace inkling::train
