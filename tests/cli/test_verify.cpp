// inkling verify: an intact run, and every kind of damage.
#include <sys/stat.h>

#include <cmath>
#include <fstream>

#include "tests/cli/program.h"

using namespace inkling::testing;

namespace {

// A run of 20 steps with the checkpoints 10 and 20.
struct VerifiedRun : CopiedRun {
    fs::path path = out;
    fs::path file(const std::string& name) const { return path / "step-000020" / name; }
    Result verify(const Arguments& flags = {}) const { return program(Arguments{"verify", path.string()} + flags); }
};

void flip_byte(const fs::path& path, std::size_t at) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    const char old = static_cast<char>(file.get());
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(old ^ 0x10));
    REQUIRE(file.good());
}

void append(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::app) << text; }

const ordered_json& line_of(const std::vector<ordered_json>& lines, const std::string& event,
                            const std::string& part = "") {
    for (const ordered_json& line : lines)
        if (line["event"] == event && line.dump().find(part) != std::string::npos) return line;
    FAIL("no line of " << event << " with " << part);
    return lines.front();
}

}  // namespace

TEST_CASE("verify: a run that is whole", "[cli]") {
    const Result r = succeeded(program({"verify", small_run()}));
    CHECK(r.err.empty());
    CHECK_THAT(
        r.out,
        contains("step-000020: whole, validation loss ", "step-000010: whole", "latest: shows step-000020\n",
                 "best: shows step-0000", "text.txt: the one that was trained on\n",
                 "2 of 2 checkpoints whole; to go on from step-000020: inkling train --out ", " --resume auto\n"));
    const auto lines = json_lines(program({"verify", small_run() + "/", "--json"}));
    const ordered_json newest = line_of(lines, "checkpoint", "step-000020");
    CHECK((newest["whole"] == true && newest["problem"].is_null() && newest["val_loss"].get<double>() > 0));
    CHECK(line_of(lines, "link", "latest")["target"] == "step-000020");
    CHECK(line_of(lines, "text")["checked"] == true);
    const ordered_json& end = lines.back();
    CHECK((end["event"] == "end" && end["checkpoints"] == 2 && end["whole"] == 2 && end["problems"] == 0));
    CHECK(end["resumes"] == small_run() + "/step-000020");
}

TEST_CASE("verify: a run of adapters, beside weights that are kept in any precision", "[cli]") {
    for (const char* precision : {"fp32", "bf16", "q8_0"}) {
        const ScratchFolder folder;
        const std::string out = folder.path("out"), model = folder.path("model");
        fs::copy(fs::canonical(small_run() + "/latest"), model, fs::copy_options::recursive);
        succeeded(program(Arguments{"train", "--data", folder.write("text.txt", small_text()), "--out", out,
                                    "--init-from", model, "--base-precision", precision} +
                          words("--recipe nanogpt-cpu --lora-rank 2 --batch-size 2 --max-iters 3 --eval-every 3 "
                                "--sample-every 0 --threads 1")));
        const Result whole = succeeded(program({"verify", out}));
        INFO(whole.out);
        CHECK_THAT(whole.out, contains("step-000003: whole"));
        flip_byte(fs::path(model) / "model.safetensors", fs::file_size(fs::path(model) / "model.safetensors") - 2);
        const Result other = ended_with(5, program({"verify", out}));
        CHECK_THAT(other.out, contains("its adapters were trained for another model than"));
    }
}

TEST_CASE("verify: a flipped byte is found in every file, wherever it is", "[cli]") {
    for (const char* name : {"model.safetensors", "training_state.safetensors", "config.json", "tokenizer.json"}) {
        const VerifiedRun run;
        const std::size_t size = fs::file_size(run.file(name));
        for (const std::size_t at : {std::size_t{3}, size / 3, size / 2, size - 3}) {
            INFO(name << ", byte " << at);
            flip_byte(run.file(name), at);
            const Result r = ended_with(5, run.verify({"--json", "--no-text"}));
            const auto lines = json_lines(r.out);
            const ordered_json damaged = line_of(lines, "checkpoint", "step-000020");
            CHECK((damaged["whole"] == false && !damaged["problem"].get<std::string>().empty()));
            CHECK(line_of(lines, "checkpoint", "step-000010")["whole"] == true);
            CHECK(line_of(lines, "link", "latest")["problem"] == "shows step-000020, and should show step-000010");
            CHECK((lines.back()["whole"] == 1 && lines.back()["resumes"] == (run.path / "step-000010").string()));
            flip_byte(run.file(name), at);
        }
        CHECK(run.verify().code == 0);
    }
}

