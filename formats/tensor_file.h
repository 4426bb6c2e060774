// The tensors of a file, as safetensors and GGUF store them: each has a name and a type of numbers.
//   file.read("wte.weight", weights.data(), weights.size());   // widened to float, or rounded to it
//   file.tensor("wte.weight").shape
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/array/array.h"
#include "engine/base/half.h"
#include "formats/files/file.h"

namespace inkling::formats {

// How a type stores its numbers.
struct NumberLayout {
    std::string_view name;       // the format's: F32, BF16, Q4_K
    std::uint64_t block, bytes;  // numbers in a block, and the block's size
    // Converts n blocks, at any alignment, to float. Null: the type is not read.
    void (*widen)(const std::byte* blocks, std::size_t n, float* out) = nullptr;
    // Rounds n blocks of float to nearest. Null: they are written as they are, or the type is not written.
    void (*round)(const float* numbers, std::size_t n, std::byte* blocks) = nullptr;
    float limit = 0;  // the least size that is not finite once rounded; 0: the type is not written

    std::uint64_t bytes_of(std::uint64_t numbers) const { return numbers / block * bytes; }
};

void widen_f64(const std::byte* numbers, std::size_t n, float* out);  // rounds to nearest
void widen_f32(const std::byte* numbers, std::size_t n, float* out);
void widen_f16(const std::byte* numbers, std::size_t n, float* out);
void widen_bf16(const std::byte* numbers, std::size_t n, float* out);
void round_f16(const float* numbers, std::size_t n, std::byte* out);
void round_bf16(const float* numbers, std::size_t n, std::byte* out);
inline constexpr NumberLayout kFloat32{"F32", 1, 4, widen_f32, nullptr, std::numeric_limits<float>::infinity()},
    kFloat16{"F16", 1, 2, widen_f16, round_f16, 65520}, kBFloat16{"BF16", 1, 2, widen_bf16, round_bf16, 0x1.ffp127f};

// Writes float32 numbers, whole blocks, as the layout stores them, a part after the other while the cache holds it;
// rounds on several threads.
// Throws Error, beginning with `what`, for a number that is not finite as it is stored.
void write_rounded(const NumberLayout& layout, const float* from, std::uint64_t count, const std::string& what,
                   const std::function<void(const void* bytes, std::size_t size)>& write);

// Hands on the float32 numbers of a tensor in order, whole or in parts of whole rows, so that not all are in memory.
using NumberParts = std::function<void(const std::function<void(const ConstArray<float>&)>& part)>;

// A file with tensors.
struct TensorSource {
    std::string name;        // for messages
    std::string remedy;      // what to do about a type that is not read, for messages
    MappedFile mapped = {};  // empty: the bytes are in the caller's memory
};

struct FileTensor {
    std::string name = {};
    const NumberLayout* layout = nullptr;
    std::vector<std::uint64_t> shape = {};  // rows first; {} is a scalar
    std::uint64_t count = 1;                // numbers: the product of the shape
    std::span<const std::byte> bytes = {};  // valid as long as the source
    std::shared_ptr<const TensorSource> source = nullptr;

    const FileTensor& readable() const;  // throws BadInput for a type that is not read
    // The rows [begin, end), whole blocks, as a tensor; of {n}, the numbers.
    FileTensor rows(std::uint64_t begin, std::uint64_t end) const;
    // Widens `n` numbers from number `begin` on, both whole blocks, on this thread; returns how many are not finite.
    std::uint64_t widen(std::uint64_t begin, float* out, std::uint64_t n) const;
    // Converts all numbers to E: float, double (from other types than F64 by way of float), or BFloat16, rounded to
    // nearest. Returns how many are not finite as float. Throws BadInput for another count.
    template <class E>
    std::uint64_t read(E* out, std::uint64_t wanted) const;
    // Frees the memory of the file pages of `n` numbers, whole blocks; they may be read again.
    void release(std::uint64_t begin, std::uint64_t n) const;
};

class TensorFile {
  public:
    TensorFile() = default;
    explicit TensorFile(std::string name) : file_name_(std::move(name)) {}

    const std::map<std::string, FileTensor>& tensors() const { return tensors_; }
    bool contains(const std::string& tensor) const { return tensors_.contains(tensor); }
    const FileTensor& tensor(const std::string& name) const;  // throws BadInput if missing
    template <class E>
    std::uint64_t read(const std::string& name, E* out, std::uint64_t wanted) const {
        return tensor(name).read(out, wanted);
    }

  protected:
    bool add_tensor(FileTensor tensor);  // false: the name is taken

    std::string file_name_;  // for messages
    std::map<std::string, FileTensor> tensors_;
};

}  // namespace inkling::formats
