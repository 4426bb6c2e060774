// The folder of a run: checkpoints are saved whole or not at all; links, pruning, the lock.
#include "train/run/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>

#include "engine/base/check.h"
#include "formats/files/directory.h"
#include "formats/files/file.h"
#include "formats/files/file_calls.h"
#include "tests/catch.h"
#include "tests/support/error_of.h"
#include "tests/support/scratch_folder.h"
#include "tests/train/checkpoints.h"

using namespace inkling;
using namespace inkling::testing;
using formats::names_in;
using formats::read_file;
using train::RunFolder;

namespace {

void write(const fs::path& folder, const std::string& text) { std::ofstream(folder / "file") << text; }

// Saves a checkpoint with a validation loss; infinity if not evaluated.
fs::path save(RunFolder& folder, std::size_t step, double val_loss = kNotEvaluated, const std::string& text = "x") {
    return folder.save(step, [&](const fs::path& p) {
        write(p, text);
        write_state(p, val_loss);
    });
}

}  // namespace

TEST_CASE("run folder: a checkpoint is there under its step, with links to it", "[train]") {
    const ScratchFolder scratch;
    RunFolder folder(scratch.path("a/b/out"));  // made with those above it
    CHECK(save(folder, 500, 3, "first") == folder.path() / "step-000500");
    CHECK(names_in(folder.path()) == std::vector<std::string>{".lock", "best", "latest", "step-000500"});
    CHECK(fs::read_symlink(folder.path() / "latest") == "step-000500");  // relative: the folder may be moved
    CHECK(fs::read_symlink(folder.path() / "best") == "step-000500");
    CHECK(read_file(folder.path() / "best" / "file") == "first");
    save(folder, 1'234'567, 4, "second");
    CHECK(fs::read_symlink(folder.path() / "latest") == "step-1234567");
    CHECK(fs::read_symlink(folder.path() / "best") == "step-000500");
    CHECK(folder.checkpoints() == std::vector{folder.path() / "step-1234567", folder.path() / "step-000500"});
}

TEST_CASE("run folder: keeps the last two and the best, or as many of the newest as it is told", "[train]") {
    const ScratchFolder scratch;
    RunFolder folder(scratch.path());
    using Steps = std::vector<std::size_t>;
    const auto kept = [](const RunFolder& of) {
        Steps steps;
        for (const auto& c : of.checkpoints()) steps.push_back(train::step_of(c));
        return steps;
    };
    save(folder, 1);
    CHECK_FALSE(fs::is_symlink(fs::symlink_status(folder.path() / "best")));  // without an evaluation
    save(folder, 2, 3);
    CHECK(kept(folder) == Steps{2, 1});
    for (const std::size_t step : {3, 4, 5}) save(folder, step);
    CHECK(kept(folder) == Steps{5, 4, 2});
    save(folder, 6, 2);
    CHECK(kept(folder) == Steps{6, 5});
    // a run resumed from an older checkpoint keeps its new ones
    save(folder, 3, kNotEvaluated, "again");
    CHECK(read_file(folder.path() / "latest" / "file") == "again");
    CHECK(kept(folder) == Steps{3});  // it removes later steps, the best one included
    RunFolder three(scratch.path("three"), 3);
    save(three, 1, 2);  // keeps as many of the newest as it is told
    for (std::size_t step = 2; step <= 6; ++step) save(three, step, 3);
    CHECK(kept(three) == Steps{6, 5, 4, 1});  // the first is the best
}

TEST_CASE("run folder: the same step can be saved again, where names cannot be exchanged, too", "[train]") {
    const ScratchFolder scratch;
    RunFolder folder(scratch.path());
    save(folder, 7, 2, "old");
    for (const int refused : {0, EINVAL, ENOSYS, EIO}) {
        formats::before_file_call = [&](std::string_view call, const fs::path&) {
            return call == "exchange" ? refused : 0;
        };
        if (refused == EIO)
            CHECK_THROWS_WITH(save(folder, 7, 3, "never"), contains(std::strerror(EIO)));
        else
            save(folder, 7, 3, std::to_string(refused));
        formats::before_file_call = nullptr;
        CHECK(read_file(folder.path() / "best" / "file") == std::to_string(refused == EIO ? ENOSYS : refused));
        CHECK(names_in(folder.path()) == std::vector<std::string>{".lock", "best", "latest", "step-000007"});
    }
}

