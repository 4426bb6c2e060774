// inkling verify --replay and export --proof: training again gives the same, and every change of a run is found, with
// its step.

#include "engine/base/cpu.h"
#include "formats/files/file.h"
#include "formats/sha256.h"
#include "models/files/folder.h"
#include "tests/cli/program.h"
#include "train/run/checkpoint.h"
#include "train/settings/settings.h"
#include "web/report/run_data.h"

namespace train = inkling::train;

namespace {

const Arguments kTen = words(
    "--recipe nanogpt-cpu --n-layer 1 --n-head 2 --n-embd 8 --block-size 8 --batch-size 2 --max-iters 10 "
    "--warmup-iters 2 --eval-every 5 --eval-iters 2 --save-at 3 --log-every 1 --threads 1 --keep-checkpoints all");

// A run of 10 steps with the checkpoints 3, 5 and 10, which a test may change.
struct ReplayedRun : TrainFolder {
    explicit ReplayedRun(const Arguments& flags = {}, const std::string& data = "") {
        static const TrainFolder folder;
        static const Result trained = execute(folder.train(kTen));
        if (!data.empty()) text = data;
        if (flags.empty())
            copy_run(folder.out, out);
        else
            execute(train(flags));
    }
    std::string step(int n) const { return out + "/step-" + (n < 10 ? "00000" : "0000") + std::to_string(n); }
    template <class... Pieces>
    Result replay(const Pieces&... more) const {
        return call("verify --threads 1 --replay all --data", text, out, more...);
    }
    void forget_chain() const { fs::remove(out + "/chain.jsonl"); }
    // Replaces text in a file of the run.
    void edit(const std::string& name, const std::string& from, const std::string& to) const {
        const std::string before = read_file(out + "/" + name);
        const std::string after =
            std::regex_replace(before, std::regex(from), to, std::regex_constants::format_first_only);
        REQUIRE(after != before);
        write("out/" + name, after);
    }
};

// A checkpoint that is loaded, and saved again with checksums that fit: what a forger does.
struct Forged {
    std::string folder;
    TrainOptions options = parse_toml(stored_state(folder).config, "config").options;
    LoadedModel loaded = load_model(folder);
    FlatParameters<float> parameters{*loaded.model};
    std::unique_ptr<Optimizer<float>> optimizer = make_optimizer(options, parameters);
    WeightAverage average{parameters, options.ema};
    TrainingState state = load_state(folder, parameters, *optimizer, average);

    void save() { save_checkpoint(folder, *loaded.model, *loaded.tokenizer, parameters, *optimizer, average, state); }
};

void one_ulp(float& number) { number = std::nextafter(number, 2 * number); }

using Forge = std::function<void(Forged&)>;
void forge(const ReplayedRun& run, int step, const Forge& change) {
    Forged forged{run.step(step)};
    change(forged);
    forged.save();
}
// Changes lines of a chain, and all hashes after them: what a forger does.
void forge_chain(const std::string& folder, const std::function<void(ordered_json&)>& change) {
    std::string all, before;
    for (ordered_json& line : lines_in(folder + "/chain.jsonl")) {
        change(line);
        line["before"] = before;
        before = hex(sha256(line.dump()));
        all += line.dump() + "\n";
    }
    write_file_atomic(folder + "/chain.jsonl", all);
}
Forge setting(const std::string& from, const std::string& to) {
    return [=](Forged& f) {
        const std::string before = f.state.config;
        f.state.config = std::regex_replace(before, std::regex(from), to);
        REQUIRE(f.state.config != before);
    };
}

}  // namespace

