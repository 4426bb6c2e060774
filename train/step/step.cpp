#include "train/step/step.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "engine/autograd/backward.h"
#include "engine/base/clock.h"
#include "engine/base/float_mode.h"
#include "engine/base/parallel.h"
#include "engine/base/profile.h"
#include "engine/kernels/lanes.h"
#include "engine/ops/elementwise/operators.h"

namespace inkling::train {
namespace {

constexpr int kStateTag = distributed::Processes::kFirstFreeTag - 1;

// Adds in the order of the parts. Not finite if any loss is not.
double sum_of_losses(std::span<const double> losses) {
    double sum = 0;
    for (const double loss : losses) {
        if (!std::isfinite(loss)) return loss;
        sum += loss;
    }
    return sum;
}

}  // namespace

TrainingStep::TrainingStep(const TrainOptions& options, models::Transformer<float>& model, const data::Sampler& sampler,
                           distributed::Processes& processes)
    : parameters(model),
      average(parameters, options.ema),
      teachers(options, model.config),
      options_(options),
      model_(model),
      sampler_(sampler),
      processes_(processes) {
    model_.checkpoint_activations = options.checkpoint_activations;
    check(options.shards % processes.count == 0,
          "--shards must be a multiple of the number of processes, got {} and {}", options.shards, processes.count);
    Ranges own;
    if (options.shards > 1) {
        ownership_.emplace(parameters, processes.count, [&](const auto& entry) { return whole_cost(options, entry); });
        own = ownership_->ranges_of(processes.rank);
    }
    optimizer = make_optimizer(options, parameters, ownership_ ? &own : nullptr);
    if (ownership_) exchange_ = std::make_unique<Exchange>(processes, parameters, *ownership_);
}

void TrainingStep::add_gradients(std::size_t number, std::vector<double>& losses) {
    const std::size_t batches = options_.gradient_accumulation_steps * options_.shards, parts = own_parts();
    const std::size_t first = processes_.rank * parts;
    std::size_t targets = 0;
    for (std::size_t i = 0; i < batches; ++i) targets += sampler_.targets(number * batches + i);
    losses.assign(parts, 0);
    sum_.clear();
    for (std::size_t i = 0; i < parts; ++i) {
        if (i > 0) sum_.push(parameters.gradients());
        losses[i] = add_part(number, first + i, targets, i + 1 == parts);
        if (!std::isfinite(losses[i])) break;
    }
}

// Zeros the gradients, adds those of one part of a step with `targets` targets, and returns its share of the loss.
double TrainingStep::add_part(std::size_t number, std::size_t part, std::size_t targets, bool last) {
    const std::size_t micro_steps = options_.gradient_accumulation_steps, shards = options_.shards;
    Generator random{options_.seed, (number * shards + part + 1) << 20};  // dropout masks depend only on the part
    parameters.zero_gradients();
    double loss = 0;
    for (std::size_t i = 0; i < micro_steps; ++i) {
        const std::size_t batch = (number * micro_steps + i) * shards + part;
        sampler_.fill(batch, batch_);
        profile::lap("batch");
        const Tensor<float> y = teachers.loss(model_, batch_.inputs, batch_.targets, &random, batch_.begins);
        const double own = static_cast<double>(y.item());
        // each target counts the same; with windows, this is `micro_steps` times `shards`
        const double batches = static_cast<double>(targets) / static_cast<double>(sampler_.targets(batch));
        loss += own / batches;
        if (!std::isfinite(own)) break;
        if (exchanging_ && last && i + 1 == micro_steps) exchange_->send_when_ready(sum_);
        backward(micro_steps * shards == 1 ? y : scale(y, 1.0 / batches));
    }
    return loss;
}

// Sums over all parts in all processes, in the same tree as in one process: the gradients, of which each process then
// holds those that it owns; the loss; and the gradients' norm.
void TrainingStep::combine(const std::vector<double>& own_losses, StepResult& result) {
    if (options_.shards == 1) {
        result.loss = own_losses[0];
        result.grad_norm = std::isfinite(result.loss) ? gradient_norm(parameters.gradients()) : result.loss;
        return;
    }
    const std::vector<Piece>& chunks = ownership_->chunks();
    exchange_->finish(sum_);
    // From each process: seconds, whether to stop, its losses, and the squares of its chunks.
    constexpr std::size_t kSeconds = 0, kStop = 1, kLosses = 2;
    const std::size_t count = processes_.count, rank = processes_.rank;
    std::vector<std::size_t> sizes(count, kLosses + own_losses.size()), begins(count, 0);
    for (const Piece& chunk : chunks) ++sizes[chunk.owner];
    for (std::size_t i = 1; i < count; ++i) begins[i] = begins[i - 1] + sizes[i - 1];
    std::vector<double> all(begins.back() + sizes.back());
    double* const own = all.data() + begins[rank];
    std::copy(own_losses.begin(), own_losses.end(), own + kLosses);
    std::vector<std::size_t> mine;
    for (std::size_t i = 0; i < chunks.size(); ++i)
        if (chunks[i].owner == rank) mine.push_back(i);
    const float* const g = parameters.gradients().data();
    parallel_for(mine.size(), kGrain / Partition::kChunk, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const Piece& chunk = chunks[mine[i]];
            own[kLosses + own_losses.size() + i] =
                static_cast<double>(simd_dot(chunk.size(), g + chunk.begin, g + chunk.begin));
        }
    });
    const double now = seconds_now();
    own[kSeconds] = now - timed_from_;
    own[kStop] = asked_to_stop && asked_to_stop();
    timed_from_ = now;
    processes_.gather_blocks(all, sizes);
    result.seconds = all[kSeconds];
    for (const std::size_t begin : begins) stop_requested = stop_requested || all[begin + kStop] != 0;
    std::vector<double> losses;
    for (const std::size_t begin : begins)
        losses.insert(losses.end(), &all[begin + kLosses], &all[begin + kLosses] + own_losses.size());
    result.loss = sum_of_losses(losses);
    double squares = 0;
    for (std::size_t& begin : begins) begin += kLosses + own_losses.size();
    for (const Piece& chunk : chunks) squares += all[begins[chunk.owner]++];
    result.grad_norm = std::isfinite(result.loss) ? std::sqrt(squares) : result.loss;
}

