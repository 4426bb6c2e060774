// The folder of a run: checkpoints are saved whole or not at all; links, pruning, the lock.
#include "train/run/run_folder.h"

#include <sys/file.h>

#include "formats/files/directory.h"
#include "formats/files/file_calls.h"
#include "tests/train/checkpoints.h"

TEST_CASE("run folder: checkpoints under their steps, the last two and the best, or as many as told", "[train]") {
    const ScratchFolder scratch;
    RunFolder folder(scratch.path("a/b/out"));  // made with those above it
    CHECK(save_in(folder, 500, 3, "first") == folder.path() / "step-000500");
    CHECK(names_in(folder.path()) == std::vector<std::string>{".lock", "best", "latest", "step-000500"});
    CHECK(fs::read_symlink(folder.path() / "latest") == "step-000500");  // relative: the folder may be moved
    CHECK(fs::read_symlink(folder.path() / "best") == "step-000500");
    CHECK(read_file(folder.path() / "best" / "file") == "first");
    save_in(folder, 1'234'567, 4, "second");
    CHECK(fs::read_symlink(folder.path() / "latest") == "step-1234567");
    CHECK(fs::read_symlink(folder.path() / "best") == "step-000500");
    CHECK(folder.checkpoints() == std::vector{folder.path() / "step-1234567", folder.path() / "step-000500"});
    RunFolder pruned(scratch.path());
    using Steps = std::vector<std::size_t>;
    const auto kept = [](const RunFolder& of) {
        Steps steps;
        for (const auto& c : of.checkpoints()) steps.push_back(step_of(c));
        return steps;
    };
    save_in(pruned, 1);
    CHECK_FALSE(fs::is_symlink(fs::symlink_status(pruned.path() / "best")));  // without an evaluation
    save_in(pruned, 2, 3);
    CHECK(kept(pruned) == Steps{2, 1});
    for (const std::size_t step : {3, 4, 5}) save_in(pruned, step);
    CHECK(kept(pruned) == Steps{5, 4, 2});
    save_in(pruned, 6, 2);
    CHECK(kept(pruned) == Steps{6, 5});
    // a run resumed from an older checkpoint keeps its new ones
    save_in(pruned, 3, kNotEvaluated, "again");
    CHECK(read_file(pruned.path() / "latest" / "file") == "again");
    CHECK(kept(pruned) == Steps{3});  // it removes later steps, the best one included
    RunFolder three(scratch.path("three"), 3);
    save_in(three, 1, 2);  // keeps as many of the newest as it is told
    for (std::size_t step = 2; step <= 6; ++step) save_in(three, step, 3);
    CHECK(kept(three) == Steps{6, 5, 4, 1});  // the first is the best
}

TEST_CASE("run folder: the same step again, names that cannot be exchanged, folders without sync", "[train]") {
    const ScratchFolder scratch;
    RunFolder folder(scratch.path());
    save_in(folder, 7, 2, "old");
    for (const int refused : {0, EINVAL, ENOSYS, EIO}) {
        before_file_call = [&](std::string_view call, const fs::path&) { return call == "exchange" ? refused : 0; };
        if (refused == EIO)
            CHECK_THROWS_WITH(save_in(folder, 7, 3, "never"), contains(std::strerror(EIO)));
        else
            save_in(folder, 7, 3, std::to_string(refused));
        before_file_call = nullptr;
        CHECK(read_file(folder.path() / "best" / "file") == std::to_string(refused == EIO ? ENOSYS : refused));
        CHECK(names_in(folder.path()) == std::vector<std::string>{".lock", "best", "latest", "step-000007"});
    }
    before_file_call = [](std::string_view call, const fs::path&) {
        return call == "fsync directory" ? EINVAL : call == "close" ? EINTR : 0;
    };
    {
        RunFolder other(scratch.path("other"));
        save_in(other, 7, 2, "x");
        write_file_atomic(other.path() / "metrics.jsonl", "{}");
    }
    before_file_call = nullptr;
    CHECK(read_file(scratch.path("other/latest/file")) == "x");
    CHECK(read_file(scratch.path("other/metrics.jsonl")) == "{}");
    for (const char* name : {"step-", "step-00001x", "step-0000000000000000000000", "stop-000001", "step-1 "})
        CHECK_FALSE(is_checkpoint(name));
    for (const char* name : {"step-000001", "step-1", "step-100000000000000000"}) CHECK(is_checkpoint(name));
}