TEST_CASE("run folder: file systems that cannot sync a folder, or close a file without a signal", "[train]") {
    const ScratchFolder scratch;
    formats::before_file_call = [](std::string_view call, const fs::path&) {
        return call == "fsync directory" ? EINVAL : call == "close" ? EINTR : 0;
    };
    {
        RunFolder folder(scratch.path());
        save(folder, 7, 2, "x");
        formats::write_file_atomic(folder.path() / "metrics.jsonl", "{}");
    }
    formats::before_file_call = nullptr;
    CHECK(read_file(scratch.path() + "/latest/file") == "x");
    CHECK(read_file(scratch.path() + "/metrics.jsonl") == "{}");
}

TEST_CASE("run folder: names that are no checkpoint", "[train]") {
    for (const char* name : {"step-", "step-00001x", "step-0000000000000000000000", "stop-000001", "step-1 "})
        CHECK_FALSE(train::is_checkpoint(name));
    for (const char* name : {"step-000001", "step-1", "step-100000000000000000"}) CHECK(train::is_checkpoint(name));
}

TEST_CASE("run folder: a save that fails leaves what was there, and names an earlier checkpoint that is whole",
          "[train]") {
    const ScratchFolder scratch;
    const auto message = [&](const std::string& name, const std::function<void(const fs::path& run)>& meanwhile,
                             const std::vector<std::size_t>& before = {10, 20}) {
        RunFolder folder(scratch.path(name));
        for (const std::size_t step : before) save(folder, step);
        return error_of<Error>([&] {
            folder.save(30, [&](const fs::path& p) {
                write(p, "half");
                meanwhile(folder.path());
                throw Error("no space");
            });
        });
    };
    const auto nothing = [](const fs::path&) {};
    CHECK(message("a", nothing) == "no space: step-000020 is intact: continue from it with --resume auto");
    CHECK(names_in(scratch.path("a")) == std::vector<std::string>{"latest", "step-000010", "step-000020"});
    CHECK(fs::read_symlink(scratch.path("a/latest")) == "step-000020");
    CHECK(message("b", [](const fs::path& run) { fs::remove_all(run / "step-000020"); }) ==
          "no space: step-000010 is intact: continue from it with --resume auto");
    CHECK(message("c", [](const fs::path& run) { fs::remove(run / "step-000020" / "training_state.safetensors"); }) ==
          "no space: step-000010 is intact: continue from it with --resume auto");
    const auto empty = [](const fs::path& run) {
        for (const char* step : {"step-000010", "step-000020"})
            for (const std::string& name : names_in(run / step)) fs::remove(run / step / name);
    };
    CHECK(message("d", empty) == "no space: inkling verify tells which checkpoints are whole");
    CHECK(message("e", [](const fs::path& run) { fs::remove_all(run); }) == "no space: the folder of the run is gone");
    CHECK(message("f", nothing, {}) == "no space: nothing was saved: free disk space and start again");
}

TEST_CASE("run folder: leftovers of a killed run are removed, foreign files are not", "[train]") {
    const ScratchFolder scratch;
    scratch.write("notes.txt", "mine");
    scratch.write("step-by-step/guide", "mine");
    {
        RunFolder folder(scratch.path());
        save(folder, 5);
    }
    scratch.write(".unfinished-step-000006/model.safetensors", "half");
    scratch.write(".unfinished-latest", "half");
    for (const char* name : {".config.toml.tmp.12.0", ".metrics.jsonl.tmp.7.3", ".notes.tmp.1.1", ".config.toml.bak"})
        scratch.write(name, "x");
    RunFolder folder(scratch.path());
    CHECK(names_in(folder.path()) == std::vector<std::string>{".config.toml.bak", ".lock", ".notes.tmp.1.1", "latest",
                                                              "notes.txt", "step-000005", "step-by-step"});
    CHECK(folder.checkpoints().size() == 1);
}

TEST_CASE("run folder: one run at a time, and a lock whose file is removed is none", "[train]") {
    const ScratchFolder scratch;
    {
        RunFolder folder(scratch.path());
        CHECK_THROWS_WITH(RunFolder(scratch.path()), contains("another run is writing there", scratch.path()));
        save(folder, 1);  // and the one that has it goes on
        CHECK_THROWS_AS(RunFolder(scratch.path()), Error);
    }
    CHECK_NOTHROW(RunFolder(scratch.path()));
    CHECK(names_in(scratch.path()) == std::vector<std::string>{"latest", "step-000001"});
    auto first = std::make_unique<RunFolder>(scratch.path());  // a lock whose file another run has removed is no lock
    const int waiting = open(scratch.path(".lock").c_str(), O_RDWR);  // as a run that comes while the first ends
    first.reset();
    REQUIRE(flock(waiting, LOCK_EX | LOCK_NB) == 0);  // it has the lock of a file that is gone
    const RunFolder second(scratch.path());           // which must not keep this one out
    CHECK_THROWS_WITH(RunFolder(scratch.path()), contains("another run is writing there"));
    close(waiting);
    fs::create_directory(scratch.path("out"));  // a lock that is a link is removed, not followed
    fs::create_symlink(scratch.path("elsewhere"), scratch.path("out/.lock"));
    const RunFolder folder(scratch.path("out"));
    CHECK(fs::is_regular_file(fs::symlink_status(folder.path() / ".lock")));
    CHECK_FALSE(fs::exists(scratch.path("elsewhere")));
}

