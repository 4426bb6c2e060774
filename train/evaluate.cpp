#include "train/evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/sampler.h"
#include "engine/ops/cross_entropy.h"

namespace inkling::train {
namespace {

// Evaluation mode, and no graph, while in scope.
class Evaluating {
  public:
    explicit Evaluating(models::Transformer<float>& model) : model_(model), training_(model.training()) {
        model.eval();
    }
    ~Evaluating() { model_.train(training_); }
    Evaluating(const Evaluating&) = delete;
    Evaluating& operator=(const Evaluating&) = delete;

  private:
    models::Transformer<float>& model_;
    bool training_;
    NoGrad no_grad_;
};

}  // namespace

IdArray id_array(std::span<const std::int32_t> ids, std::size_t batch, std::size_t length) {
    IdArray array({batch, length});
    std::copy_n(ids.data(), batch * length, array.data());
    return array;
}

double evaluate(models::Transformer<float>& model, std::span<const std::int32_t> tokens,
                const std::function<bool()>& stop, std::size_t stride) {
    check<BadInput>(tokens.size() >= 2, "evaluate: a text of at least 2 tokens is required, got {}", tokens.size());
    const Evaluating scope(model);
    const std::size_t T = model.config.block_size, all = tokens.size() - 1, step = stride ? std::min(stride, T) : T;
    const std::size_t max_rows = std::max<std::size_t>(1, 4096 / T);
    double total = 0;
    for (std::size_t at = 0; at < all;) {  // targets at + 1 .. are to be predicted
        if (stop && stop()) return std::numeric_limits<double>::quiet_NaN();
        // Rows of whole windows that count `fresh` targets each, the last ones; the text's ends are rows by themselves.
        const std::size_t fresh = std::min(at == 0 ? T : step, all - at), length = at == 0 || !stride ? fresh : T;
        const std::size_t rows = at == 0 && step < T ? 1 : std::clamp<std::size_t>((all - at) / fresh, 1, max_rows);
        IdArray inputs({rows, length}), targets({rows, length}, kIgnore);
        for (std::size_t r = 0; r < rows; ++r, at += fresh) {
            const std::int32_t* const begin = tokens.data() + at + fresh - length;
            std::copy_n(begin, length, inputs.data() + r * length);
            std::copy_n(begin + 1 + length - fresh, fresh, targets.data() + (r + 1) * length - fresh);
        }
        total += static_cast<double>(model.loss(inputs, targets).item()) * static_cast<double>(rows * fresh);
    }
    return total / static_cast<double>(all);
}

double evaluate_sample(models::Transformer<float>& model, std::span<const std::int32_t> tokens, std::size_t batches,
                       std::size_t batch_size) {
    const Evaluating scope(model);
    const auto sampler = data::make_sampler(data::SamplerKind::random, tokens, batch_size, model.config.block_size, 0);
    data::Batch batch;
    double total = 0;
    for (std::size_t i = 0; i < batches; ++i) {
        sampler->fill(i, batch);
        total += static_cast<double>(model
                                         .loss(id_array(batch.inputs, batch.batch, batch.length),
                                               id_array(batch.targets, batch.batch, batch.length))
                                         .item());
    }
    return total / static_cast<double>(batches);
}

}  // namespace inkling::train
