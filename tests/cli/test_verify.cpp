// inkling verify: an intact run, and every kind of damage.
#include "tests/cli/program.h"

namespace {

// A run of 20 steps with the checkpoints 10 and 20.
struct VerifiedRun : CopiedRun {
    std::string file(const std::string& name) const { return out + "/step-000020/" + name; }
    template <class... Pieces>
    Result verify(const Pieces&... flags) const {
        return program("verify", out, flags...);
    }
};

void write(const std::string& path, const std::string& content) { std::ofstream(path) << content; }

void flip_byte(const std::string& path, std::size_t at) {
    std::string content = read_file(path);
    content.at(at) = static_cast<char>(content[at] ^ 0x10);
    write(path, content);
}

const ordered_json& line_of(const std::vector<ordered_json>& lines, const std::string& event,
                            const std::string& part = "") {
    for (const ordered_json& line : lines)
        if (line["event"] == event && line.dump().find(part) != std::string::npos) return line;
    FAIL("no line of " << event << " with " << part);
    return lines.front();
}

}  // namespace

TEST_CASE("verify: a run that is whole, and one of adapters, beside weights in any precision", "[cli]") {
    const Result r = execute("verify", small_run());
    CHECK(r.err.empty());
    check_has(r.out, "step-000020: whole, validation loss ", "step-000010: whole", "latest: points to step-000020\n",
              "best: points to step-0000", "text.txt: the training text\n",
              "2 of 2 checkpoints whole; to go on from step-000020: inkling train --out ", " --resume auto\n");
    const auto lines = json_lines(program("verify", small_run() + "/", "--json"));
    const ordered_json newest = line_of(lines, "checkpoint", "step-000020");
    check_holds(newest, "whole", true, "problem", nullptr);
    CHECK_ALL(newest["val_loss"] > 0, line_of(lines, "link", "latest")["target"] == "step-000020");
    CHECK(line_of(lines, "text")["checked"] == true);
    check_holds(lines.back(), "event", "end", "checkpoints", 2, "whole", 2, "problems", 0, "resumes",
                small_run() + "/step-000020");
    for (const char* precision : {"fp32", "bf16", "q8_0"}) {
        const TrainFolder folder;
        const std::string model = folder.path("model"), weights = model + "/model.safetensors";
        fs::copy(fs::canonical(small_run() + "/latest"), model);
        execute(folder.train("--init-from", model, "--base-precision", precision,
                             "--recipe nanogpt-cpu --lora-rank 2 --batch-size 2 --max-iters 3 --eval-every 3 "
                             "--sample-every 0 --threads 1"));
        check_has(execute("verify", folder.out).out, "step-000003: whole");
        flip_byte(weights, fs::file_size(weights) - 2);
        check_has(ended_with(5, program("verify", folder.out)).out, "its adapters were trained for another model than");
    }
}

TEST_CASE("verify: a file that is missing, cut off, longer, or has a flipped byte anywhere, is damage", "[cli]") {
    const VerifiedRun run;
    for (const std::string name :
         {"model.safetensors", "training_state.safetensors", "config.json", "tokenizer.json"}) {
        const std::string whole = read_file(run.file(name));
        const auto check = [&](const std::string& how) {
            INFO(name << " " << how);
            const auto lines = json_lines(ended_with(5, run.verify("--json --no-text")).out);
            const ordered_json damaged = line_of(lines, "checkpoint", "step-000020");
            CHECK(damaged["whole"] == false);
            check_has(damaged["problem"].get<std::string>(), name);
            CHECK(line_of(lines, "checkpoint", "step-000010")["whole"] == true);
            CHECK(line_of(lines, "link", "latest")["problem"] ==
                  "points to step-000020, and should point to step-000010");
            check_holds(lines.back(), "whole", 1, "resumes", run.out + "/step-000010");
        };
        for (const std::size_t at : {std::size_t{3}, whole.size() / 3, whole.size() / 2, whole.size() - 3}) {
            flip_byte(run.file(name), at);
            check("byte " + std::to_string(at));
            flip_byte(run.file(name), at);
        }
        fs::remove(run.file(name));
        check("missing");
        for (const auto& [how, content] : std::vector<std::pair<std::string, std::string>>{
                 {"cut off", whole.substr(0, whole.size() / 2)}, {"empty", ""}, {"longer", whole + "{}"}}) {
            write(run.file(name), content);
            check(how);
        }
        write(run.file(name), whole);
    }
    CHECK(run.verify().code == 0);
}

