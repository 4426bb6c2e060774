#include "train/run/run_metadata.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <ctime>

#include "engine/base/cpu.h"
#include "engine/process/threads.h"
#include "formats/files/file.h"
#include "formats/json.h"
#include "train/loop.h"

namespace inkling::train {
namespace {

constexpr const char* kBefore = "val_loss_before";

std::string now() {  // UTC, ISO 8601
    const std::time_t seconds = std::time(nullptr);
    std::tm t{};
    gmtime_r(&seconds, &t);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", t.tm_year + 1900, t.tm_mon + 1, t.tm_mday, t.tm_hour,
                       t.tm_min, t.tm_sec);
}

nlohmann::ordered_json this_machine() {
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return {
        {"cpu", cpu_name()},
        {"cores", physical_cores()},
        {"memory_bytes", pages > 0 && page > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page)
                                               : std::uint64_t{0}}};
}

}  // namespace

RunMetadata::RunMetadata(const std::filesystem::path& run, nlohmann::ordered_json metadata)
    : path_(run / "run.json"), metadata_(std::move(metadata)) {
    if (formats::is_there(path_)) {  // of the resumed run
        const auto old = formats::json_or_null(formats::read_file(path_, formats::FileKind::json));
        if (old.is_object() && old.contains(kBefore)) metadata_[kBefore] = old[kBefore];
    }
    metadata_["started"] = now();
    metadata_["machine"] = this_machine();
    formats::write_file_atomic(path_, formats::json_text(metadata_, 2) + "\n", formats::Links::replaced);
}

void RunMetadata::evaluated(TrainingLoop& loop) {
    if (loop.metrics().step == 0) metadata_[kBefore] = *loop.metrics().val_loss;
}

std::optional<double> RunMetadata::val_loss_before() const {
    const auto found = metadata_.find(kBefore);
    return found != metadata_.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

void RunMetadata::stopped(TrainingLoop& loop) {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    metadata_["ended"] = now();
    metadata_["stop_reason"] = name_of(loop.stop_reason());
    metadata_["peak_memory_bytes"] = static_cast<std::uint64_t>(used.ru_maxrss) * 1024;
    formats::write_file_atomic(path_, formats::json_text(metadata_, 2) + "\n", formats::Links::replaced);
}

}  // namespace inkling::train