TEST_CASE("replay: a run holds, with other threads and in a part of it", "[cli]") {
    const ReplayedRun run;
    const std::string before = read_file(run.step(10) + "/training_state.safetensors");
    for (const char* threads : {"1", "2", "64"}) {
        const Result r = succeeded(program("verify --replay all", run.out, "--data", run.text, "--threads", threads));
        check_has(r.out, "steps 0 to 3: hold: 3 recorded steps, and the weights, sha256 ", "steps 3 to 5: hold: 2 ",
                  "steps 5 to 10: hold: 5 ", "3 of 3 checkpoints whole; 3 of 3 replayed stretches hold; to go on");
    }
    CHECK(read_file(run.step(10) + "/training_state.safetensors") == before);
    const auto marks = lines_in(run.out + "/replayed.jsonl");
    REQUIRE(marks.size() == 9);
    check_holds(marks[1], "step", 5, "from", 3, "sha256", weights_sha256(run.step(5)));
    CHECK(run_data(run.out)["replayed"][1] == ordered_json({3, 5}));
    const auto two = [&](const char* seed) {
        return succeeded(call("verify --replay 2 --seed", seed, run.out, "--data", run.text, "--json --threads 1")).out;
    };
    CHECK(two("1") == two("1"));
    const auto lines = json_lines(Result{0, false, 0, two("2"), ""});
    CHECK(std::ranges::count(lines, "stretch", [](const auto& line) { return line["event"]; }) == 2);
    // without a chain, as of an older version, and where the run itself is elsewhere
    run.forget_chain();
    CHECK(succeeded(call("verify", run.out)).out.find("chain") == std::string::npos);
    fs::rename(run.out, run.path("moved"));
    succeeded(call("verify --replay all --threads 1", run.path("moved"), "--data", run.text));
}

TEST_CASE("replay: every kind of run holds", "[cli]") {
    const ReplayedRun base;
    std::string chats;
    for (int i = 0; i < 40; ++i) chats += chat_line("what is " + std::to_string(i), "a number");
    const std::string data = base.write("chats.jsonl", chats);
    for (const auto& [kind, text] : std::vector<std::pair<Arguments, std::string>>{
             {words("--dropout 0.2 --ema 0.9 --gradient-accumulation-steps 2 --sampler shuffle"), ""},
             {words("--optimizer muon --shards 2 --arch nanochat --schedule wsd --skip-spikes 1"), ""},
             {words("--tokenizer bpe --vocab-size 280 --checkpoint-activations"), ""},
             {words("--precision bf16 --optimizer sgd"), ""},
             {words("--init-from", base.out, "--lora-rank 2 --lora-dropout 0.1"), ""},
             {words("--init-from", base.out, "--eval-on-start"), ""},
             {words("--teacher", base.out), ""},
             {words("--tokenizer bpe --vocab-size 300 --block-size 64"), data}}) {
        INFO(kind[0] << " " << kind[1]);
        const ReplayedRun run(kTen + kind, text);
        check_has(succeeded(run.replay()).out, " replayed stretches hold");
    }
}

TEST_CASE("replay: a stretch goes across --resume, a longer plan, and settings that --force changed", "[cli]") {
    const ReplayedRun run(kTen + words("--save-at '' --keep-checkpoints 1 --max-iters 4 --val-fraction 0"));
    execute(run.resume("--max-iters 10 --data", run.text));
    check_has(succeeded(run.replay()).out, "steps 0 to 10: hold: 10 ");
    CHECK(lines_in(run.out + "/chain.jsonl").size() == 3);
    execute(run.resume("--max-iters 14 --learning-rate 0.5 --force --data", run.text));
    check_has(succeeded(run.replay()).out, "steps 0 to 14: hold: 14 ");
    const std::string proof = run.path("proof");
    succeeded(call("export --model", run.out, "--proof", proof));
    check_has(succeeded(call("verify --threads 1", proof, "--data", run.text)).out, "4 of 4 lines hold");
    forge_chain(proof, [](ordered_json& line) {
        if (line["step"] == 14) line["settings"]["learning_rate"] = "0.25";
    });
    check_has(ended_with(5, call("verify --threads 1", proof, "--data", run.text)).out,
              "steps 0 to 14: differ: step 14: --learning-rate is 0.5 in config.toml and 0.25 in chain.jsonl");
    forge_chain(run.out, [](ordered_json& line) {
        if (line["step"] == 4) line["settings"]["max_iters"] = "5";
    });
    check_has(ended_with(5, run.replay()).out, "steps 0 to 14: differ: step 4: l");
}

