#include "train/sharding/reduce_scatter.h"

#include <numeric>

namespace inkling::train {

Exchange::Exchange(distributed::Processes& processes, nn::FlatParameters<float>& parameters, const Partition& ownership)
    : processes_(processes),
      parameters_(parameters),
      gradients_(parameters.gradients().data()),
      pieces_(ownership.pieces()),
      parameters_in_(pieces_.size(), 0),
      incoming_(pieces_.size()),
      order_(pieces_.size()),
      alive_(std::make_shared<Exchange*>(this)) {
    std::iota(order_.rbegin(), order_.rend(), std::size_t{0});  // initially from the last layer to the first
    const auto& entries = parameters.entries();
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const std::size_t begin = entries[i].offset, end = begin + entries[i].parameter.size();
        pieces_of_.emplace_back();
        for (std::size_t p = 0; p < pieces_.size(); ++p) {
            if (pieces_[p].begin >= end || pieces_[p].end <= begin) continue;
            pieces_of_.back().push_back(p);
            ++parameters_in_[p];
        }
        entries[i].parameter.on_grad_ready([i, alive = std::weak_ptr<Exchange*>(alive_)] {
            if (const auto exchange = alive.lock()) (*exchange)->parameter_ready(i);
        });
    }
}

int Exchange::tag(std::size_t piece, bool values) const {
    return distributed::Processes::kFirstFreeTag + static_cast<int>(2 * piece) + values;
}

void Exchange::start() {
    waiting_ = parameters_in_;
    ready_.clear();
    next_ = in_flight_ = 0;
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
        if (pieces_[p].owner != processes_.rank) continue;
        incoming_[p] = {std::vector<Array<float>>(processes_.count), processes_.count - 1, false};
        ++open_;
    }
    receive_more();
}

void Exchange::receive_more() {
    for (; next_ < order_.size(); ++next_) {
        const std::size_t p = order_[next_];
        if (pieces_[p].owner != processes_.rank) continue;
        const std::size_t n = pieces_[p].size();
        if (in_flight_ > 0 && in_flight_ + n * (processes_.count - 1) > kInFlight) return;
        in_flight_ += n * (processes_.count - 1);
        for (std::size_t from = 0; from < processes_.count; ++from) {
            if (from == processes_.rank) continue;
            Array<float>& to = incoming_[p].from[from];
            to = Array<float>({n});
            processes_.receive(from, tag(p, false), to.data(), n * sizeof(float), [this, p] {
                if (--incoming_[p].missing == 0) add_up(p);
            });
        }
    }
}

void Exchange::send_when_ready(const PairwiseSum& sum) { sum_ = &sum; }

void Exchange::parameter_ready(std::size_t entry) {
    if (!sum_) return;
    for (const std::size_t p : pieces_of_[entry])
        if (--waiting_[p] == 0) piece_ready(p);
    processes_.progress();
}

void Exchange::piece_ready(std::size_t p) {
    const Piece& piece = pieces_[p];
    float* const g = gradients_;
    sum_->add_to(g, piece.begin, piece.end);
    ready_.push_back(p);
    if (piece.owner == processes_.rank) {
        incoming_[p].own = true;
        return add_up(p);
    }
    ++open_;
    processes_.send(piece.owner, tag(p, false), g + piece.begin, piece.size() * sizeof(float), [this] { --open_; });
}

// Adds ((g0 + g1) + (g2 + g3)) + ... over processes, in place.
void Exchange::add_up(std::size_t p) {
    Incoming& in = incoming_[p];
    if (!in.own || in.missing > 0) return;
    const std::size_t n = pieces_[p].size(), count = processes_.count;
    float* const own = gradients_ + pieces_[p].begin;
    std::vector<float*> parts(count);
    for (std::size_t i = 0; i < count; ++i) parts[i] = i == processes_.rank ? own : in.from[i].data();
    for (std::size_t step = 1; step < count; step *= 2) {
        for (std::size_t i = 0; i + step < count; i += 2 * step) {
            if (parts[i + step] == own) std::swap(parts[i], parts[i + step]);  // a + b is b + a
            add_range(parts[i], parts[i + step], n);
        }
    }
    in_flight_ -= n * (count - 1);
    in.from.clear();
    --open_;
    receive_more();
}

void Exchange::finish(const PairwiseSum& sum) {
    parameters_.gradients();  // zeros the gradients that backward did not reach
    sum_ = &sum;
    for (std::size_t i = 0; i < order_.size(); ++i) {
        const std::size_t p = order_[i];
        if (waiting_[p] > 0) waiting_[p] = 0, piece_ready(p);
    }
    sum_ = nullptr;
    processes_.wait([this] { return open_ == 0; });
    order_ = ready_;
}

void Exchange::spread() {
    Array<float>& values = parameters_.values();
    values.count_write();
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
        const Piece& piece = pieces_[p];
        float* const v = values.data() + piece.begin;
        for (std::size_t i = 1; i < processes_.count; ++i) {
            const std::size_t other = (processes_.rank + i) % processes_.count;
            const bool own = piece.owner == processes_.rank;
            if (!own && piece.owner != other) continue;
            ++open_;
            const auto done = [this] { --open_; };
            if (own) {
                processes_.send(other, tag(p, true), v, piece.size() * sizeof(float), done);
            } else {
                processes_.receive(other, tag(p, true), v, piece.size() * sizeof(float), done);
            }
        }
    }
    processes_.wait([this] { return open_ == 0; });
}

}  // namespace inkling::train
