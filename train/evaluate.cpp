#include "train/evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/sampler.h"

namespace inkling::train {
namespace {

// Evaluation mode, and no graph, while in scope.
class Evaluating {
  public:
    explicit Evaluating(models::LanguageModel<float>& model) : model_(model), training_(model.training()) {
        model.eval();
    }
    ~Evaluating() { model_.train(training_); }
    Evaluating(const Evaluating&) = delete;
    Evaluating& operator=(const Evaluating&) = delete;

  private:
    models::LanguageModel<float>& model_;
    bool training_;
    NoGrad no_grad_;
};

}  // namespace

IdArray id_array(std::span<const std::int32_t> ids, std::size_t batch, std::size_t length) {
    IdArray array({batch, length});
    std::copy_n(ids.data(), batch * length, array.data());
    return array;
}

double evaluate(models::LanguageModel<float>& model, std::span<const std::int32_t> tokens,
                const std::function<bool()>& stop) {
    check<BadInput>(tokens.size() >= 2, "evaluate: a text of at least 2 tokens is required, got {}", tokens.size());
    const Evaluating scope(model);
    const std::size_t T = model.config.block_size, all = tokens.size() - 1;
    const std::size_t most_rows = std::max<std::size_t>(1, 4096 / T);
    double total = 0;
    for (std::size_t at = 0; at < all;) {
        if (stop && stop()) return std::numeric_limits<double>::quiet_NaN();
        const std::size_t rows = std::min(most_rows, (all - at) / T);  // whole windows; 0: the rest, a short one
        const std::size_t batch = std::max<std::size_t>(rows, 1), length = rows ? T : all - at;
        const std::size_t n = batch * length;
        total += static_cast<double>(model
                                         .loss(id_array(tokens.subspan(at, n), batch, length),
                                               id_array(tokens.subspan(at + 1, n), batch, length))
                                         .item()) *
                 static_cast<double>(n);
        at += n;
    }
    return total / static_cast<double>(all);
}

double evaluate_sample(models::LanguageModel<float>& model, std::span<const std::int32_t> tokens, std::size_t batches,
                       std::size_t batch_size) {
    const Evaluating scope(model);
    const auto sampler = data::make_sampler("random", tokens, batch_size, model.config.block_size, 0);
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