TEST_CASE("run folder: a save that fails leaves what was there, and names an intact checkpoint", "[train]") {
    const ScratchFolder scratch;
    const auto message = [&](const std::string& name, const std::function<void(const fs::path& run)>& meanwhile,
                             const std::vector<std::size_t>& before = {10, 20}) {
        RunFolder folder(scratch.path(name));
        for (const std::size_t step : before) save_in(folder, step);
        return error_of<Error>([&] {
            folder.save(30, [&](const fs::path& p) {
                write_in(p, "half");
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
    CHECK(message("d", empty) == "no space: inkling verify shows which checkpoints are intact");
    CHECK(message("e", [](const fs::path& run) { fs::remove_all(run); }) == "no space: the folder of the run is gone");
    CHECK(message("f", nothing, {}) == "no space: nothing was saved: free disk space and start again");
}

TEST_CASE("run folder: leftovers of a killed run go, foreign files stay, links are repaired", "[train]") {
    const ScratchFolder scratch;
    scratch.write("notes.txt", "mine"), scratch.write("step-by-step/guide", "mine");
    {
        RunFolder folder(scratch.path());
        save_in(folder, 5);
    }
    scratch.write(".unfinished-step-000006/model.safetensors", "half"), scratch.write(".unfinished-latest", "half");
    for (const char* name : {".config.toml.tmp.12.0", ".metrics.jsonl.tmp.7.3", ".notes.tmp.1.1", ".config.toml.bak"})
        scratch.write(name, "x");
    RunFolder folder(scratch.path());
    CHECK(names_in(folder.path()) == std::vector<std::string>{".config.toml.bak", ".lock", ".notes.tmp.1.1", "latest",
                                                              "notes.txt", "step-000005", "step-by-step"});
    CHECK(folder.checkpoints().size() == 1);
    const ScratchFolder other;
    const auto make = [&](std::size_t step, double val_loss) {  // as a save that was killed before its links
        const std::string name = fmt::format("step-{:06}", step);
        other.write(name + "/file", name);
        write_state(other.path(name), val_loss);
        return fs::path(other.path(name));
    };
    RunFolder repaired(other.path());
    save_in(repaired, 10, 2.5), save_in(repaired, 20, 2.0), save_in(repaired, 30, 3.0);
    const auto newest = make(40, 1.5);
    repaired.repair_links(newest);
    CHECK(read_file(repaired.path() / "latest" / "file") == "step-000040");
    CHECK(read_file(repaired.path() / "best" / "file") == "step-000040");
    CHECK(repaired.checkpoints().size() == 2);  // 30 and 40
    // among equal losses the first is the best, as during a run
    repaired.repair_links(make(50, 1.5));
    CHECK(fs::read_symlink(repaired.path() / "best") == "step-000040");
    CHECK(fs::read_symlink(repaired.path() / "latest") == "step-000050");
    // the checkpoint that the run resumes from always stays
    const auto old = make(5, 9);
    repaired.repair_links(old);
    CHECK_ALL(fs::exists(old), fs::read_symlink(repaired.path() / "latest") == "step-000050");
    save_in(repaired, 6, 9);  // and what came after it goes once the run has gone on, the best of it too
    CHECK(names_in(repaired.path()) ==
          std::vector<std::string>{".lock", "best", "latest", "step-000005", "step-000006"});
    CHECK(fs::read_symlink(repaired.path() / "best") == "step-000005");
}

TEST_CASE("run folder: a checkpoint that cannot be loaded, or cannot be read for a moment", "[train]") {
    const ScratchFolder scratch;
    RunFolder folder(scratch.path());
    save_in(folder, 10, 2);
    const fs::path damaged = save_in(folder, 20, 1);
    folder.repair_links(folder.path() / "step-000010", {damaged});
    CHECK(fs::read_symlink(folder.path() / "latest") == "step-000010");
    CHECK_ALL(fs::read_symlink(folder.path() / "best") == "step-000010", fs::exists(damaged));
    save_in(folder, 22, 3);
    CHECK(names_in(folder.path()) == std::vector<std::string>{".lock", "best", "latest", "step-000010", "step-000022"});
    CHECK(fs::read_symlink(folder.path() / "best") == "step-000010");
    const ScratchFolder other;
    RunFolder reread(other.path());
    const fs::path best = save_in(reread, 1, 1), state = best / "training_state.safetensors", away = other.path("away");
    save_in(reread, 2, 2);
    fs::rename(state, away);
    for (const std::size_t step : {3, 4, 5}) save_in(reread, step, 2);
    CHECK(fs::exists(best));
    fs::rename(away, state);
    save_in(reread, 6, 2);
    CHECK(fs::read_symlink(reread.path() / "best") == "step-000001");
}
