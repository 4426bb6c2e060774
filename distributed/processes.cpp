#include "distributed/processes.h"

#include <algorithm>
#include <utility>

namespace inkling::distributed {
namespace {

constexpr std::size_t kLongest = std::size_t{64} << 20;  // bytes per message

}  // namespace

std::size_t Processes::on_host() const {
    return count == 1 ? 1 : static_cast<std::size_t>(std::count(hosts.begin(), hosts.end(), hosts[rank]));
}

std::vector<std::byte> Processes::gather_bytes(std::span<const std::byte> own) {
    std::vector<std::byte> all(own.size() * count);
    std::vector<std::size_t> begins;
    for (std::size_t i = 0; i <= count; ++i) begins.push_back(i * own.size());
    std::copy(own.begin(), own.end(), all.begin() + static_cast<std::ptrdiff_t>(begins[rank]));
    gather(all.data(), begins);
    return all;
}

void Processes::gather_blocks(std::span<double> all, const std::vector<std::size_t>& sizes) {
    std::vector<std::size_t> begins{0};
    for (const std::size_t size : sizes) begins.push_back(begins.back() + size * sizeof(double));
    gather(std::as_writable_bytes(all).data(), begins);
}

std::vector<std::string> Processes::gather_texts(const std::string& own) {
    std::vector<std::size_t> begins{0};
    for (const std::size_t size : gather_all(own.size())) begins.push_back(begins.back() + size);
    std::string all(begins.back(), '\0');
    own.copy(all.data() + begins[rank], own.size());
    gather(std::as_writable_bytes(std::span(all)).data(), begins);
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < count; ++i) texts.push_back(all.substr(begins[i], begins[i + 1] - begins[i]));
    return texts;
}

void Processes::broadcast(std::string& text) {
    text.resize(of_first(text.size()));
    for (std::size_t at = 0; at < text.size(); at += kLongest)
        send_to_all(text.data() + at, std::min(kLongest, text.size() - at));
}

Processes& alone() {
    static Processes one;
    return one;
}

std::unique_ptr<Processes>& started_processes() {
    static auto all = std::make_unique<Processes>();
    return all;
}

}  // namespace inkling::distributed
