#include "train/step/teachers.h"

#include <algorithm>

#include "engine/autograd/debug/anomaly.h"
#include "engine/base/parallel.h"
#include "engine/fused/cross_entropy.h"
#include "engine/ops/elementwise/operators.h"
#include "engine/ops/reduce/softmax.h"
#include "train/run/checkpoint.h"

namespace inkling::train {

Teachers::Teachers(const TrainOptions& options, const models::Architecture& student) : weight_(options.teacher_weight) {
    for (const std::string& name : options.teacher) {
        models_.push_back(std::move(models::load_model(models::find_model(name)).model));
        models::Transformer<float>& model = *models_.back();
        if (model.adapter.rank > 0) model.merge_adapters();
        const std::size_t rows = std::min(options.block_size, student.block_size);
        check<BadInput>(model.config.block_size >= rows,
                        "--teacher {}: has a context of {} tokens, and the run learns rows of {}: give --block-size {}",
                        name, model.config.block_size, rows, model.config.block_size);
    }
}

Tensor<float> Teachers::loss(const models::Transformer<float>& student, const IdArray& ids, const IdArray& targets,
                             Generator* random, const Documents& documents) const {
    if (models_.empty()) return student.loss(ids, targets, random, documents);
    const Tensor<float> logits =
        student.logits(student.hidden(ids, {.documents = documents, .random = random}), random);
    const Tensor<float> wanted = mixture(ids, targets, documents, logits.dim(-1));
    const auto counted =
        targets.size() - static_cast<std::size_t>(std::count(targets.data(), targets.data() + targets.size(), kIgnore));
    const Tensor<float> sum = cross_entropy(logits, wanted, {.reduction = Reduction::sum});
    return scale(sum, counted > 0 ? 1.0 / static_cast<double>(counted) : 0.0);
}

// The targets (..., vocab_size); 0 for ignored ones.
Tensor<float> Teachers::mixture(const IdArray& ids, const IdArray& targets, const Documents& documents,
                                std::size_t vocab_size) const {
    const NoGrad no_grad;
    const Region region("teachers");
    Shape shape = targets.shape();
    shape.push_back(vocab_size);
    Array<float> all(shape, 0.0f);
    const auto share = static_cast<float>(weight_ / static_cast<double>(models_.size()));
    const std::int32_t* const t = targets.data();
    for (const auto& teacher : models_) {
        const Tensor<float> p = softmax(teacher->logits(teacher->hidden(ids, {.documents = documents})));
        const std::size_t width = p.dim(-1), both = std::min(width, vocab_size);  // either may have unused tokens
        const ConstArray<float> own = p.value().contiguous();
        parallel_rows(targets.size(), width, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                for (std::size_t j = 0; t[i] != kIgnore && j < both; ++j)
                    all.data()[i * vocab_size + j] += share * own.data()[i * width + j];
        });
    }
    for (std::size_t i = 0; i < targets.size(); ++i)
        if (t[i] != kIgnore)
            all.data()[i * vocab_size + static_cast<std::size_t>(t[i])] += static_cast<float>(1 - weight_);
    return Tensor<float>(all);
}

std::string Teachers::fingerprint() const {
    std::string all;
    for (const auto& teacher : models_) all += (all.empty() ? "" : " ") + weights_fingerprint(*teacher);
    return all;
}

void check_teachers(const TrainOptions& options, const data::Tokenizer& tokenizer) {
    for (const std::string& name : options.teacher)
        check<BadInput>(models::open_tokenizer(name)->to_json() == tokenizer.to_json(),
                        "--teacher {}: has another tokenizer than the run: give the run this one with --tokenizer {}",
                        name, name);
}

std::vector<models::Architecture> teacher_architectures(const TrainOptions& options) {
    std::vector<models::Architecture> all;
    for (const std::string& name : options.teacher) all.push_back(models::load_config(models::find_model(name)));
    return all;
}

}  // namespace inkling::train