TEST_CASE("run folder: knows whether it holds a run, and clears that alone", "[train]") {
    const ScratchFolder scratch;
    scratch.write("notes.txt", "mine");
    scratch.write("step-by-step/guide", "mine");
    scratch.write("tokenizer.json", "mine");
    RunFolder folder(scratch.path());
    const auto foreign = names_in(folder.path());
    CHECK_FALSE(train::holds_run(folder.path()));
    save(folder, 1, 2);
    CHECK(train::holds_run(folder.path()));
    scratch.write("metrics.jsonl", "{}\n");
    scratch.write("config.toml", "");
    folder.clear();
    CHECK_FALSE(train::holds_run(folder.path()));
    CHECK(names_in(folder.path()) == foreign);
    scratch.write("metrics.jsonl", "{}\n");
    CHECK(train::holds_run(folder.path()));
    folder.clear();
    folder.clear();  // nothing there is fine too
    CHECK(names_in(folder.path()) == foreign);
}

TEST_CASE("run folder: a file in its place, a folder that is gone and an unreadable lock are errors", "[train]") {
    const ScratchFolder scratch;
    const std::string file = scratch.write("file", "x");
    CHECK_THROWS_WITH(RunFolder(file), contains(file, "is a file"));
    CHECK_THROWS_AS(RunFolder(file + "/out"), Error);
    CHECK_THROWS_WITH(RunFolder(file + "/out"), contains(file));
    CHECK_THROWS_AS(RunFolder("/proc/inkling-out"), Error);
    CHECK(names_in(scratch.path()) == std::vector<std::string>{"file"});
    RunFolder folder(scratch.path("run"));  // one that is removed while a run writes there is told as such
    save(folder, 1);
    fs::remove_all(scratch.path("run"));
    CHECK_THROWS_WITH(save(folder, 2),
                      contains(scratch.path("run"), "the folder of the run is gone") && !contains("make room"));
    formats::before_file_call = [](std::string_view call, const fs::path&) { return call == "stat" ? EIO : 0; };
    CHECK_THROWS_WITH(RunFolder(scratch.path()), contains(scratch.path(), std::strerror(EIO)));
    formats::before_file_call = nullptr;
    CHECK_NOTHROW(RunFolder(scratch.path()));
}

TEST_CASE("run folder: one run at a time holds it, however many begin and end", "[train]") {
    const ScratchFolder scratch;
    std::atomic<int> inside = 0, most = 0, runs = 0;
    const auto run = [&] {
        for (int i = 0; i < 300; ++i) {
            try {
                const RunFolder folder(scratch.path("run"));
                most = std::max<int>(most, ++inside);
                ++runs;
                --inside;
            } catch (const Error&) {
            }
        }
    };
    std::thread other(run), third(run);
    run();
    other.join();
    third.join();
    CHECK(most == 1);
    CHECK(runs > 0);
}

TEST_CASE("run folder: it may be a link, and have any name", "[train]") {
    const ScratchFolder scratch;
    for (const std::string& name : {std::string("a b\nc"), std::string(255, 'n'), std::string("\xff")}) {
        RunFolder folder(scratch.path(name));
        save(folder, 1, 2, "x");
        CHECK(read_file(folder.path() / "latest" / "file") == "x");
    }
    fs::create_directory(scratch.path("real"));
    fs::create_directory_symlink("real", scratch.path("link"));
    RunFolder folder(scratch.path("link"));
    save(folder, 1, 2, "x");
    CHECK(read_file(scratch.path("real/latest/file")) == "x");
    CHECK_THROWS_AS(RunFolder(scratch.path("real")), Error);
}

