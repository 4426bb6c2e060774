// The messages between processes in a step: each piece of the gradients goes to its owner, which adds them as a tree
// (pairwise_sum.h); then the new parameters go from their owners to all. Gradients leave as soon as backward has them.
//   exchange.start();                        // before forward, because others may be ahead
//   exchange.send_when_ready(sum);           // before the last backward of the step
//   backward(loss);
//   exchange.finish(sum);                    // own pieces hold the sum over all processes
//   optimizer->step(...);
//   exchange.spread();
#pragma once

#include <memory>

#include "distributed/processes.h"
#include "train/sharding/pairwise_sum.h"
#include "train/sharding/partition.h"

namespace inkling::train {

class Exchange {
  public:
    // All arguments must outlive it.
    Exchange(distributed::Processes& processes, nn::FlatParameters<float>& parameters, const Partition& ownership);
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

    void start();
    void send_when_ready(const PairwiseSum& sum);  // the sum of this process's parts except the last
    void finish(const PairwiseSum& sum);
    void spread();

    static constexpr std::size_t kInFlight = 16 << 20;  // elements received at a time, before they are added

  private:
    struct Incoming {  // for one of this process's pieces
        std::vector<Array<float>> from;
        std::size_t missing = 0;
        bool own = false;  // this process's gradient is ready
    };

    void parameter_ready(std::size_t entry);
    void piece_ready(std::size_t piece);
    void receive_more();
    void add_up(std::size_t piece);
    int tag(std::size_t piece, bool values) const;

    distributed::Processes& processes_;
    nn::FlatParameters<float>& parameters_;
    float* const gradients_;
    const std::vector<Piece>& pieces_;
    std::vector<std::vector<std::size_t>> pieces_of_;   // by parameter
    std::vector<std::size_t> parameters_in_, waiting_;  // by piece: its parameters, and those not ready yet
    std::vector<Incoming> incoming_;                    // by piece
    std::vector<std::size_t> order_, ready_;            // expected order of the pieces; this step's order so far
    std::size_t next_ = 0, in_flight_ = 0;              // next in order_ to receive; elements being received
    std::size_t open_ = 0;                              // open messages, and sums of own pieces
    const PairwiseSum* sum_ = nullptr;                  // set while gradients are sent as they come
    std::shared_ptr<Exchange*> alive_;                  // for the hooks that the parameters hold
};

}  // namespace inkling::train
