#include "models/files/stored_weights.h"

#include <algorithm>
#include <atomic>
#include <set>

#include "engine/base/check.h"
#include "engine/base/names.h"
#include "engine/base/q8_block.h"
#include "engine/kernels/block_types.h"

namespace inkling::models {
namespace {

// In a model folder.
std::vector<std::uint64_t> stored_shape(const Family& names, const ParameterSpec& p) {
    std::vector<std::uint64_t> shape(p.shape.begin(), p.shape.end());
    if (names.stored_transposed(p)) std::reverse(shape.begin(), shape.end());
    return shape;
}

// The layout of a model's parameters in its files.
struct Stored {
    const Family& names;
    const WeightFiles& file;

    bool gguf() const { return file.gguf() != nullptr; }
    const char* config() const { return gguf() ? "its metadata" : "config.json"; }
    std::string usual_name(const ParameterSpec& p) const { return gguf() ? gguf_name(p) : names.name_of(p); }
    std::vector<std::uint64_t> shape_of(const ParameterSpec& p) const {
        return gguf() ? std::vector<std::uint64_t>(p.shape.begin(), p.shape.end()) : stored_shape(names, p);
    }
    bool ignores(const std::string& name) const {
        if (gguf()) return name == "rope_freqs.weight";
        return std::any_of(names.ignored.begin(), names.ignored.end(),
                           [&](const auto& part) { return name.find(part) != std::string::npos; });
    }
    bool interleaved(const ParameterSpec& p) const {
        return gguf() && names.gguf_interleaved && (p.name == ParameterName::query || p.name == ParameterName::key);
    }

