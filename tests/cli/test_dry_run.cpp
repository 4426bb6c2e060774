// train --dry-run against the memory and the counts of real runs.
#include "tests/cli/program.h"

TEST_CASE("plan: --dry-run tells the memory that a run takes", "[cli][slow]") {
    const ScratchFolder folder;
    const std::string text = folder.write("text.txt", repeated(small_text(), 8'000));
    const Arguments common = words(
        "--recipe nanogpt-cpu --n-head 4 --max-iters 2 --eval-every 1 --eval-iters 2 --warmup-iters 1 --threads 1");
    const auto sizes = [](const char* layers, const char* width, const char* context, const char* batch) {
        return words("--n-layer", layers, "--n-embd", width, "--block-size", context, "--batch-size", batch);
    };
    for (const Arguments& flags :
         {sizes("3", "384", "64", "4") + "--arch nanochat --optimizer muon --ema 0.9",
          sizes("8", "256", "128", "8") + "--checkpoint-activations",
          sizes("4", "256", "256", "8") + "--dropout 0.2 --val-fraction 0",
          words(
              "--recipe fast --n-layer 6 --n-embd 384 --max-iters 3 --batch-size 2 --block-size 64 --eval-iters 2")}) {
        const ScratchFolder place;
        const bool fast = flags[1] == "fast";
        const Arguments train =
            words("train --data", text, "--out", place.path("out")) + (fast ? words("--threads 1") : common) + flags;
        const auto plan = json_of(train + "--dry-run");
        const Result run = execute(train);
        INFO(plan << run.err << run.peak_mb << " MB of memory, " << flags[0] << ' ' << flags.back());
        // Where the system allocates pages of 4 kB on first use, the plan includes spare room in buffers that is never
        // used.
        const double planned = plan["memory_bytes"], taken = static_cast<double>(run.peak_mb) * 1024 * 1024;
        CHECK_ALL(planned > 0.85 * taken, planned < 1.3 * taken);
    }
}

TEST_CASE("plan: --dry-run counts characters and tokens, opens the tokenizer and adds marks as the run does", "[cli]") {
    const TrainFolder folder;
    const std::string first = folder.write("a.txt", "aba ab"), second = folder.write("b.txt", "ba bab"),  // no line end
        tokenizer = folder.path("tokenizer.json");
    execute("tokenize train --data", folder.text, "--vocab-size 270 --out", tokenizer);
    const auto check_alike = [&](const Arguments& flags, int vocabulary) {
        const Arguments train = words("train --json --out", folder.out, flags);
        const auto planned = json_lines(call(train + "--dry-run")).at(0), run = json_lines(program(train)).at(0);
        for (const char* key : {"vocab_size", "tokens", "parameters"}) CHECK(planned[key] == run[key]);
        CHECK(planned["vocab_size"] == vocabulary);
    };
    check_alike(words("--data", first, "--data", second,
                      small("--tokenizer char --block-size 4 --val-fraction 0 --max-iters 1")),
                4);
    check_alike(words("--overwrite --chat-template chatml --tokenizer", tokenizer, "--data", folder.text,
                      small("--max-iters 1")),
                272);
    const std::string chat = folder.write("chat.jsonl", chat_line("a", "b"));
    check_fails(call("train --dry-run --tokenizer char --data", chat), 3,
                "a tokenizer of kind char has no tokens for the marks");
}

TEST_CASE("plan: a run that cannot fit is refused at once, with the figure that --dry-run gives", "[cli]") {
    const TrainFolder folder;
    const Arguments train = folder.train("--threads 1 --config", folder.write("big.toml", "n_layer = 1000000000\n"));
    const Result plan = execute(train + "--dry-run"), run = program(train);
    const std::string row = plan.out.substr(plan.out.find("\nmemory")), figure = row.substr(row.find("about "));
    check_fails(run, 1, "out of memory: this run needs " + figure.substr(0, figure.find(':')) + ", and ");
    CHECK_FALSE(fs::exists(folder.out));
    check_fails(call("bench --preset tiny --batch 100000000"), 1, "out of memory: ");
    const fs::path unread =
        folder.write("unread/weights", "");  // there are none: the run ends before it looks for them
    fs::copy(small_run() + "/latest/config.json", unread.parent_path());
    check_fails(program(folder.train("--batch-size 100000000 --block-size 8 --init-from", unread.parent_path())), 1,
                "out of memory: ");
}