TEST_CASE("replay: every change of a run is found, with its step", "[cli]") {
    const struct {
        const char* what;
        std::function<void(const ReplayedRun&)> change;
        const char* said;
    } kChanges[] = {
        {"a weight, by one ulp",
         [](auto& r) { forge(r, 5, [](Forged& f) { one_ulp(f.parameters.values().data()[7]); }); },
         "steps 3 to 5: differ: step 5: model.safetensors: number "},
        {"the same, of the beginning",
         [](auto& r) { forge(r, 3, [](Forged& f) { one_ulp(f.parameters.values().data()[7]); }); },
         "steps 3 to 5: differ: step "},
        {"a moment, by one ulp",
         [](auto& r) {
             forge(r, 10, [](Forged& f) { one_ulp(*f.optimizer->state_of(f.parameters.entries()[0])[0].values); });
         },
         "steps 5 to 10: differ: step 10: training_state.safetensors: number 0 of "},
        {"the number of updates", [](auto& r) { forge(r, 5, [](Forged& f) { ++f.optimizer->updates; }); },
         "steps 3 to 5: differ: step 5: training_state.safetensors: its updates differs"},
        {"the losses before", [](auto& r) { forge(r, 5, [](Forged& f) { f.state.spikes.add(1, 1); }); },
         "steps 3 to 5: differ: step 5: training_state.safetensors: its spikes differs"},
        {"the text's hash", [](auto& r) { forge(r, 5, [](Forged& f) { f.state.data_fingerprint += "0"; }); },
         "steps 3 to 5: differ: step 5: it was trained on another text"},
        {"a base model's hash", [](auto& r) { forge(r, 5, [](Forged& f) { f.state.teacher_fingerprint = "1"; }); },
         "steps 3 to 5: differ: step 5: its teachers had other weights"},
        {"a training of one step less",
         [](auto& r) {
             const ReplayedRun nine(kTen + words("--max-iters 9"));
             fs::remove_all(r.step(10));
             copy_run(nine.step(9), r.step(10));
             forge(r, 10, [](Forged& f) { f.state.step = 10; });
         },
         "steps 5 to 10: differ: step "},
        {"another run's checkpoint",
         [](auto& r) {
             const ReplayedRun other(kTen + words("--seed 2"));
             fs::remove_all(r.step(10));
             copy_run(other.step(10), r.step(10));
         },
         "steps 5 to 10: differ: step 10: --seed is 2 in step-000010 and 1337 in chain.jsonl"},
        {"an earlier checkpoint in a later one's place",
         [](auto& r) {
             fs::remove_all(r.step(10));
             copy_run(r.step(5), r.step(10));
         },
         "step-000010: damaged: "},
        {"a checkpoint, naively", [](auto& r) { r.edit("step-000005/config.json", "\"n_head\": 2", "\"n_head\": 1"); },
         "step-000005: damaged: "},
        {"the shape of the model", [](auto& r) { forge(r, 5, [](Forged& f) { f.loaded.model->config.n_head = 1; }); },
         "steps 3 to 5: differ: step 5: config.json is not the one"},
        {"a file beside", [](auto& r) { r.edit("step-000005/generation_config.json", "\\{", "{ "); },
         "steps 3 to 5: differ: step 5: generation_config.json is not the one"},
        {"a file that is gone", [](auto& r) { fs::remove(r.step(5) + "/tokenizer_config.json"); },
         "steps 3 to 5: differ: step 5: tokenizer_config.json is missing"},
        {"a loss", [](auto& r) { r.edit("metrics.jsonl", "(\"step\":4,\"loss\":\\d.\\d)", "$010"); },
         "steps 3 to 5: differ: step 4: loss is "},
        {"a validation loss", [](auto& r) { r.edit("metrics.jsonl", "(\"step\":5,.*\"val_loss\":\\d.\\d)", "$010"); },
         "steps 3 to 5: differ: step 5: val_loss is "},
        {"a learning rate", [](auto& r) { r.edit("metrics.jsonl", "(\"step\":9,.*\"lr\":)", "$011"); },
         "steps 5 to 10: differ: step 9: lr is "},
        {"a gradient norm", [](auto& r) { r.edit("metrics.jsonl", "(\"step\":2,.*\"grad_norm\":\\d.\\d)", "$010"); },
         "steps 0 to 3: differ: step 2: grad_norm is "},
        {"a link", [](auto& r) { fs::remove(r.out + "/latest"), fs::create_symlink("step-000005", r.out + "/latest"); },
         "latest: points to step-000005, and should point to step-000010"},
        {"the settings",
         [](auto& r) { r.edit("config.toml", "learning_rate = 0.001", "learning_rate = 0.0010000000000000002"); },
         "config.toml is not that of step-000010: --learning-rate was 0.001, is 0.0010000000000000002"},
        {"a hash in the chain", [](auto& r) { r.edit("chain.jsonl", "safetensors\":\"[0-9a-f]", "safetensors\":\"x"); },
         "step 5: the line before it is not the one that it was written after"},
        {"the last hash in the chain",
         [](auto& r) { r.edit("chain.jsonl", "(\"step\":10,.*\"model.safetensors\":\").", "$01x"); },
         "step 10: model.safetensors is not the one that was saved"},
        {"a line of the chain", [](auto& r) { r.edit("chain.jsonl", "\\{\"step\":5,.*\n", ""); },
         "step 5: it has a checkpoint and no line"},
        {"lines of the chain in another order",
         [](auto& r) { r.edit("chain.jsonl", "(\\{\"step\":3,.*\n)(\\{\"step\":5,.*\n)", "$2$1"); },
         "step 3: the line before it is of a later step"},
        {"a line of the chain, twice", [](auto& r) { r.edit("chain.jsonl", "(\\{\"step\":5,.*\n)", "$1$1"); },
         "step 5: the line before it is of a later step"},
        {"the settings in a checkpoint",
         [](auto& r) { forge(r, 10, setting("learning_rate = 0.001", "learning_rate = 0.0010000000000000002")); },
         "differ: step 10: --learning-rate is 0.0010000000000000002 in step-000010 and 0.001 in chain.jsonl"},
        {"a line that is none", [](auto& r) { r.edit("chain.jsonl", "\\{\"step\":5", "{\"stop\":5"); },
         "chain.jsonl: line 2: not a line of a chain"},
        {"the text's hash in the chain", [](auto& r) { r.edit("chain.jsonl", "(\"step\":10,\"text\":\")", "$011"); },
         "steps 5 to 10: differ: step 10: the text is not the one in chain.jsonl"},
    };
    for (const auto& [what, change, said] : kChanges) {
        INFO(what);
        const ReplayedRun run;
        change(run);
        check_has(ended_with(5, run.replay()).out, said);
    }
}