    std::string name_of(const ParameterSpec& p) const {
        if (gguf()) return gguf_name(p);
        if (const std::string other = names.layer_of(p) + ".weight";
            p.name == ParameterName::head && file.contains(other))
            return other;
        const std::string name = names.name_of(p), bare = name.substr(names.optional_prefix.size());
        if (!name.starts_with(names.optional_prefix) || file.contains(name)) return name;
        for (const std::string& prefix : names.other_prefixes)
            if (file.contains(prefix + bare)) return prefix + bare;
        return file.contains(bare) ? bare : name;
    }
};

std::string shape_text(const std::vector<std::uint64_t>& shape) { return to_string(Shape(shape.begin(), shape.end())); }

// A head that is tied may lie in files once more, under its own name.
ParameterSpec tied_head(const Architecture& a) {
    return {ParameterName::head, Slot::weight, 0, {a.vocab_size, a.n_embd}, {nn::Role::head}, nn::Initial::constant(0)};
}

std::vector<float> read(const WeightFiles& file, const std::string& name) {
    std::vector<float> values(file.tensor(name).count);
    file.read(name, values.data(), values.size());
    return values;
}

// Collects all that is missing, left over or of another shape.
std::string misfits(const Architecture& a, const Stored& stored) {
    const WeightFiles& file = stored.file;
    std::string problems;
    std::set<std::string> known;
    const auto fits = [&](const ParameterSpec& p, const std::string& name) {
        const auto found = file.tensor(name).shape, wanted = stored.shape_of(p);
        if (found != wanted)
            problems += fmt::format("; {} has shape {} where {} wants {}", stored.usual_name(p), shape_text(found),
                                    stored.config(), shape_text(wanted));
        return found == wanted;
    };
    std::vector<ParameterSpec> all = parameters(a);
    if (a.tied_head && file.contains(stored.name_of(tied_head(a)))) all.push_back(tied_head(a));
    for (const ParameterSpec& p : all) {
        const std::string name = stored.name_of(p);
        known.insert(name);
        if (file.contains(name))
            fits(p, name);
        else
            problems += fmt::format("; {} is missing", stored.usual_name(p));
    }
    for (const ParameterSpec& p : stored.names.zero_biases(a)) {
        const std::string name = stored.name_of(p);
        known.insert(name);
        if (!file.contains(name) || !fits(p, name)) continue;
        const std::vector<float> values = read(file, name);
        if (!std::all_of(values.begin(), values.end(), [](float v) { return v == 0; })) {
            problems += fmt::format("; {} is not zero although config.json says that there are no biases",
                                    stored.usual_name(p));
        }
    }
    for (const auto& [name, tensor] : file.tensors())
        if (!known.contains(name) && !stored.ignores(name))
            problems += fmt::format("; {} is not known", shown_name(name));
    return shorten_list(std::move(problems));
}

// E: the file's type, float or BFloat16.
template <class E>
Array<E> read_in_order(const Stored& stored, const ParameterSpec& p, const formats::FileTensor& tensor) {
    Array<E> values(Shape(tensor.shape.begin(), tensor.shape.end()));
    const std::uint64_t not_finite = tensor.read(values.data(), values.size());
    check<BadInput>(not_finite == 0, "{}: {} holds values that are not finite", stored.file.path.string(),
                    stored.usual_name(p));
    tensor.release(0, tensor.count);
    return values;
}

bool stored_in_order(const Stored& stored, const Architecture& a, const ParameterSpec& p) {
    if (stored.gguf()) return !stored.interleaved(p) && !adds_one(a, p);
    return !stored.names.stored_transposed(p) &&
           !(stored.names.qkv_by_head && p.name == ParameterName::query_key_value);
}

template <class E>
Array<E> read_values(const Stored& stored, const Architecture& a, const ParameterSpec& p) {
    const bool transposed = !stored.gguf() && stored.names.stored_transposed(p);
    Array<E> values = read_in_order<E>(stored, p, stored.file.tensor(stored.name_of(p)));
    if (transposed) values = values.transposed(0, 1).clone();
    if (stored.interleaved(p)) {
        const std::size_t d = a.head_size();
        values = swap_rows<E>(values, values.dim(0) / d, d / 2, 2);
    } else if (!stored.gguf() && stored.names.qkv_by_head && p.name == ParameterName::query_key_value) {
        values = swap_rows<E>(values, 1, a.n_head, 3);
    }
    if constexpr (std::is_same_v<E, float>)
        if (stored.gguf() && adds_one(a, p)) values -= 1.0f;  // GGUF holds the gains themselves
    return values;
}

// A matrix of a GGUF file in the blocks that the file has, if they have a type, else in q8_0. It is never whole in
// float32.
PackedMatrix read_blocks(const Stored& stored, const Architecture& a, const ParameterSpec& p, const BlockType* type) {
    const formats::FileTensor& tensor = stored.file.tensor(stored.name_of(p)).readable();
    const std::size_t columns = p.shape[1], d = a.head_size();
    const auto begin_of = [&, interleaved = stored.interleaved(p)](std::size_t r) {
        const std::size_t i = r % d;
        return (interleaved ? r - i + i % (d / 2) * 2 + i / (d / 2) : r) * columns;
    };
    constexpr std::size_t kReleased = 1 << 20;            // numbers at a time, whole blocks
    const auto release_before = [&](std::size_t begin) {  // the part before this row's
        if (begin % kReleased < columns && begin >= kReleased)
            tensor.release((begin / kReleased - 1) * kReleased, kReleased);
    };
    std::atomic<bool> finite = true;
    const auto bytes_of = [&](std::size_t r, std::byte*) {
        release_before(begin_of(r));
        return tensor.bytes.data() + tensor.layout->bytes_of(begin_of(r));
    };
    const auto fill = [&](std::size_t r, float* row) {
        release_before(begin_of(r));
        if (tensor.widen(begin_of(r), row, columns) > 0) finite = false;
    };
    PackedMatrix matrix =
        type ? PackedMatrix(*type, p.shape[0], columns, bytes_of) : PackedMatrix::q8_of_rows(p.shape[0], columns, fill);
    check<BadInput>(finite && matrix.finite(), "{}: {} holds values that are not finite", stored.file.path.string(),
                    stored.usual_name(p));
    tensor.release(0, tensor.count);
    return matrix;
}

bool in_blocks(const Stored& stored, const ParameterSpec& p, WeightStorage storage) {
    const bool file = storage.type == WeightType::file;
    if (!stored.gguf() || !may_be_packed(p) || (storage.type != WeightType::q8_0 && !file)) return false;
    const std::size_t block = stored.file.tensor(stored.name_of(p)).layout->block;
    // Float numbers stay as they are, and so do rows that are looked up.
    if (block == 1 && (file || (storage.inference && p.name == ParameterName::token_table))) return false;
    return p.shape[1] % kQ8Block == 0 && p.shape[1] % block == 0;
}

// The type of the blocks that stay as they are; null for those that become q8_0.
const BlockType* kept_type(std::string_view type, WeightStorage storage) {
    return storage.type == WeightType::file || type == "Q8_0" ? block_type(type) : nullptr;
}

Weight<float> read_weight(const Stored& stored, const Architecture& a, const ParameterSpec& p, WeightStorage storage) {
    const std::string_view type = stored.file.tensor(stored.name_of(p)).layout->name;
    if (in_blocks(stored, p, storage)) return Weight<float>(read_blocks(stored, a, p, kept_type(type, storage)));
    const bool rounded = stored.gguf() && storage.type == WeightType::bf16 && !storage.inference;
    const bool trained = storage.type == WeightType::fp32 && !storage.inference;
    if ((!rounded && type != "BF16") || !may_be_packed(p) || trained)
        return Tensor<float>(read_values<float>(stored, a, p), true);
    return Weight<float>(PackedMatrix(read_values<BFloat16>(stored, a, p)));
}

}  // namespace

std::string shorten_list(std::string problems) {
    constexpr std::size_t most = 4000;
    if (problems.size() <= most) return problems;
    return problems.substr(0, problems.rfind("; ", most)) + "; and more";
}

void check_weights(const Architecture& a, const WeightFiles& file) {
    const Stored stored{family(a.family), file};
    const std::string problems =
        a.n_layer <= file.tensors().size()
            ? misfits(a, stored)
            : fmt::format("; {} is missing", stored.usual_name(layer_parameters(a, a.n_layer - 1).front()));
    check<BadInput>(problems.empty(), "{}: the weights do not fit {}{}", file.path.string(), stored.config(), problems);
}

bool has_own_head(const Architecture& a, const WeightFiles& file) {
    const Stored stored{family(a.family), file};
    const std::string copy = stored.name_of(tied_head(a));
    if (!a.tied_head || !file.contains(copy)) return false;
    const formats::FileTensor &head = file.tensor(copy), &table = file.tensor(stored.name_of(parameters(a).front()));
    const bool same = head.layout == table.layout && std::ranges::equal(head.bytes, table.bytes);
    for (const formats::FileTensor* const tensor : {&head, &table}) tensor->release(0, tensor->count);
    return !same;
}

std::uint64_t loaded_bytes(const Architecture& a, const WeightFiles& file, WeightStorage storage) {
    const Stored stored{family(a.family), file};
    std::uint64_t all = 0;
    for (const ParameterSpec& p : parameters(a)) {
        const std::uint64_t n = size_of(p.shape);
        const formats::NumberLayout& layout = *stored.file.tensor(stored.name_of(p)).layout;
        if (in_blocks(stored, p, storage) && kept_type(layout.name, storage)) {
            all += layout.bytes_of(n);
            continue;
        }
        const bool packed = may_be_packed(p) && !(storage.inference && p.name == ParameterName::token_table),
                   trained = storage.type == WeightType::fp32 && !storage.inference,
                   half = may_be_packed(p) && !trained && (storage.type != WeightType::q8_0 || !packed) &&
                          layout.name == "BF16";
        if (in_blocks(stored, p, storage) || (packed && storage.type == WeightType::q8_0 && p.shape[1] % kQ8Block == 0))
            all += n / kQ8Block * (kQ8Block + sizeof(std::uint16_t));
        else
            all += n * ((packed && storage.type == WeightType::bf16) || half ? sizeof(BFloat16) : sizeof(float));
    }
    return all;
}

void load_weights(Transformer<float>& model, const WeightFiles& file, WeightStorage storage) {
    const Stored stored{family(model.config.family), file};
    for (const ParameterSpec& p : parameters(model.config))
        model.set(p, read_weight(stored, model.config, p, storage), storage);
    if (!has_own_head(model.config, file)) return;
    const ParameterSpec head = tied_head(model.config);
    model.config.tied_head = false;
    model.set(head, read_weight(stored, model.config, head, storage), storage);
}

void keep_in_files(Transformer<float>& model, WeightFiles file) {
    const auto files = std::make_shared<const WeightFiles>(std::move(file));
    if (has_own_head(model.config, *files)) model.config.tied_head = false;
    model.read_rows = [files, a = model.config](const ParameterSpec& p, std::size_t begin, std::size_t end) {
        const Stored stored{family(a.family), *files};
        const bool copies = p.name == ParameterName::head && !files->contains(stored.name_of(p));  // of an untied table
        const ParameterSpec from = copies ? parameters(a).front() : p;
        if (stored_in_order(stored, a, from))
            return read_in_order<float>(stored, from, files->tensor(stored.name_of(from)).rows(begin, end));
        return read_values<float>(stored, a, from).sliced(0, begin, end).clone();
    };
}

void save_weights(const std::filesystem::path& path, const Transformer<float>& model, formats::DType type,
                  formats::Sha256* hash) {
    const Family& names = family(model.config.family);
    formats::SafetensorsWriter out;
    out.set_metadata("format", "pt");
    for (const ParameterSpec& p : parameters(model.config))
        out.add_rounded(names.name_of(p), type, stored_shape(names, p), [&, p](const auto& part) {
            if (names.stored_transposed(p))
                part(model.values(p).transposed(0, 1).clone());
            else if (names.qkv_by_head && p.name == ParameterName::query_key_value)
                part(swap_rows(model.values(p), 1, 3, model.config.n_head));
            else
                model.each_part(p, part);
        });
    for (const ParameterSpec& p : names.zero_biases(model.config))
        out.add_rounded(names.name_of(p), type, stored_shape(names, p),
                        [p](const auto& part) { part(Array<float>(p.shape, 0.0f)); });
    out.write(path, hash);
}

}  // namespace inkling::models
