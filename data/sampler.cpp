#include "data/sampler.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "data/permutation.h"
#include "engine/base/check.h"
#include "engine/base/random.h"

namespace inkling::data {

Paragraphs::Paragraphs(const Tokenizer& tokenizer) : line_ends_(tokenizer.vocab_size()) {
    for (std::size_t id = 0; id < line_ends_.size(); ++id) {
        const auto token = static_cast<std::int32_t>(id);
        const std::string text = tokenizer.decode_more(std::span(&token, 1));
        const std::size_t words = text.find_last_not_of("\r\n") + 1;  // npos + 1 is 0
        const auto feeds = std::count(text.begin() + static_cast<std::ptrdiff_t>(words), text.end(), '\n');
        line_ends_[id] = {static_cast<std::uint8_t>(std::min<std::ptrdiff_t>(feeds, 2)), words == 0};
    }
    if (const auto end = tokenizer.end_of_text()) line_ends_[static_cast<std::size_t>(*end)] = {2, false};
}

bool Paragraphs::begins(TokenView ids, std::size_t i) const {
    for (int feeds = 0; i > 0;) {
        const LineEnds before = line_ends_[static_cast<std::size_t>(ids[--i])];
        feeds += before.count;
        if (feeds >= 2) return true;
        if (!before.alone) return false;
    }
    return true;
}

namespace {

// Streams of this file; the number is "sampl" in ASCII, far above those that a Generator hands out. Each epoch of
// `shuffle` takes the next one.
constexpr std::uint64_t first_stream = 0x73616D706Cull << 24;

class WindowSampler final : public Sampler {
  public:
    WindowSampler(SamplerKind kind, TokenView tokens, std::size_t batch, std::size_t length, std::uint64_t seed,
                  const Tokenizer* tokenizer)
        : kind_(kind),
          tokens_(tokens),
          batch_(batch),
          length_(length),
          windows_(tokens.empty() ? 0 : (tokens.size() - 1) / length),
          seed_(seed) {
        check<BadInput>(windows_ > 0,
                        "the text to train on has {} tokens, the context of {} needs at least {}: {}add text",
                        tokens.size(), length, length + 1, length > 1 ? "lower --block-size or " : "");
        if (kind != SamplerKind::paragraphs) return;
        check(tokenizer != nullptr, "sampler: paragraphs need the tokenizer of the tokens");
        paragraphs_.emplace(*tokenizer);
    }

    void fill(std::uint64_t step, Batch& out) const override {
        const Shape shape{batch_, length_};
        if (out.begins.defined() || out.inputs.shape() != shape) out = {IdArray(shape), IdArray(shape)};
        for (std::size_t b = 0; b < batch_; ++b) {
            const TokenView window = tokens_.subspan(window_start(step * batch_ + b), length_ + 1);
            window.first(length_).copy_to(out.inputs.data() + b * length_);
            window.subspan(1).copy_to(out.targets.data() + b * length_);
        }
    }

    std::size_t targets(std::uint64_t) const override { return batch_ * length_; }

  private:
    // In [0, N - T); row = step * batch + b.
    std::size_t window_start(std::uint64_t row) const {
        if (kind_ == SamplerKind::sequential) return row % windows_ * length_;
        if (kind_ == SamplerKind::shuffle) return shuffled_start(row);
        const std::size_t any = random_below({seed_, first_stream}, row, tokens_.size() - length_);
        return paragraphs_ ? paragraph_start(any) : any;
    }

    std::size_t shuffled_start(std::uint64_t row) const {
        const std::uint64_t in_epoch = std::max<std::uint64_t>(windows_ - 1, 1), epoch = row / in_epoch;
        const RandomKey order{seed_, first_stream + 1 + 2 * epoch}, offset{seed_, order.stream + 1};
        const std::uint64_t starts = tokens_.size() - in_epoch * length_;
        return permute(order, row % in_epoch, in_epoch) * length_ + random_below(offset, 0, starts);
    }

    std::size_t paragraph_start(std::size_t any) const {
        for (std::size_t start = any; any - start < length_; --start)  // ends at 0, which begins one
            if (paragraphs_->begins(tokens_, start)) return start;
        return any;
    }

    const SamplerKind kind_;
    const TokenView tokens_;            // N
    const std::size_t batch_, length_;  // B, T
    const std::uint64_t windows_;       // non-overlapping ones: floor((N - 1) / T)
    const std::uint64_t seed_;
    std::optional<Paragraphs> paragraphs_;
};

}  // namespace

std::unique_ptr<Sampler> make_sampler(SamplerKind kind, TokenView tokens, std::size_t batch, std::size_t length,
                                      std::uint64_t seed, const Tokenizer* tokenizer) {
    check(batch > 0 && length > 0, "sampler: batch and length must be positive, got {} and {}", batch, length);
    return std::make_unique<WindowSampler>(kind, tokens, batch, length, seed, tokenizer);
}

Split split_tokens(TokenView tokens, double val_fraction) {
    check(val_fraction >= 0 && val_fraction < 1, "split_tokens: the validation fraction must be in [0, 1), got {}",
          val_fraction);
    const auto n_train = static_cast<std::size_t>(std::floor(static_cast<double>(tokens.size()) * (1 - val_fraction)));
    return {tokens.first(n_train), tokens.subspan(n_train)};
}

}  // namespace inkling::data