TEST_CASE("verify: compares the checkpoints with the chain, without training", "[cli]") {
    for (const auto& [change, said] : std::vector<std::pair<std::function<void(const ReplayedRun&)>, const char*>>{
             {[](auto& r) { forge(r, 5, [](Forged& f) { one_ulp(f.parameters.values().data()[7]); }); },
              "step 5: model.safetensors is not the one that was saved"},
             {[](auto& r) { r.edit("chain.jsonl", "\"seed\":\"1337\"", "\"seed\":\"1338\""); },
              "step 5: the line before it is not the one"},
             {[](auto& r) { r.edit("chain.jsonl", "\\{\"step\":3,.*\n", ""); },
              "step 5: the line before it is not the one"}}) {
        const ReplayedRun run;
        change(run);
        check_has(ended_with(5, call("verify", run.out, "--data", run.text)).out, said, "3 of 3 checkpoints whole");
    }
    // a run that was killed before it wrote its last line, or an older version began it
    const ReplayedRun run;
    run.edit("chain.jsonl", "\\{\"step\":10,.*\n", "");
    check_has(succeeded(call("verify", run.out, "--data", run.text)).out, "chain: 2 lines, the last, of step 5, has ");
    execute(run.resume("--max-iters 10 --data", run.text));
    check_has(succeeded(call("verify", run.out, "--data", run.text)).out, "chain: 3 lines, the last, of step 10, has ");
    run.forget_chain();
    execute(run.resume("--max-iters 12 --data", run.text));
    check_has(succeeded(call("verify", run.out, "--data", run.text)).out, "chain: 2 lines, the last, of step 12, has ");
}

