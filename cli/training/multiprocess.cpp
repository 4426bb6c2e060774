#include "cli/training/multiprocess.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/common.h"
#include "engine/base/precision.h"
#include "engine/process/threads.h"
#include "formats/json.h"

namespace inkling::cli {
namespace {

using nlohmann::ordered_json;

std::string process_name(const distributed::Processes& processes, std::size_t rank) {
    return fmt::format("process {} on {}", rank, processes.hosts[rank]);
}

std::size_t threads_of_each(const distributed::Processes& processes) {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    const long all = sysconf(_SC_NPROCESSORS_ONLN);
    const long own = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : all;
    // all cores of this computer; this process may be bound to some of them
    const double cores = static_cast<double>(physical_cores()) * static_cast<double>(all) / static_cast<double>(own);
    const auto share = static_cast<std::size_t>(cores / static_cast<double>(processes.on_host()));
    return std::clamp<std::size_t>(share, 1, default_threads());
}

}  // namespace

std::size_t set_threads_of(const distributed::Processes& processes, std::size_t threads) {
    return set_threads(processes.count > 1 && threads == 0 ? threads_of_each(processes) : threads);
}

void check_same_start(distributed::Processes& processes, const train::Config& config, const train::Resume& resume) {
    const train::TrainOptions& options = config.options;
    ordered_json own = {{"version", INKLING_VERSION}};
    const bool float32 = config.is_given("precision") || config.fits == train::Fits::nothing || options.max_flops > 0;
    if (!float32 || options.precision == Precision::bf16)
        own["bfloat16"] = has_bf16_products() ? "in pairs" : "one by one";
    own["checkpoint"] = resume.candidates.empty() ? "none" : resume.candidates.front().filename().string();
    for (const train::Setting& s : train::settings())
        if (!s.is(train::kOneStart) && !s.is(train::kEachProcess)) own[s.name] = s.toml(options);
    const std::vector<std::string> all = processes.gather_texts(formats::json_text(own));
    const ordered_json firsts = formats::ordered_json_or_null(all.front());
    for (std::size_t i = 1; i < all.size(); ++i) {
        const ordered_json others = formats::ordered_json_or_null(all[i]);
        for (const auto& [name, value] : firsts.items()) {
            if (!others.contains(name) || others[name] == value) continue;
            const std::string who = process_name(processes, i), first = value, other = others[name];
            check<Usage>(name != "version", "{} is Inkling {}, and process 0 is {}: install the same everywhere", who,
                         other, first);
            check<Usage>(name != "bfloat16",
                         "{} multiplies bfloat16 {}, and process 0 {}, which rounds otherwise: train with --precision "
                         "fp32",
                         who, other, first);
            check<Usage>(name != "checkpoint",
                         "{} finds {} to go on from, and process 0 {}: --out must be a folder that all computers share",
                         who, other == "none" ? "no checkpoint" : other, first);
            throw Usage(fmt::format("{} was started with --{} {}, and process 0 with {}: start all with the same flags",
                                    who, name, other, first));
        }
    }
}

void check_same_text(distributed::Processes& processes, const data::Corpus& corpus) {
    const auto all = processes.gather_texts(fmt::format("{} bytes, hash {:016x}", corpus.bytes(), corpus.hash()));
    for (std::size_t i = 1; i < all.size(); ++i)
        check<BadInput>(all[i] == all[0],
                        "{} read another text, {}, than process 0, {}: give all the same text, or that of process 0 by "
                        "--broadcast-data",
                        process_name(processes, i), all[i], all[0]);
}

// Sends document sizes, sources and examples as CBOR, whose strings can hold any bytes; then the text.
void broadcast(distributed::Processes& processes, data::Corpus& corpus) {
    using nlohmann::json;
    std::string head;
    auto text = std::make_shared<std::string>();
    if (processes.first()) {
        json sizes = json::array(), examples = nullptr, ids = json::array();
        for (const data::IdLayout& layout : corpus.ids) ids.push_back({layout.bytes, layout.has_sign});
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
        json::to_cbor(json::array({sizes, corpus.sources, corpus.first, examples, ids}), head);
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
        const std::string_view document = std::string_view(*text).substr(at, n);
        const json& ids = told[4];
        if (ids.empty()) {
            corpus.add_document(document);
        } else {
            const json& layout = ids[corpus.documents.size()];
            corpus.add_ids({document, {layout[0], layout[1]}});
        }
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
