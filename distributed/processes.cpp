#include "distributed/processes.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "engine/clock.h"

namespace inkling::distributed {
namespace {

enum Tag { kBytes = 1, kBlocks, kText };

constexpr std::size_t kLongest = std::size_t{64} << 20;  // bytes of a message

}  // namespace

// A message between computers takes 50 microseconds and more; whoever waits longer than for some of them sleeps, so
// that others may have the processor.
void Processes::wait(const std::function<bool()>& condition) {
    constexpr double kSpin = 0.0005, kYield = 0.005;
    double since = 0;
    while (!condition()) {
        if (progress()) {
            since = 0;
            continue;
        }
        const double now = seconds_now();
        if (since == 0) since = now;
        if (now - since > kYield) {
            usleep(100);
        } else if (now - since > kSpin) {
            sched_yield();
        }
    }
}

std::vector<std::byte> Processes::gather_bytes(std::span<const std::byte> own) {
    std::vector<std::byte> all(own.size() * count);
    std::copy(own.begin(), own.end(), all.begin() + static_cast<std::ptrdiff_t>(rank * own.size()));
    std::size_t open = 2 * (count - 1);
    for (std::size_t i = 1; i < count; ++i) {  // not all to the same at the same time
        const std::size_t to = (rank + i) % count, from = (rank + count - i) % count;
        receive(from, kBytes, all.data() + from * own.size(), own.size(), [&] { --open; });
        send(to, kBytes, own.data(), own.size(), [&] { --open; });
    }
    wait([&] { return open == 0; });
    return all;
}

void Processes::gather_blocks(std::span<double> all, const std::vector<std::size_t>& sizes) {
    std::vector<std::size_t> begin(count + 1, 0);
    for (std::size_t i = 0; i < count; ++i) begin[i + 1] = begin[i] + sizes[i];
    std::size_t open = 2 * (count - 1);
    for (std::size_t i = 1; i < count; ++i) {
        const std::size_t to = (rank + i) % count, from = (rank + count - i) % count;
        receive(from, kBlocks, all.data() + begin[from], sizes[from] * sizeof(double), [&] { --open; });
        send(to, kBlocks, all.data() + begin[rank], sizes[rank] * sizeof(double), [&] { --open; });
    }
    wait([&] { return open == 0; });
}

std::vector<std::string> Processes::gather_texts(const std::string& own) {
    const std::vector<std::size_t> sizes = gather_all(own.size());
    const std::size_t longest = *std::max_element(sizes.begin(), sizes.end());
    std::string padded = own;
    padded.resize(longest);
    const std::vector<std::byte> all = gather_bytes(std::as_bytes(std::span(padded)));
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < count; ++i)
        texts.emplace_back(reinterpret_cast<const char*>(all.data()) + i * longest, sizes[i]);
    return texts;
}

// As a binary tree: who has it hands it on to one who has not.
void Processes::broadcast(std::string& text) {
    text.resize(of_first(text.size()));
    for (std::size_t at = 0; at < text.size(); at += kLongest) {
        const std::size_t n = std::min(kLongest, text.size() - at);
        for (std::size_t reach = 1; reach < count; reach *= 2) {
            if (rank >= 2 * reach || (rank < reach && rank + reach >= count)) continue;
            bool done = false;
            if (rank < reach) {
                send(rank + reach, kText, text.data() + at, n, [&] { done = true; });
            } else {
                receive(rank - reach, kText, text.data() + at, n, [&] { done = true; });
            }
            wait([&] { return done; });
        }
    }
}

}  // namespace inkling::distributed
