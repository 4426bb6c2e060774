// Examples as rows of a batch: each row holds one or several whole examples, which do not see each other (see
// models/transformer.h). Which examples share a row depends on their lengths alone.
//   const PackedExamples rows(dataset, 0, dataset.ends.size(), 256);
//   rows.fill(3, inputs, targets, begins);              // 256 numbers each
//   const ExampleSampler sampler(rows, 8, seed);        // every row once an epoch, in random order
#pragma once

#include <cstdint>
#include <vector>

#include "data/dataset.h"
#include "data/sampler.h"

namespace inkling::data {

class PackedExamples {
  public:
    // Packs examples [first, last). Longer ones are cut to length + 1 ids; those without an id to learn, also because
    // it is cut off, are left out.
    PackedExamples(const Dataset& dataset, std::size_t first, std::size_t last, std::size_t length);

    std::size_t size() const { return rows_.size(); }
    std::size_t length() const { return length_; }
    void require_rows() const;  // throws BadInput without a row
    std::size_t cut() const { return cut_; }
    std::size_t cut_before_answer() const { return cut_before_answer_; }  // cut documents without learned tokens left
    std::size_t left_out() const { return left_out_; }                    // documents without learned tokens
    std::size_t targets() const { return all_targets_; }                  // of all rows
    std::size_t targets(std::size_t row) const { return targets_[row]; }
    const std::vector<std::size_t>& examples(std::size_t row) const { return rows_[row]; }

    void fill(std::size_t row, std::int32_t* inputs, std::int32_t* targets, std::int32_t* begins) const;

  private:
    std::size_t places(std::size_t example) const;  // it takes in a row: ids that have a next id

    Dataset dataset_;
    std::size_t length_;
    std::vector<std::vector<std::size_t>> rows_;
    std::vector<std::size_t> targets_;  // by row
    std::size_t cut_ = 0, cut_before_answer_ = 0, left_out_ = 0, all_targets_ = 0;
};

class ExampleSampler final : public Sampler {
  public:
    // The rows must outlive the sampler. Throws BadInput without a row.
    ExampleSampler(const PackedExamples& rows, std::size_t batch, std::uint64_t seed);

    void fill(std::uint64_t step, Batch& out) const override;
    std::size_t targets(std::uint64_t step) const override;

  private:
    std::size_t row_of(std::uint64_t row) const;  // step * batch + b counts all rows of the run

    const PackedExamples& rows_;
    std::size_t batch_;
    std::uint64_t seed_;
};

}  // namespace inkling::data
