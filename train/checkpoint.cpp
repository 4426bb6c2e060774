#include "train/checkpoint.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>

#include "models/folder.h"
#include "models/safetensors.h"

namespace inkling::train {

namespace fs = std::filesystem;

namespace {

constexpr const char* kFile = "training_state.safetensors";
constexpr const char* kFormat = "1";

// Doubles are kept as text that reads back to the same bits.
template <class Number>
std::string number_text(Number x) {
    return fmt::format("{}", x);
}

template <class Number>
Number read_number(const models::SafetensorsFile& file, const std::string& key, const std::string& what) {
    const auto found = file.metadata().find(key);
    check<BadInput>(found != file.metadata().end(), "{}: {} is missing", what, key);
    Number x{};
    const std::string& text = found->second;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
    check<BadInput>(error == std::errc() && end == text.data() + text.size(), "{}: {} must be a number, got '{}'", what,
                    key, text);
    return x;
}

}  // namespace

std::string fingerprint(std::span<const std::int32_t> tokens) {
    std::uint64_t h = 1469598103934665603ull;  // FNV-1a
    for (const std::int32_t t : tokens)
        h = (h ^ static_cast<std::uint64_t>(static_cast<std::uint32_t>(t))) * 1099511628211ull;
    return fmt::format("{}-{:016x}", tokens.size(), h);
}

void save_checkpoint(const fs::path& folder, models::GPT<float>& model, const data::Tokenizer& tokenizer,
                     const nn::FlatParameters<float>& parameters, const AdamW<float>& optimizer,
                     const TrainingState& state) {
    models::SafetensorsWriter out;
    for (const auto& entry : parameters.entries()) {
        const Array<float>& p = entry.parameter.value();
        const bool finite = std::all_of(p.data(), p.data() + p.size(), [](float x) { return std::isfinite(x); });
        check(finite, "checkpoint: {} holds values that are not finite: nothing is saved", entry.name);
        const std::vector<std::uint64_t> shape(p.shape().begin(), p.shape().end());
        out.add("adamw.m." + entry.name, models::DType::F32, shape, optimizer.m.data() + entry.offset);
        out.add("adamw.v." + entry.name, models::DType::F32, shape, optimizer.v.data() + entry.offset);
    }
    out.set_metadata("format", kFormat);
    out.set_metadata("step", number_text(state.step));
    out.set_metadata("updates", number_text(optimizer.updates));
    out.set_metadata("best_val_loss", number_text(state.best_val_loss));
    out.set_metadata("train_s", number_text(state.train_s));
    out.set_metadata("elapsed_s", number_text(state.elapsed_s));
    out.set_metadata("data_fingerprint", state.data_fingerprint);
    out.set_metadata("config", state.config);
    models::save_model(folder, model, tokenizer);
    out.write(folder / kFile);
}

TrainingState load_state(const fs::path& folder, const nn::FlatParameters<float>& parameters, AdamW<float>& optimizer) {
    const std::string what = (folder / kFile).string();
    const auto file = models::SafetensorsFile::open(folder / kFile);
    const auto text = [&](const std::string& key) {
        const auto found = file.metadata().find(key);
        check<BadInput>(found != file.metadata().end(), "{}: {} is missing", what, key);
        return found->second;
    };
    check<BadInput>(text("format") == kFormat, "{}: format '{}' is not known to this version", what, text("format"));
    TrainingState state;
    state.step = read_number<std::size_t>(file, "step", what);
    state.best_val_loss = read_number<double>(file, "best_val_loss", what);
    state.train_s = read_number<double>(file, "train_s", what);
    state.elapsed_s = read_number<double>(file, "elapsed_s", what);
    state.data_fingerprint = text("data_fingerprint");
    state.config = text("config");
    for (const auto& entry : parameters.entries()) {
        for (auto [prefix, moments] : {std::pair{"adamw.m.", &optimizer.m}, std::pair{"adamw.v.", &optimizer.v}}) {
            file.read(prefix + entry.name, moments->data() + entry.offset, entry.parameter.size());
        }
    }
    optimizer.updates = read_number<std::uint64_t>(file, "updates", what);
    return state;
}

}  // namespace inkling::train