StepResult TrainingStep::run(std::size_t number) {
    const WithPrecision scope(options_.precision);
    const StandardNumbers numbers;
    StepResult result;
    const double start = seconds_now();
    timed_from_ = start - untold_seconds_;
    std::vector<double> losses;
    exchanging_ = exchange_ != nullptr;
    if (exchanging_) exchange_->start();
    add_gradients(number, losses);
    exchanging_ = false;
    profile::lap("loss");
    combine(losses, result);
    profile::lap("gradient norm");
    result.lr = schedule_of(options_).at(number);
    update(result);
    untold_seconds_ = seconds_now() - timed_from_;
    if (!exchange_) result.seconds = seconds_now() - start;
    return result;
}

void TrainingStep::update(StepResult& result) {
    if (!std::isfinite(result.grad_norm)) return;
    result.z = spikes.scores(result.loss, result.grad_norm);
    spikes.add(result.loss, result.grad_norm);
    result.skipped = options_.skip_spikes > 0 && result.z.largest() > options_.skip_spikes;
    if (result.skipped) return;
    optimizer->step(result.lr, clip_scale(result.grad_norm, options_.grad_clip));
    if (exchange_) exchange_->spread();
    average.update(optimizer->updates);
    profile::lap(name_of(optimizer->kind()));
}

// Processes send their arrays in the order of state(), which the first process can reproduce for each.
void TrainingStep::save_optimizer(const WithOptimizer& save) {
    if (!processes_.first()) {
        std::size_t open = 0;
        for (const auto& part : optimizer->state()) {
            ++open;
            processes_.send(0, kStateTag, part.values, part.range.size() * sizeof(float), [&] { --open; });
        }
        return processes_.wait([&] { return open == 0; });
    }
    if (processes_.count == 1) return save(*optimizer);
    const auto whole = make_optimizer(options_, parameters);
    copy_state(*optimizer, *whole);
    for (std::size_t from = 1; from < processes_.count; ++from) {
        const Ranges ranges = ownership_->ranges_of(from);
        const auto part = make_optimizer(options_, parameters, &ranges);
        std::size_t open = 0;
        for (const auto& array : part->state()) {
            ++open;
            processes_.receive(from, kStateTag, array.values, array.range.size() * sizeof(float), [&] { --open; });
        }
        processes_.wait([&] { return open == 0; });
        part->updates = optimizer->updates;
        copy_state(*part, *whole);
    }
    save(*whole);
}

void TrainingStep::load_optimizer(const WithOptimizer& load) {
    if (processes_.count == 1) return load(*optimizer);
    const auto whole = make_optimizer(options_, parameters);
    load(*whole);
    copy_state(*whole, *optimizer);
}

std::string TrainingStep::find_anomaly(std::size_t number) {
    for (std::string& found : processes_.gather_texts(find_own_anomaly(number)))
        if (!found.empty()) return found;
    std::string largest_name;
    double largest = -1;
    for (const auto& entry : parameters.entries()) {
        const double here = largest_magnitude<float>(entry.parameter.grad());
        if (here > largest) largest = here, largest_name = entry.name;
    }
    std::string found = fmt::format(
        "every value and gradient is finite, and the norm of the gradients is not: the largest is {:.3g}, of {}",
        largest, largest_name);
    processes_.broadcast(found);
    return found;
}

// Returns "" if this process's parts have none.
std::string TrainingStep::find_own_anomaly(std::size_t number) {
    for (const auto& entry : parameters.entries()) {
        const std::string bad = first_not_finite<float>(entry.parameter.value());
        if (!bad.empty()) return fmt::format("{} is not finite already: it is {}", entry.name, bad);
    }
    try {
        const WithPrecision scope(options_.precision);
        const StandardNumbers numbers;
        const DetectAnomaly detect;
        std::vector<double> losses;
        add_gradients(number, losses);
        sum_.add_to(parameters.gradients().data(), 0, parameters.gradients().size());
    } catch (const Anomaly& e) {
        return e.what();
    }
    return "";
}

}  // namespace inkling::train