TEST_CASE("replay: settings that were changed in a checkpoint, with checksums that fit, are found", "[cli]") {
    for (const std::string& line :
         lines_of("learning_rate 0.001 0.0010000000000000002\nmin_lr 0.0001 0.00010000000000000002\nseed 1337 1338\n"
                  "sampler 'random' 'shuffle'\nbeta1 0.9 0.8\nbeta2 0.99 0.98\nweight_decay 0.1 0.2\ngrad_clip 1 0.5\n"
                  "batch_size 2 4\ngradient_accumulation_steps 1 2\ndropout 0 0.1\nval_fraction 0.1 0.2\n"
                  "schedule 'cosine' 'linear'\nwarmup_iters 2 3\neval_iters 2 3\nshards 1 2")) {
        INFO(line);
        const std::size_t was = line.find(' '), is = line.rfind(' ');
        const std::string name = line.substr(0, was) + " = ", from = name + line.substr(was + 1, is - was - 1) + "\n",
                          to = name + line.substr(is + 1) + "\n";
        const ReplayedRun run;
        run.forget_chain();
        forge(run, 10, setting(from, to));
        check_has(ended_with(5, run.replay()).out, "steps 3 to 5: hold", "steps 5 to 10: differ: step ");
    }
}

TEST_CASE("replay: another text, or none, or without the beginning of the run", "[cli]") {
    const ReplayedRun run;
    const std::string other = run.write("other.txt", small_text().replace(500, 1, "b"));
    check_has(ended_with(5, call("verify --replay all", run.out, "--data", other)).out, "is another text than");
    // a text with the hash of the other, which somebody has put into the checkpoints
    const ReplayedRun trained(kTen, other);
    for (int step : {3, 5, 10})
        forge(run, step,
              [&](Forged& f) { f.state.data_fingerprint = Forged{trained.step(step)}.state.data_fingerprint; });
    check_has(ended_with(5, call("verify --replay all", run.out, "--data", other)).out, "steps 0 to 3: differ: step ");
    CHECK(call("verify --replay all", run.out, "--data", run.path("none")).code == 3);
    const ReplayedRun base, later(kTen + words("--init-from", base.out));
    fs::remove_all(base.out);
    check_has(ended_with(3, later.replay()).out, "steps 0 to 3: not replayed: there is no " + base.out,
              "steps 5 to 10: hold", "2 of 2 replayed stretches hold");
}

