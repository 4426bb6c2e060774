// What processes that train together tell each other in a step: gradients, each piece to the process that owns it,
// which adds them as a tree (tree_sum.h), and then the new parameters, from their owners to all. Gradients leave as
// soon as backward has them.
//   exchange.start();                        // before forward: others may be further
//   exchange.send_when_ready(sum);           // the backward that follows is the last of the step
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
    // All must outlive it.
    Exchange(distributed::Processes& processes, nn::FlatParameters<float>& parameters, const Partition& ownership);
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

    void start();
    void send_when_ready(const PairwiseSum& sum);  // the sum of this process's parts but the last
    void finish(const PairwiseSum& sum);
    void spread();

    static constexpr std::size_t kInFlight = 16 << 20;  // elements that are received at a time, and not yet added

  private:
    struct Incoming {  // of an own piece
        std::vector<Array<float>> from;
        std::size_t missing = 0;
        bool own = false;  // gradient of this process is there
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
    std::vector<std::vector<std::size_t>> pieces_of_;   // each parameter
    std::vector<std::size_t> parameters_in_, waiting_;  // each piece; of these not ready yet
    std::vector<Incoming> incoming_;                    // by piece
    std::vector<std::size_t> order_, ready_;            // in which pieces are expected; of this step so far
    std::size_t next_ = 0, in_flight_ = 0;              // in order_, to be received; elements that are
    std::size_t open_ = 0;                              // messages, and sums of own pieces
    const PairwiseSum* sum_ = nullptr;                  // while gradients are sent as they come
    std::shared_ptr<Exchange*> alive_;                  // for what the parameters hold
};

}  // namespace inkling::train
