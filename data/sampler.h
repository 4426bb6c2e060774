// Batches of token sequences for training. A batch is a pure function of (tokens, sizes, seed, step), so steps can be
// asked for in any order, and a resumed run needs only its step number:
//   auto sampler = make_sampler(SamplerKind::random, split.train, 12, 64, seed);
//   Batch batch;                   // reused from step to step
//   sampler->fill(step, batch);
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "data/token_view.h"
#include "data/tokenizers/tokenizer.h"
#include "engine/base/names.h"

namespace inkling::data {

// Which windows of the text, of T tokens out of N, the rows of the batches are. Row r = step * B + b has:
enum class SamplerKind {
    random,      // a uniform start in [0, N - T), as nanoGPT
    shuffle,     // every non-overlapping window once an epoch, in an order that depends on (seed, epoch) alone; the
                 // windows of an epoch all begin the same random 0 .. (N - 1) mod T tokens into the text, so that its
                 // last tokens are seen too
    sequential,  // window r mod floor((N - 1) / T), which begins at that number times T
    paragraphs,  // as random, moved back to where the paragraph begins if that is less than T tokens before: what is
                 // read there does not depend on what the window leaves out (nanochat begins its rows with documents)
};

constexpr auto names(SamplerKind) {
    return name_table<SamplerKind>({{SamplerKind::random, "random"},
                                    {SamplerKind::shuffle, "shuffle"},
                                    {SamplerKind::sequential, "sequential"},
                                    {SamplerKind::paragraphs, "paragraphs"}});
}

// Row-major (batch, length); targets are the inputs one token further, or `no_target` where none is to be learned.
// Rows of several documents say of each token where its document begins in the row.
struct Batch {
    std::vector<std::int32_t> inputs, targets, begins;
    std::size_t batch = 0, length = 0;
};
inline constexpr std::int32_t no_target = -100;

class Sampler {
  public:
    virtual ~Sampler() = default;

    // Fills in the batch of this step, 0 the first. Allocates only when the batch has not had this size before.
    virtual void fill(std::uint64_t step, Batch& out) const = 0;

    // How many targets it has.
    virtual std::size_t targets(std::uint64_t step) const = 0;
};

// Rows that are windows of a text.
class WindowSampler : public Sampler {
  public:
    void fill(std::uint64_t step, Batch& out) const override;
    std::size_t targets(std::uint64_t) const override { return batch_ * length_; }

  protected:
    // Tokens are not copied: they must outlive the sampler. Throws BadInput when they are fewer than length + 1.
    WindowSampler(TokenView tokens, std::size_t batch, std::size_t length);

    // Where the window of a row begins, in [0, N - T); row = step * batch + b counts all rows of the run.
    virtual std::size_t window_start(std::uint64_t row) const = 0;

    const TokenView tokens_;            // N
    const std::size_t batch_, length_;  // B, T
    const std::uint64_t windows_;       // that do not overlap: floor((N - 1) / T)
};

// Only paragraphs need the tokenizer of the tokens. Throws Error for a size of zero, BadInput when there are fewer than
// length + 1 tokens.
std::unique_ptr<Sampler> make_sampler(SamplerKind kind, TokenView tokens, std::size_t batch, std::size_t length,
                                      std::uint64_t seed, const Tokenizer* tokenizer = nullptr);

}  // namespace inkling::data