TEST_CASE("replay: models, text and run may lie elsewhere, but bf16 rounds in the same order", "[cli]") {
    const ReplayedRun base, other(kTen + words("--seed 2"));
    for (const auto& [rank, flag, differs] :
         std::vector<std::array<const char*, 3>>{{"2", "--init-from", "its adapters were trained for another model"},
                                                 {"0", "--init-from", "step 1: loss"},
                                                 {"0", "--teacher", "its teachers had other weights"}}) {
        INFO(flag << " " << rank);
        const ReplayedRun run(kTen + words("--lora-rank", rank, flag, base.out));
        const std::string moved = run.path("moved"), proof = run.path("proof");
        succeeded(call("export --model", run.out, "--proof", proof));
        fs::rename(base.out, moved);
        fs::rename(run.text, run.path("moved.txt"));
        const Arguments flags = words("--threads 1 --data", run.path("moved.txt"));
        check_has(ended_with(3, call("verify", proof, flags)).out,
                  "not replayed: there is no " + base.out + " here: name that model with " + flag);
        for (const Arguments& verify : {words("verify", proof), words("verify --replay all", run.out)}) {
            succeeded(call(verify + flags + flag + moved));
            check_has(ended_with(5, call(verify + flags + flag + other.out)).out, differs);
        }
        fs::rename(moved, base.out);
    }
    const ReplayedRun half(kTen + words("--precision bf16"));
    const bool in_pairs = used_kind() == CpuKind::avx512_bf16;
    const std::string kind = in_pairs ? "avx2" : "avx512-bf16";
    half.edit("chain.jsonl", "(\"step\":10,.*\"cpu\":\")[^\"]*", "$01" + kind);
    check_has(ended_with(3, half.replay()).out, "steps 3 to 5: hold",
              "steps 5 to 10: not replayed: was trained in bf16 on " + kind + ", which rounds in another order than ");
}

TEST_CASE("proof: holds for who has the text, and each change is found", "[cli]") {
    const ReplayedRun run(kTen);
    const std::string proof = run.path("proof");
    check_has(succeeded(call("export --model", run.out, "--proof", proof)).err, "inkling verify ");
    CHECK(names_in(proof) == std::vector<std::string>{"chain.jsonl", "config.toml", "metrics.jsonl", "run.json",
                                                      "tokenizer.json", "tokenizer_config.json"});
    fs::remove_all(run.out);
    const Arguments verify = words("verify --threads 1", proof, "--data", run.text);
    check_has(succeeded(call(verify)).out, "step 3: holds\nstep 5: holds\nstep 10: holds\n", "steps 0 to 10: hold",
              "3 of 3 lines hold");
    for (const auto& [name, from, to, said] : std::vector<std::array<const char*, 4>>{
             {"chain.jsonl", "(\"step\":10,.*\"tokenizer.json\":\").", "$01x",
              "step 5: holds\nsteps 0 to 10: differ: step 10: tokenizer.json is not the one in chain.jsonl"},
             {"metrics.jsonl", "(\"step\":4,\"loss\":\\d.\\d)", "$010",
              "step 3: holds\nsteps 0 to 10: differ: step 4: loss"},
             {"config.toml", "beta1 = 0.9", "beta1 = 0.8", "steps 0 to 10: differ: step "},
             {"chain.jsonl", "\\{\"step\":3,.*\n", "", "step 5: the line before it"}}) {
        INFO(name << " " << from);
        const std::string good = read_file(proof + "/" + name), bad = std::regex_replace(good, std::regex(from), to);
        REQUIRE(bad != good);
        run.write(std::string("proof/") + name, bad);
        check_has(ended_with(5, call(verify)).out, said);
        run.write(std::string("proof/") + name, good);
    }
    const std::string chain = read_file(proof + "/chain.jsonl");
    const auto forged = [&](int step, const char* path, const json& value, const char* said) {  // 0: every line
        INFO(said);
        run.write("proof/chain.jsonl", chain);
        forge_chain(proof, [&](ordered_json& line) {
            if (step == 0 || line["step"] == step) line[json::json_pointer(path)] = value;
        });
        check_has(ended_with(5, call(verify)).out, said);
    };
    forged(0, "/files/model.safetensors", "1", "10: differ: step 3: model.safetensors is not the one in chain.jsonl");
    forged(5, "/files/training_state.safetensors", "", "step 3: holds\nsteps 0 to 10: differ: step 5: training_state.");
    forged(5, "/step", 6, "step 3: holds\nsteps 0 to 10: differ: step 6: ");
    forged(5, "/text", "1", "step 3: holds\nsteps 0 to 10: differ: step 5: the text is not");
    forged(0, "/base", "1", "steps 0 to 10: differ: step 10: its adapters were trained for");
    forged(3, "/settings/learning_rate", "0.0010000000000000002",
           "step 10: --learning-rate is 0.001 in config.toml and 0.0010000000000000002 in chain.jsonl");
    forged(3, "/settings/batch_size", "4", "step 10: --batch-size is 2 in config.toml and 4 in chain.jsonl");
    forge_chain(proof, [](ordered_json& line) {
        if (line["step"] == 10) line["settings"]["batch_size"] = "2";
    });
    check_has(ended_with(5, call(verify)).out, "steps 0 to 10: differ: step 1: ");
    run.write("proof/chain.jsonl", chain);
    succeeded(call(verify));
    const std::string settings = read_file(proof + "/config.toml");
    run.write("proof/config.toml", settings + "n_embd = -1\n");
    check_has(ended_with(5, call(verify)).out, "config.toml: ", "0 of 3 lines hold");
    run.write("proof/config.toml", settings);
    const std::string tokenizer = read_file(proof + "/tokenizer.json");
    fs::remove(proof + "/tokenizer.json");
    check_has(ended_with(3, call(verify)).err, "tokenizer.json");
    run.write("proof/tokenizer.json", tokenizer);
    run.write("text.txt", small_text() + "more");
    check_has(ended_with(5, call(verify)).out, "is another text than", "0 of 3 lines hold");
    fs::remove(run.text);
    check_has(ended_with(3, call("verify", proof)).err, "it is not here: name it with --data");
}

