// Models that a run learns from besides its text (--teacher): each target becomes a mixture of the next token and the
// mean of the teachers' predictions (Hinton et al. 2015). A text that is seen often is learned better so.
//   const Teachers teachers(options, model.config);
//   backward(teachers.loss(model, ids, targets, &random, documents));
#pragma once

#include <string>
#include <vector>

#include "models/files/folder.h"
#include "models/transformer.h"
#include "train/settings/options.h"

namespace inkling::train {

class Teachers {
  public:
    // Loads the models of --teacher, if any. Throws BadInput for one with a shorter context than the student's rows.
    Teachers(const TrainOptions& options, const models::Architecture& student);

    // The student's mean cross entropy over the targets other than kIgnore, in nats: with w = --teacher-weight and
    // teacher k's probabilities p_kj, a target t counts as (1 - w) [j = t] + w mean_k p_kj for each token j. Without
    // teachers, student.loss().
    Tensor<float> loss(const models::Transformer<float>& student, const IdArray& ids, const IdArray& targets,
                       Generator* random, const Documents& documents) const;

    std::string fingerprint() const;  // a hash of the teachers' weights; "" without teachers

  private:
    Tensor<float> mixture(const IdArray& ids, const IdArray& targets, const Documents& documents,
                          std::size_t vocab_size) const;

    std::vector<std::unique_ptr<models::Transformer<float>>> models_;
    double weight_;
};

// Throws BadInput if a teacher has another tokenizer than the student.
void check_teachers(const TrainOptions& options, const data::Tokenizer& tokenizer);

// Their architectures, for estimates.
std::vector<models::Architecture> teacher_architectures(const TrainOptions& options);

}  // namespace inkling::train
