// Finds spikes: steps whose loss or gradient norm is far above those of the steps before, as OLMo's SkipStepOptimizer
// does (Groeneveld et al. 2024). Skipped steps count too, so a loss that stays higher soon stops being a spike.
//   const Spikes::Scores z = spikes.scores(loss, grad_norm);
//   spikes.add(loss, grad_norm);
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace inkling::train {

class Spikes {
  public:
    static constexpr std::size_t kWindow = 128, kFewest = 64;

    // (x - mean) / standard deviation over the last kWindow steps; 0 for fewer than kFewest steps. The deviation is at
    // least a thousandth of the mean loss, or a fifth of the mean norm.
    struct Scores {
        double loss = 0, grad_norm = 0;
        double largest() const { return std::max(loss, grad_norm); }
    };
    Scores scores(double loss, double grad_norm) const;
    void add(double loss, double grad_norm);  // of a step, both finite

    std::string to_text() const;  // "loss grad_norm loss grad_norm ...", which reads back to the same bits
    bool read(const std::string& text);

  private:
    std::vector<double> losses_, grad_norms_;  // the oldest first
};

}  // namespace inkling::train
