// metrics.jsonl: its keys, and the lines that a resumed run keeps.
#include "train/run/metrics.h"

static std::vector<std::size_t> steps(const std::string& path) {
    std::vector<std::size_t> result;
    for (const auto& line : lines_in(path)) result.push_back(line.at("step"));
    return result;
}

static Metrics at(std::size_t step) {
    Metrics m;
    m.step = step;
    return m;
}

TEST_CASE("metrics: one JSON object a line, with val_loss where it was evaluated", "[train]") {
    const ScratchFolder folder;
    const std::string path = folder.path("metrics.jsonl");
    {
        MetricsFile file(path, 0);
        Metrics m = at(3);
        m.loss = 2.5, m.lr = 1e-3, m.grad_norm = 0.25, m.tok_s = 1000, m.train_s = 1.5, m.elapsed_s = 2;
        file.write(m);
        CHECK(lines_in(path).size() == 1);  // on disk as soon as it is written
        m = at(4);
        m.loss = 2.25, m.lr = 1e-4, m.grad_norm = 0.125, m.tok_s = 2000, m.train_s = 1.75, m.elapsed_s = 3;
        m.val_loss = 2.0, m.val_tokens = 700, m.bits_per_byte = 1.25;
        file.write(m);
    }
    const auto written = lines_in(path);
    CHECK(keys_of(written[0]) ==
          std::vector<std::string>{"step", "loss", "lr", "grad_norm", "tok_s", "train_s", "elapsed_s"});
    CHECK(keys_of(written[1]) == std::vector<std::string>{"step", "loss", "val_loss", "val_tokens", "bits_per_byte",
                                                          "lr", "grad_norm", "tok_s", "train_s", "elapsed_s"});
    check_holds(written, "/0/step", 3, "/0/loss", 2.5, "/0/lr", 1e-3, "/0/grad_norm", 0.25, "/0/tok_s", 1000,
                "/1/val_loss", 2.0, "/1/val_tokens", 700, "/1/bits_per_byte", 1.25, "/1/train_s", 1.75, "/1/elapsed_s",
                3);
}

TEST_CASE("metrics: a resumed run drops later lines, and what is no line, and a file may not be writable", "[train]") {
    const ScratchFolder folder;
    const std::string path = folder.path("metrics.jsonl");
    {
        MetricsFile file(path, 0);
        for (const std::size_t step : {1, 5, 10, 15, 20}) file.write(at(step));
    }
    const std::string deep = "{\"step\": " + std::string(1'000'000, '[') + "\n";
    folder.write("metrics.jsonl",
                 read_file(path) +
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