TEST_CASE("verify: files that are missing, cut off, or longer than they were", "[cli]") {
    const VerifiedRun run;
    for (const char* name : {"model.safetensors", "training_state.safetensors", "config.json", "tokenizer.json"}) {
        const std::string whole = read_file(run.file(name));
        const auto check = [&](const std::string& how) {
            const Result r = ended_with(5, run.verify({"--no-text"}));
            INFO(name << " " << how);
            CHECK_THAT(r.out, contains("step-000020: damaged: ", name, "1 of 2 checkpoints whole"));
        };
        fs::remove(run.file(name));
        check("missing");
        std::ofstream(run.file(name)) << whole.substr(0, whole.size() / 2);
        check("cut off");
        std::ofstream(run.file(name)).close();
        check("empty");
        std::ofstream(run.file(name)) << whole + "{}";
        check("longer");
        std::ofstream(run.file(name)) << whole;
    }
    CHECK(run.verify().code == 0);
}

TEST_CASE("verify: links that are missing, lead nowhere or to another checkpoint", "[cli]") {
    const VerifiedRun run;
    const fs::path latest = run.path / "latest";
    const auto check = [&](const std::string& problem) {
        const Result r = ended_with(5, run.verify());
        CHECK_THAT(r.out, contains("latest: " + problem + ": --resume auto mends it",
                                   "2 of 2 checkpoints whole; to go on from step-000020"));
        fs::remove(latest);
    };
    fs::remove(latest);
    check("is missing, and should show step-000020");
    fs::create_symlink("step-000015", latest);
    check("shows step-000015, which does not exist, and should show step-000020");
    fs::create_symlink("step-000010", latest);
    check("shows step-000010, and should show step-000020");
    succeeded(program({"train", "--out", run.path.string(), "--resume", "auto", "--max-iters", "20"}));
    CHECK(run.verify().code == 0);
}

TEST_CASE("verify: a text that has changed, or is not there", "[cli]") {
    const NewRun fresh;
    succeeded(program(fresh.train + kSmall));
    succeeded(program({"verify", fresh.out}));
    fresh.folder.write("text.txt", small_text().replace(600, 1, "z"));
    const Result changed = ended_with(5, program({"verify", fresh.out}));
    CHECK_THAT(changed.out, contains("text.txt: is another text than was trained on: resume with --data",
                                     "2 of 2 checkpoints whole; to go on from step-000020, give the text"));
    succeeded(program({"verify", fresh.out, "--no-text"}));
    fs::remove(fresh.text);
    const Result gone = succeeded(program({"verify", fresh.out}));  // a run may be kept where its text is not
    CHECK_THAT(gone.out, contains("not checked: there is no " + fresh.text + " here: resume with --data"));
}

TEST_CASE("verify: one checkpoint, settings that are damaged, a run without any, and what is no run", "[cli]") {
    const VerifiedRun run;
    const std::string checkpoint = (run.path / "step-000010").string();
    const Result one = succeeded(program({"verify", checkpoint}));
    CHECK_THAT(one.out, contains("1 of 1 checkpoint whole; to go on from it: inkling train --resume " + checkpoint));
    succeeded(program({"verify", (run.path / "latest").string()}));

    append(run.path / "config.toml", "n_layer = [");
    const Result settings = ended_with(5, run.verify());
    CHECK_THAT(settings.out, contains("config.toml: ", "text.txt: the one"));

    for (const char* name : {"step-000010", "step-000020"}) fs::resize_file(run.path / name / "model.safetensors", 100);
    const Result nothing = ended_with(5, run.verify());
    CHECK_THAT(nothing.out, contains("latest: shows step-000020, which is not whole\n",
                                     "0 of 2 checkpoints whole; nothing can be resumed"));

    check_fails(call({"verify", run.folder.path()}), 3, "is no run and no checkpoint");
    check_fails(call({"verify", run.folder.path("nowhere")}), 3, "there is no such folder");
    check_fails(call({"verify"}), 2, "run");
    fs::rename(run.path / "step-000010", run.path / "step-000011");
    CHECK_THAT(run.verify({"--no-text"}).out, contains("step-000011: damaged: "));
}
