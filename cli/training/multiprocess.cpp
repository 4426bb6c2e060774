#include "cli/training/multiprocess.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "cli/common.h"
#include "engine/base/precision.h"
#include "engine/process/threads.h"

namespace inkling::cli {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

// Compares lines "name = value". Where a process differs from the first, calls `differs` with the process, the name and
// both values.
template <class Differs>
void compare(distributed::Processes& processes, const std::string& own, const Differs& differs) {
    const std::vector<std::string> all = processes.gather_texts(own);
    const std::vector<std::string> first = lines_of(all.front());
    for (std::size_t i = 1; i < all.size(); ++i) {
        const std::vector<std::string> other = lines_of(all[i]);
        for (std::size_t k = 0; k < std::max(first.size(), other.size()); ++k) {
            const std::string a = k < first.size() ? first[k] : "", b = k < other.size() ? other[k] : "";
            if (a == b) continue;
            const auto value = [](const std::string& line) {
                const std::size_t at = line.find(" = ");
                return at == std::string::npos ? line : line.substr(at + 3);
            };
            differs(fmt::format("process {} on {}", i, processes.hosts[i]), a.substr(0, a.find(" = ")), value(a),
                    value(b));
        }
    }
}

std::size_t threads_of_each(const distributed::Processes& processes) {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    const long all = sysconf(_SC_NPROCESSORS_ONLN);
    const long own = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : all;
    // all cores of this computer; this process may be bound to some of them
    const double cores = static_cast<double>(physical_cores()) * static_cast<double>(all) / static_cast<double>(own);
    const auto share = static_cast<std::size_t>(cores / static_cast<double>(processes.on_host));
    return std::clamp<std::size_t>(share, 1, default_threads());
}

}  // namespace

std::size_t set_threads_of(const distributed::Processes& processes, std::size_t threads) {
    return set_threads(processes.count > 1 && threads == 0 ? threads_of_each(processes) : threads);
}

void check_same_start(distributed::Processes& processes, const train::Config& config, const train::Resume& resume) {
    const train::TrainOptions& options = config.options;
    std::string own = fmt::format("version = {}\n", INKLING_VERSION);
    const bool float32 = config.is_given("precision") || config.fits == train::Fits::nothing || options.max_flops > 0;
    if (!float32 || options.precision == Precision::bf16)
        own += fmt::format("bfloat16 = {}\n", has_bf16_products() ? "in pairs" : "one by one");
    own += fmt::format("checkpoint = {}\n",
                       resume.candidates.empty() ? "none" : resume.candidates.front().filename().string());
    for (const train::Setting& s : train::settings())
        if (!s.is(train::kOneStart) && !s.is(train::kEachProcess))
            own += fmt::format("{} = {}\n", s.name, s.toml(options));
    compare(processes, own, [](const std::string& who, const auto& name, const std::string& first, const auto& other) {
        if (name == "version")
            throw Usage(
                fmt::format("{} is Inkling {}, and process 0 is {}: install the same everywhere", who, other, first));
        if (name == "bfloat16")
            throw Usage(
                fmt::format("{} multiplies bfloat16 {}, and process 0 {}, which rounds otherwise: train with "
                            "--precision fp32",
                            who, other, first));
        if (name == "checkpoint")
            throw Usage(
                fmt::format("{} finds {} to go on from, and process 0 {}: --out must be a folder that all "
                            "computers share",
                            who, other == "none" ? "no checkpoint" : other, first == "none" ? "none" : first));
        throw Usage(fmt::format("{} was started with --{} {}, and process 0 with {}: start all with the same flags",
                                who, name, other, first));
    });
}

void check_same_text(distributed::Processes& processes, const data::Corpus& corpus) {
    const std::string own = fmt::format("text = {} bytes, hash {:016x}\n", corpus.bytes(), corpus.hash());
    compare(processes, own, [](const std::string& who, const std::string&, const auto& first, const auto& other) {
        throw BadInput(
            fmt::format("{} read another text, {}, than process 0, {}: give all the same text, or that of "
                        "process 0 by --broadcast-data",
                        who, other, first));
    });
}

// Sends document sizes, sources and examples as CBOR, whose strings can hold any bytes; then the text.
void broadcast(distributed::Processes& processes, data::Corpus& corpus) {
    using nlohmann::json;
    std::string head;
    auto text = std::make_shared<std::string>();
    if (processes.first()) {
        json sizes = json::array(), examples = nullptr;
        if (corpus.examples) {
            examples = json::array();
            for (const data::Example& e : *corpus.examples) {
                json parts = json::array();
                for (const data::ChatMessage& m : e.parts) parts.push_back({m.role, m.content, m.learned});
                examples.push_back({static_cast<int>(e.shape), parts, e.line, e.source, e.in_list, e.marked});
            }
        } else {
            for (const std::string_view d : corpus.documents) sizes.push_back(d.size()), text->append(d);
        }
        json::to_cbor(json::array({sizes, corpus.sources, corpus.first, examples}), head);
    }
    processes.broadcast(head);
    processes.broadcast(*text);
    if (processes.first()) return;
    const json told = json::from_cbor(head);
    corpus = {};
    corpus.begin_source(text, "");  // owns the text
    std::size_t at = 0;
    for (const auto& size : told[0]) {
        const auto n = size.get<std::size_t>();
        corpus.add_document(std::string_view(*text).substr(at, n));
        at += n;
    }
    told[1].get_to(corpus.sources);
    told[2].get_to(corpus.first);
    if (told[3].is_null()) return;
    std::vector<data::Example> examples;
    for (const auto& one : told[3]) {
        data::Example e{static_cast<data::ExampleShape>(one[0].get<int>()), {}, one[2], one[3], one[4], one[5]};
        for (const auto& part : one[1]) e.parts.push_back({part[0], part[1], nullptr, part[2]});
        examples.push_back(std::move(e));
    }
    corpus.take_examples(std::move(examples));
}

std::string processes_text(const distributed::Processes& processes) {
    const std::set<std::string> hosts(processes.hosts.begin(), processes.hosts.end());
    return fmt::format("{} processes on {}", processes.count, counted(hosts.size(), "computer"));
}

}  // namespace inkling::cli
