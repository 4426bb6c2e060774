#include "train/run/checkpoint.h"

#include <algorithm>
#include <map>

#include "data/text/content_hash.h"
#include "engine/base/names.h"
#include "engine/base/parallel.h"
#include "formats/ascii.h"
#include "formats/files/file.h"
#include "formats/safetensors/safetensors.h"
#include "models/files/adapter_folder.h"
#include "models/files/folder.h"

namespace inkling::train {

namespace fs = std::filesystem;

namespace {

constexpr const char* kFormat = "1";
constexpr const char* kChecksum = "checksum";
constexpr const char* kModelFiles = "model_files";
constexpr const char* kBase = "base_fingerprint";
constexpr const char* kTeachers = "teacher_fingerprint";
constexpr const char* kValLoss = "val_loss";
constexpr const char* kBestStep = "best_step";
constexpr const char* kSpikes = "spikes";
const std::string kWeights = "weights.";  // the weights in training, if the model beside them is their average

// Calls visit(key, field) for each number and text that every training state has.
template <class State, class Visit>
void each_field(State& state, const Visit& visit) {
    visit("step", state.step);
    visit("best_val_loss", state.best_val_loss);
    visit("train_s", state.train_s);
    visit("elapsed_s", state.elapsed_s);
    visit("data_fingerprint", state.data_fingerprint);
    visit("config", state.config);
}

const std::string& text_of(const formats::SafetensorsFile& file, const std::string& key, const std::string& what) {
    const auto found = file.metadata().find(key);
    check<BadInput>(found != file.metadata().end(), "{}: {} is missing", what, key);
    return found->second;
}

template <class Number>
Number read_number(const formats::SafetensorsFile& file, const std::string& key, const std::string& what) {
    const std::string& text = text_of(file, key, what);
    const auto x = formats::parse_number<Number>(text);
    check<BadInput>(x.has_value(), "{}: {} must be a number, got '{}'", what, key, shown_name(text));
    return *x;
}

using Metadata = std::map<std::string, std::string>;

TrainingState read_state(const formats::SafetensorsFile& file, const std::string& what) {
    const auto text = [&](const std::string& key) { return text_of(file, key, what); };
    check<BadInput>(text("format") == kFormat, "{}: format '{}' is not known to this version", what, text("format"));
    TrainingState state;
    each_field(state, [&]<class Field>(const char* key, Field& field) {
        if constexpr (std::is_same_v<Field, std::string>)
            field = text(key);
        else
            field = read_number<Field>(file, key, what);
    });
    const Metadata& found = file.metadata();
    state.val_loss = found.contains(kValLoss) ? read_number<double>(file, kValLoss, what) : state.best_val_loss;
    if (found.contains(kBestStep)) state.best_step = read_number<std::size_t>(file, kBestStep, what);
    check<BadInput>(!found.contains(kSpikes) || state.spikes.read(text(kSpikes)), "{}: {} must be pairs of numbers",
                    what, kSpikes);
    if (found.contains(kBase)) state.base_fingerprint = text(kBase);
    if (found.contains(kTeachers)) state.teacher_fingerprint = text(kTeachers);
    return state;
}

// Hashes the model's files that hold no weights.
std::string files_checksum(const fs::path& folder) {
    data::WordHash hash;
    const char* const config = models::is_adapter(folder) ? "adapter_config.json" : "config.json";
    hash.add(formats::read_file(folder / config));
    if (const fs::path tokenizer = folder / "tokenizer.json"; formats::is_there(tokenizer))  // not beside token ids
        hash.add(formats::read_file(tokenizer));
    return fmt::format("{:016x}", hash.value);
}

// Hashes everything in a checkpoint, including the model's weights, because the files have no checksums. `weights`, if
// any: the weights in training, of which the model is the average.
std::string checksum(const Metadata& metadata, const nn::FlatParameters<float>& parameters, Optimizer<float>& optimizer,
                     const Array<float>& weights) {
    data::WordHash hash;
    for (const auto& [key, text] : metadata) {
        if (key == kChecksum) continue;
        hash.add(key);
        hash.add(text);
    }
    for (const auto& entry : parameters.entries()) {
        const std::size_t n = entry.parameter.size();
        hash.add(entry.parameter.value().data(), n);
        for (const auto& state : optimizer.state_of(entry)) hash.add(state.values, n);
        if (weights.defined()) hash.add(weights.data() + entry.offset, n);
    }
    // frozen weights are not in the checkpoint
    if (metadata.contains(kBase)) return fmt::format("{:016x}", hash.value);
    for (const Weight<float>& p : parameters.frozen()) {
        const ConstArray<float> values = p.values();
        hash.add(values.data(), values.size());
    }
    return fmt::format("{:016x}", hash.value);
}

// Empty before the first update: the state is all 0.
std::vector<Optimizer<float>::State> updated_state(Optimizer<float>& optimizer,
                                                   const nn::FlatParameters<float>::Entry& e) {
    return optimizer.updates > 0 ? optimizer.state_of(e) : std::vector<Optimizer<float>::State>();
}

// Hashes of the training state what every machine writes alike.
class StateHash {
  public:
    explicit StateHash(const Metadata& metadata) {
        for (const char* const key : kTrained)
            if (const auto found = metadata.find(key); found != metadata.end())
                hash_.add(fmt::format("{}={}\n", key, found->second));
    }
    void add(const std::string& name, const void* numbers, std::size_t bytes) {  // in the order of names
        hash_.add(name + "\n").add({static_cast<const char*>(numbers), bytes});
    }
    std::string text() { return formats::hex(hash_.digest()); }

