// Batches of token sequences for training. A batch is a pure function of (tokens, sizes, seed, step), so steps can be
// filled in any order, and a resumed run needs only its step number:
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
#include "engine/array/array.h"
#include "engine/base/names.h"

namespace inkling::data {

// Finds paragraph starts in a sequence of ids: its start, after a blank line, and after an end-of-text token.
//   const Paragraphs paragraphs(tokenizer);
//   paragraphs.begins(ids, i)   // whether ids[i] starts a paragraph
class Paragraphs {
  public:
    explicit Paragraphs(const Tokenizer& tokenizer);

    // i < ids.size(), and ids are the tokenizer's.
    bool begins(TokenView ids, std::size_t i) const;

  private:
    struct LineEnds {
        std::uint8_t count = 0;  // line feeds at the end of the token, ignoring carriage returns
        bool alone = false;      // the token has no other characters
    };
    std::vector<LineEnds> line_ends_;  // by id
};

// How batches choose their windows of T tokens out of N. Row r = step * B + b is:
enum class SamplerKind {
    random,      // a uniform start in [0, N - T), as nanoGPT
    shuffle,     // every window of an epoch once, in an order that depends on (seed, epoch) alone. Its windows lie end
                 // to end from a random token on, so that each epoch cuts the text elsewhere: one window less than fit
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

// (B, T) each. Targets are the inputs shifted by one token, or `no_target` where nothing is learned. For rows of
// several documents, `begins` holds each token's document start in its row; else it is not defined.
struct Batch {
    IdArray inputs = {}, targets = {}, begins = {};
};
inline constexpr std::int32_t no_target = -100;

class Sampler {
  public:
    virtual ~Sampler() = default;

    // Fills the batch of a step, counted from 0. Allocates only if the batch had another size.
    virtual void fill(std::uint64_t step, Batch& out) const = 0;

    // The number of targets.
    virtual std::size_t targets(std::uint64_t step) const = 0;
};

// A sampler of windows of a text. Tokens are not copied and must outlive it. Only `paragraphs` needs the tokenizer.
// Throws Error for a zero size, BadInput for fewer than length + 1 tokens.
std::unique_ptr<Sampler> make_sampler(SamplerKind kind, TokenView tokens, std::size_t batch, std::size_t length,
                                      std::uint64_t seed, const Tokenizer* tokenizer = nullptr);

// Views of the split tokens, which must outlive them.
struct Split {
    TokenView train, val;
};

// The first floor(n (1 - val_fraction)) tokens are for training, the rest for validation, as in nanoGPT. Throws Error
// unless 0 <= val_fraction < 1.
Split split_tokens(TokenView tokens, double val_fraction);

}  // namespace inkling::data