TEST_CASE("run folder: repair_links points the links to the right checkpoints, then removes old ones", "[train]") {
    const ScratchFolder scratch;
    const auto make = [&](std::size_t step, double val_loss) {  // as a save that was killed before its links
        const std::string name = fmt::format("step-{:06}", step);
        scratch.write(name + "/file", name);
        write_state(scratch.path(name), val_loss);
        return fs::path(scratch.path(name));
    };
    RunFolder folder(scratch.path());
    save(folder, 10, 2.5);
    save(folder, 20, 2.0);
    save(folder, 30, 3.0);
    const auto newest = make(40, 1.5);
    folder.repair_links(newest);
    CHECK(read_file(folder.path() / "latest" / "file") == "step-000040");
    CHECK(read_file(folder.path() / "best" / "file") == "step-000040");
    CHECK(folder.checkpoints().size() == 2);  // 30 and 40
    // among equal losses the first is the best, as during a run
    folder.repair_links(make(50, 1.5));
    CHECK(fs::read_symlink(folder.path() / "best") == "step-000040");
    CHECK(fs::read_symlink(folder.path() / "latest") == "step-000050");
    // the checkpoint that the run resumes from always stays
    const auto old = make(5, 9);
    folder.repair_links(old);
    CHECK(fs::exists(old));
    CHECK(fs::read_symlink(folder.path() / "latest") == "step-000050");
    save(folder, 6, 9);  // and what came after it goes once the run has gone on, the best of it too
    CHECK(names_in(folder.path()) == std::vector<std::string>{".lock", "best", "latest", "step-000005", "step-000006"});
    CHECK(fs::read_symlink(folder.path() / "best") == "step-000005");
}

TEST_CASE("run folder: one that cannot be loaded is neither newest nor best, and goes with the next save", "[train]") {
    const ScratchFolder scratch;
    RunFolder folder(scratch.path());
    save(folder, 10, 2);
    const fs::path damaged = save(folder, 20, 1);
    folder.repair_links(folder.path() / "step-000010", {damaged});
    CHECK(fs::read_symlink(folder.path() / "latest") == "step-000010");
    CHECK(fs::read_symlink(folder.path() / "best") == "step-000010");
    CHECK(fs::exists(damaged));
    save(folder, 22, 3);
    CHECK(names_in(folder.path()) == std::vector<std::string>{".lock", "best", "latest", "step-000010", "step-000022"});
    CHECK(fs::read_symlink(folder.path() / "best") == "step-000010");
}

TEST_CASE("run folder: a checkpoint whose file cannot be read for a moment is not removed", "[train]") {
    const ScratchFolder scratch;
    RunFolder folder(scratch.path());
    const fs::path best = save(folder, 1, 1), state = best / "training_state.safetensors", away = scratch.path("away");
    save(folder, 2, 2);
    fs::rename(state, away);
    for (const std::size_t step : {3, 4, 5}) save(folder, step, 2);
    CHECK(fs::exists(best));
    fs::rename(away, state);
    save(folder, 6, 2);
    CHECK(fs::read_symlink(folder.path() / "best") == "step-000001");
}

TEST_CASE("run folder: knows what a new run would replace, through links too", "[train]") {
    const ScratchFolder scratch;
    const std::string run = scratch.path("run");
    for (const char* name : {"step-000004/model", "step-000004/deep/file", "metrics.jsonl", "config.toml",
                             "tokens-0.bin", "mine.txt", "notes/step-000001", "stepson/file"})
        scratch.write(std::string("run/") + name, "x");
    scratch.write("other/step-000004/model", "x");
    fs::create_directory_symlink("step-000004", run + "/latest");
    fs::create_directory_symlink("run", scratch.path("link"));
    fs::create_symlink("run/metrics.jsonl", scratch.path("metrics"));
    fs::create_symlink(scratch.path("other"), run + "/best");
    for (const char* name :
         {"run/step-000004", "run/step-000004/model", "run/step-000004/deep/file", "run/latest", "run/latest/model",
          "run/metrics.jsonl", "run/config.toml", "run/tokens-0.bin", "link/latest", "link/step-000004/model",
          "metrics", "run/best", "run/best/step-000004", "run/../run/step-000004"}) {
        INFO(name);
        CHECK(train::is_replaced(scratch.path(name), run));
        CHECK(train::is_replaced(scratch.path(name), scratch.path("link")));
    }
    for (const char* name : {"run", "run/mine.txt", "run/notes/step-000001", "run/stepson/file", "other/step-000004",
                             "none/step-000001", "run/none"}) {
        INFO(name);
        CHECK_FALSE(train::is_replaced(scratch.path(name), run));
    }
    CHECK_FALSE(train::is_replaced("standard input", run));
    CHECK_FALSE(train::is_replaced(run + "/step-000004", scratch.path("none")));
}
