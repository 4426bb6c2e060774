// metrics.jsonl: its keys, and the lines that a resumed run keeps.
#include "train/run/metrics.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/base/check.h"
#include "formats/files/file.h"
#include "tests/catch.h"
#include "tests/support/scratch_folder.h"

using namespace inkling;
using train::Metrics;
using train::MetricsFile;

namespace {

std::vector<nlohmann::ordered_json> lines(const std::string& path) {
    std::istringstream in(formats::read_file(path));
    std::vector<nlohmann::ordered_json> result;
    for (std::string line; std::getline(in, line);) result.push_back(nlohmann::ordered_json::parse(line));
    return result;
}

std::vector<std::size_t> steps(const std::string& path) {
    std::vector<std::size_t> result;
    for (const auto& line : lines(path)) result.push_back(line.at("step"));
    return result;
}

Metrics at(std::size_t step) {
    Metrics m;
    m.step = step;
    return m;
}

}  // namespace

TEST_CASE("metrics: one JSON object a line, with val_loss where it was evaluated", "[train]") {
    const testing::ScratchFolder folder;
    const std::string path = folder.path("metrics.jsonl");
    {
        MetricsFile file(path, 0);
        file.write(
            {.step = 3, .loss = 2.5, .lr = 1e-3, .grad_norm = 0.25, .tok_s = 1000, .train_s = 1.5, .elapsed_s = 2});
        CHECK(lines(path).size() == 1);  // on disk as soon as it is written
        file.write({.step = 4,
                    .loss = 2.25,
                    .val_loss = 2.0,
                    .val_tokens = 700,
                    .bits_per_byte = 1.25,
                    .lr = 1e-4,
                    .grad_norm = 0.125,
                    .tok_s = 2000,
                    .train_s = 1.75,
                    .elapsed_s = 3});
    }
    const auto written = lines(path);
    const auto keys = [](const nlohmann::ordered_json& j) {
        std::vector<std::string> names;
        for (const auto& [key, value] : j.items()) names.push_back(key);
        return names;
    };
    CHECK(keys(written[0]) ==
          std::vector<std::string>{"step", "loss", "lr", "grad_norm", "tok_s", "train_s", "elapsed_s"});
    CHECK(keys(written[1]) == std::vector<std::string>{"step", "loss", "val_loss", "val_tokens", "bits_per_byte", "lr",
                                                       "grad_norm", "tok_s", "train_s", "elapsed_s"});
    CHECK((written[1]["val_tokens"] == 700 && written[1]["bits_per_byte"] == 1.25));
    CHECK((written[0]["step"] == 3 && written[0]["loss"] == 2.5 && written[0]["lr"] == 1e-3));
    CHECK((written[0]["grad_norm"] == 0.25 && written[0]["tok_s"] == 1000));
    CHECK((written[1]["val_loss"] == 2.0 && written[1]["train_s"] == 1.75 && written[1]["elapsed_s"] == 3));
}

TEST_CASE("metrics: a resumed run drops later lines, and what is no line, and a file may not be writable", "[train]") {
    const testing::ScratchFolder folder;
    const std::string path = folder.path("metrics.jsonl");
    {
        MetricsFile file(path, 0);
        for (const std::size_t step : {1, 5, 10, 15, 20}) file.write(at(step));
    }
    const std::string deep = "{\"step\": " + std::string(1'000'000, '[') + "\n";
    folder.write("metrics.jsonl",
                 formats::read_file(path) +
                     "{\"step\": \"2\"}\n{\"step\": null}\n{\"step\": -1}\n{\"step\": 1e300}\n{}\n[1]\n\n" + deep +
                     "{\"step\": 21, \"lo");  // damaged, and cut short by a crash
    {
        MetricsFile file(path, 10);
        CHECK(steps(path) == std::vector<std::size_t>{1, 5, 10});
        file.write(at(11));
    }
    CHECK(steps(path) == std::vector<std::size_t>{1, 5, 10, 11});
    const MetricsFile anew(path, 0);
    CHECK(steps(path).empty());
    CHECK_THROWS_WITH(MetricsFile(folder.path("nowhere/metrics.jsonl"), 0), contains("nowhere/metrics.jsonl"));
}