// tests/reference/proof is of a Zen 4, with AVX-512:
//   inkling train --precision fp32 --tokenizer char --n-layer 2 --n-head 2 --n-embd 32 --block-size 32 --batch-size 4
//       --shards 4 --dropout 0.1 --max-iters 12 --eval-every 6 --eval-iters 2 --save-at 3,6 --keep-checkpoints all
//       --out run
//   inkling export --model run --proof tests/reference/proof
TEST_CASE("proof: a run of ours on another machine holds", "[cli]") {
    for (const char* threads : {"1", "3"})
        check_has(execute("verify --threads", threads, tests_path("reference/proof")).out,
                  "chain: 4 lines, the last, of step 12, has sha256 ", "4 of 4 lines hold");
}

TEST_CASE("replay: wrong usage", "[cli]") {
    const ReplayedRun run;
    check_fails(call("verify --replay 0", run.out), 2, "--replay must be a number of stretches, or all, got '0'");
    check_fails(call("verify --replay some", run.out), 2, "got 'some'");
    check_fails(call("verify --seed 1", run.out), 2, "--seed is for --replay");
    check_fails(call("verify --replay all --no-text", run.out), 2, "leave out --no-text");
    check_fails(call("verify --replay all", run.step(5)), 2, "is one checkpoint: name the run");
    check_fails(call("export --model", run.out), 2, "--out");
    check_fails(call("export --model", run.out, "--proof", run.path("p"), "--out", run.path("o")), 2, "--proof");
    check_fails(call("export --model", run.out, "--proof", run.out), 2, "already exists");
    check_fails(call("export --model", run.step(5), "--proof", run.path("p")), 3, "--proof needs a run");
    const ReplayedRun own(kTen);
    fs::remove(own.text);
    const Result gone = call("verify --replay all", own.out);
    CHECK(gone.code == 3);
    check_has(gone.err, "--replay trains on the text, and it is not here: name it with --data");
    const Arguments train = run.train(kTen, "--overwrite");
    for (const char* steps : {"1,x", "0", "1;2", "-1"})
        check_fails(call(train + "--save-at" + steps), 2, "--save-at must be steps");
}