TEST_CASE("verify: links that are missing, lead nowhere, to another checkpoint or to themselves", "[cli]") {
    const VerifiedRun run;
    const std::string latest = run.out + "/latest";
    const auto check = [&](const std::string& problem) {
        check_has(ended_with(5, run.verify()).out, "latest: " + problem + ": --resume auto repairs it",
                  "2 of 2 checkpoints whole; to go on from step-000020");
        fs::remove(latest);
    };
    fs::remove(latest);
    check("is missing, and should point to step-000020");
    fs::create_symlink("step-000015", latest);
    check("points to step-000015, which does not exist, and should point to step-000020");
    fs::create_symlink("step-000010", latest);
    check("points to step-000010, and should point to step-000020");
    const std::string best = fs::read_symlink(run.out + "/best");
    fs::remove(run.out + "/best");
    fs::create_symlink(best == "step-000010" ? "step-000020" : "step-000010", run.out + "/best");
    execute(run.TrainFolder::resume("--max-iters 20"));  // which has nothing else to do
    CHECK_ALL(run.verify().code == 0, fs::read_symlink(run.out + "/best") == best);
    for (const char* name : {"config.toml", "latest", "best", "step-000010", "step-000020", "step-000020/config.json",
                             "step-000020/model.safetensors", "step-000020/training_state.safetensors"}) {
        INFO(name);
        const VerifiedRun linked;
        const fs::path path = linked.out + "/" + name;
        fs::remove_all(path);
        fs::create_symlink(path.filename(), path);
        ended_with(5, linked.verify());
    }
    fs::remove(run.out + "/config.toml");
    fs::create_symlink("nowhere", run.out + "/config.toml");
    check_has(ended_with(5, run.verify()).out, "config.toml: ");
}

TEST_CASE("verify: a text that has changed, or is not there", "[cli]") {
    const TrainFolder folder;
    execute(folder.train(kSmall)), execute("verify", folder.out);
    folder.write("text.txt", small_text().replace(600, 1, "z"));
    check_has(ended_with(5, program("verify", folder.out)).out,
              "text.txt: is another text than was trained on: resume with --data",
              "2 of 2 checkpoints whole; to go on from step-000020, give the text");
    execute("verify", folder.out, "--no-text");
    fs::remove(folder.text);
    // a run may be kept where its text is not
    check_has(execute("verify", folder.out).out,
              "not checked: there is no " + folder.text + " here: resume with --data");
}

TEST_CASE("verify: one checkpoint, settings that are damaged, a run without any, and what is no run", "[cli]") {
    const VerifiedRun run;
    const std::string checkpoint = run.out + "/step-000010";
    check_has(execute("verify", checkpoint).out,
              "1 of 1 checkpoint whole; to go on from it: inkling train --resume " + checkpoint);
    execute("verify", run.out + "/latest");

    write(run.out + "/config.toml", read_file(run.out + "/config.toml") + "n_layer = [");
    check_has(ended_with(5, run.verify()).out, "config.toml: ", "text.txt: the training text");

    for (const char* name : {"/step-000010", "/step-000020"})
        fs::resize_file(run.out + name + "/model.safetensors", 100);
    check_has(ended_with(5, run.verify()).out, "latest: points to step-000020, which is not whole\n",
              "0 of 2 checkpoints whole; nothing can be resumed");

    check_fails(call("verify", run.path()), 3, "is neither a run, a checkpoint nor a proof");
    check_fails(call("verify", run.path("nowhere")), 3, "no such folder");
    check_fails(call("verify"), 2, "run");
    fs::rename(checkpoint, run.out + "/step-000011");
    check_has(run.verify("--no-text").out, "step-000011: damaged: ");
}