  private:
    formats::Sha256 hash_;
};

}  // namespace

std::string base_fingerprint(models::Transformer<float>& model) {
    return model.adapter.rank == 0 ? "" : weights_fingerprint(model);
}

std::string weights_fingerprint(models::Transformer<float>& model) {
    constexpr std::size_t kNumbers = 1 << 20;  // widened at a time
    data::WordHash all;
    std::size_t count = 0;
    for (const models::ParameterSpec& p : models::parameters(model.config)) {
        const Weight<float>& weight = model.at(p);
        const std::size_t rows = weight.dim(0), width = weight.size() / rows;
        const std::size_t step = std::max<std::size_t>(1, kNumbers / width), parts = (rows + step - 1) / step;
        std::vector<std::uint64_t> hashes(parts);
        parallel_for(parts, 1, [&](std::size_t begin, std::size_t end) {
            std::vector<float> wide;
            for (std::size_t i = begin; i < end; ++i) {
                const std::size_t first = i * step, last = std::min(rows, first + step);
                const float* values = weight.packed() ? nullptr : weight.value().data() + first * width;
                if (weight.packed()) {
                    wide.resize((last - first) * width);
                    weight.packed()->unpack_rows(first, last, wide.data());
                    values = wide.data();
                }
                data::WordHash part;
                part.add(values, (last - first) * width);
                hashes[i] = part.value;
            }
        });
        for (const std::uint64_t h : hashes)
            all.add(static_cast<std::uint32_t>(h)), all.add(static_cast<std::uint32_t>(h >> 32));
        count += weight.size();
    }
    return fmt::format("{}-{:016x}", count, all.value);
}

SavedHashes save_checkpoint(const fs::path& folder, models::Transformer<float>& model, const data::Tokenizer& tokenizer,
                            const nn::FlatParameters<float>& parameters, Optimizer<float>& optimizer,
                            const WeightAverage& average, const TrainingState& state) {
    formats::SafetensorsWriter out;
    std::map<std::string, std::span<const float>> numbers;
    for (const auto& entry : parameters.entries()) {
        const std::size_t n = entry.parameter.size();
        const std::vector<std::uint64_t> shape(entry.parameter.shape().begin(), entry.parameter.shape().end());
        const auto add = [&](const std::string& name, const float* values) {
            out.add(name, formats::DType::F32, shape, values);
            numbers[name] = {values, n};
        };
        for (const auto& s : updated_state(optimizer, entry)) add(fmt::format("{}.{}", s.kind, entry.name), s.values);
        if (average.on()) add(kWeights + entry.name, average.kept.data() + entry.offset);
    }
    // numbers are stored as text that reads back to the same bits
    Metadata metadata = {{"format", kFormat},
                         {"optimizer", name_of(optimizer.kind())},
                         {"updates", fmt::format("{}", optimizer.updates)},
                         {kValLoss, fmt::format("{}", state.val_loss)},
                         {kBestStep, fmt::format("{}", state.best_step)},
                         {kSpikes, state.spikes.to_text()}};
    each_field(state, [&](const char* key, const auto& field) { metadata[key] = fmt::format("{}", field); });
    if (!state.base_fingerprint.empty()) metadata[kBase] = state.base_fingerprint;
    if (!state.teacher_fingerprint.empty()) metadata[kTeachers] = state.teacher_fingerprint;
    formats::Sha256 weights;
    if (model.adapter.rank > 0) {
        models::save_adapter(folder, model, tokenizer, &weights);
    } else {
        models::save_model(folder, model, tokenizer, formats::DType::F32, &weights);
    }
    metadata[kModelFiles] = files_checksum(folder);
    metadata[kChecksum] = checksum(metadata, parameters, optimizer, average.kept);
    for (const auto& [key, text] : metadata) out.set_metadata(key, text);
    out.write(folder / kStateFile);
    StateHash trained(metadata);
    for (const auto& [name, values] : numbers) trained.add(name, values.data(), values.size_bytes());
    return {formats::hex(weights.digest()), trained.text()};
}

std::string weights_sha256(const fs::path& checkpoint) {
    const char* const name = models::is_adapter(checkpoint) ? "adapter_model.safetensors" : "model.safetensors";
    return file_sha256(checkpoint / name);
}

std::string file_sha256(const fs::path& path) {
    const formats::MappedFile file(path);
    return formats::hex(formats::sha256({reinterpret_cast<const char*>(file.data()), file.size()}));
}

std::string state_sha256(const fs::path& path) {
    const auto file = formats::SafetensorsFile::open(path);
    StateHash hash(file.metadata());
    for (const auto& [name, tensor] : file.tensors()) {
        hash.add(name, tensor.bytes.data(), tensor.bytes.size());
        tensor.release(0, tensor.count);
    }
    return hash.text();
}

TrainingState load_state(const fs::path& folder, nn::FlatParameters<float>& parameters, Optimizer<float>& optimizer,
                         WeightAverage& average) {
    const std::string what = (folder / kStateFile).string();
    const auto file = formats::SafetensorsFile::open(folder / kStateFile);
    const Metadata& found = file.metadata();
    const auto text = [&](const std::string& key) { return text_of(file, key, what); };
    TrainingState state = read_state(file, what);
    const std::string name = found.contains("optimizer") ? text("optimizer") : "adamw";  // formerly the only one
    check<BadInput>(name == name_of(optimizer.kind()),
                    "{}: was trained with --optimizer {}: continue with it, not with {}", what, name,
                    name_of(optimizer.kind()));
    const bool averaged = file.contains(kWeights + parameters.entries().front().name);
    Array<float> weights;
    if (averaged) weights = Array<float>(parameters.values().shape(), 0.0f);
    optimizer.updates = read_number<std::uint64_t>(file, "updates", what);
    for (const auto& entry : parameters.entries()) {
        const std::size_t n = entry.parameter.size();
        for (const auto& s : updated_state(optimizer, entry))
            file.read(fmt::format("{}.{}", s.kind, entry.name), s.values, n);
        if (averaged) file.read(kWeights + entry.name, weights.data() + entry.offset, n);
    }
    check<BadInput>(text(kChecksum) == checksum(found, parameters, optimizer, weights),
                    "{}: is damaged, or does not belong to the {} beside it: continue from another checkpoint", what,
                    models::is_adapter(folder) ? "adapter_model.safetensors" : "model.safetensors");
    check<BadInput>(!found.contains(kModelFiles) || text(kModelFiles) == files_checksum(folder),
                    "{}: {} or tokenizer.json beside it changed after it was saved: take another checkpoint", what,
                    models::is_adapter(folder) ? "adapter_config.json" : "config.json");
    average.start();
    if (averaged) copy_into(parameters.values(), weights);
    return state;
}

TrainingState stored_state(const fs::path& folder) {
    return read_state(formats::SafetensorsFile::open(folder / kStateFile), (folder / kStateFile).string());
}

}  // namespace inkling::train
