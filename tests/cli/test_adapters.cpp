// train --lora-rank, and how other commands use its runs and PEFT's folders.
#include "tests/cli/program.h"

namespace {

const std::string kPeft = tests_path("reference/adapters/llama"), kPeftBase = tests_path("reference/llama_tiny"),
                  kOtherText = repeated("the lazy dog jumps over the quick fox.\n", 1200);

struct AdapterRun : TrainFolder {
    template <class... Pieces>
    explicit AdapterRun(const Pieces&... more) {
        write("text.txt", kOtherText);
        const Result r = execute(
            train("--recipe nanogpt-cpu --init-from", small_run(),
                  "--lora-rank 2 --lora-dropout 0.1 --batch-size 4 --max-iters 60 --warmup-iters 2 --eval-every 15 "
                  "--log-every 5 --learning-rate 0.003 --threads 1",
                  more...));
        check_has(r.err, "adapters of rank 2 for ");
    }

    // Of the run's text, with --model or --adapter, and its greedy continuation of "the ".
    template <class... Pieces>
    double loss(const Pieces&... model) const {
        return json_of("eval --data", text, model...)["loss"].template get<double>();
    }
    template <class... Pieces>
    std::string greedy(const Pieces&... model) const {
        return execute("generate -p 'the ' -n 7 --temp 0", model...).out;
    }
};

}  // namespace

TEST_CASE("adapters: a run trains them, and its folder is a model to every command", "[cli]") {
    const AdapterRun run;
    const std::string best = run.out + "/best", base = fs::canonical(small_run() + "/best").string();
    for (const char* file :
         {"adapter_config.json", "adapter_model.safetensors", "tokenizer.json", "training_state.safetensors"})
        CHECK(fs::exists(best + "/" + file));
    CHECK_FALSE(fs::exists(best + "/model.safetensors"));
    const int trained = 2 * (16 + 48 + 16 + 16 + 16 + 64 + 64 + 16);
    check_holds(json_in(best + "/adapter_config.json"), "base_model_name_or_path", base, "r", 2, "peft_type", "LORA");
    check_holds(json_in(run.out + "/run.json"), "base_model", base, "trained_parameters", trained);
    const auto info = json_of("info --model", run.out);
    check_holds(info, "base_model", base, "lora_rank", 2, "trained_parameters", trained, "lora_alpha", 32,
                "lora_targets", "c_attn,c_proj,c_fc");
    CHECK(info["step"].is_number());

    const double with = run.loss("--model", run.out);
    CHECK(with < run.loss("--model", small_run()) - 0.02);
    CHECK_ALL(run.loss("--model", small_run(), "--adapter", run.out) == with, run.loss("--adapter", best) == with);
    CHECK(run.greedy("--model", run.out) == run.greedy("--model", small_run(), "--adapter", best));
    const auto heads = [](const auto&... model) {
        return execute("attention --prompt 'the fox' --json", model...).out;
    };
    CHECK(heads("--adapter", run.out) != heads("--model", small_run()));
    // merged, they are the same model
    const std::string merged = run.path("merged"), again = run.path("again");
    execute("export --model", run.out, "--format hf --out", merged);
    execute("export --model", small_run(), "--adapter", run.out, "--format hf --out", again);
    CHECK(read_file(merged + "/model.safetensors") == read_file(again + "/model.safetensors"));
    CHECK(run.loss("--model", merged) == Approx(with).epsilon(1e-6));
    CHECK(run.greedy("--model", merged) == run.greedy("--model", run.out));
    execute("export --adapter", run.out, "--out", run.path("m.gguf"), "--type q8_0");
    // or alone, for llama.cpp
    const std::string alone = run.path("lora.gguf");
    const Arguments lora = words("export --format gguf-lora --out", alone, "--model");
    check_has(program(lora + run.out).err, "wrote " + alone + ": gguf-lora");
    CHECK(fs::file_size(alone) < fs::file_size(run.path("m.gguf")));
    check_fails(call(lora + small_run()), 3, "has no adapter");
    check_fails(call(lora + run.out + "--type q8_0"), 2, "must be one of f32, f16, bf16");
    // full training goes on from the merged model
    const std::string full = run.path("full");
    execute("train --data", run.text, "--out", full, "--recipe nanogpt-cpu --init-from", run.out,
            "--max-iters 1 --learning-rate 0 --min-lr 0");
    CHECK_ALL(fs::exists(full + "/latest/model.safetensors"), run.loss("--model", full) == Approx(with).epsilon(1e-6));
}

TEST_CASE("adapters: a run that was killed goes on to the same bits, and one that is changed is refused", "[cli]") {
    const AdapterRun whole("--base-precision bf16");
    const std::string out = whole.path("lora"), moved = whole.path("moved");
    copy_run(whole.out, out);
    fs::remove_all(out + "/step-000060");  // as if it had been killed behind step 45
    const auto resume = [&](const auto&... more) {
        return program("train --out", out, "--data", whole.text, "--resume auto --max-iters 60", more...);
    };
    check_fails(resume("--lora-alpha 8"), 2, "--lora-alpha is 32 in the adapter that is loaded, got 8");
    check_fails(resume("--lora-rank 4"), 2, "--lora-rank is 2 in the adapter that is loaded, got 4");
    check_fails(resume("--lora-rank 0"), 3, "is an adapter, and --lora-rank is 0");
    check_fails(resume("--lora-dropout 0.3"), 3, "--lora-dropout was 0.1, is 0.3");
    check_fails(resume("--base-precision fp32"), 3, "--base-precision was 'bf16', is 'fp32'");
    check_fails(resume("--lora-targets c_fc"), 3, "--lora-targets was 'all-linear', is 'c_fc'");
    check_has(succeeded(resume()).err, "going on from");
    for (const char* file : {"adapter_model.safetensors", "adapter_config.json"})
        CHECK(read_file(out + "/step-000060/" + file) == read_file(whole.out + "/step-000060/" + file));
    // the base model may have moved, but must be the same
    fs::copy(fs::canonical(small_run() + "/best"), moved);
    check_has(resume("--init-from", moved, "--max-time 100").err, "nothing to do");
    check_has(ended_with(3, resume("--init-from", tests_path("reference/gpt2_tiny"))).err,
              "the adapter does not fit the model");
    check_fails(resume("--init-from", out), 2, "is an adapter: continue it with --init-adapter");
}

TEST_CASE("adapters: one is gone on from with --init-adapter, PEFT's too", "[cli]") {
    const TrainFolder folder;
    folder.write("text.txt", repeated("hello world\nhello wet world, that is a tale\nall is well\n", 100));
    const auto start = [&](const auto&... adapter) {
        return program(
            folder.train("--recipe nanogpt-cpu --max-iters 3 --batch-size 2 --warmup-iters 0 --overwrite "
                         "--val-fraction 0.2 --init-adapter",
                         adapter...));
    };
    succeeded(start(kPeft));
    check_has(read_file(folder.out + "/config.toml"), "lora_rank = 4\n", "lora_alpha = 8\n", "arch = 'llama'");
    check_holds(json_in(folder.out + "/latest/adapter_config.json"), "lora_alpha", 8, "base_model_name_or_path",
                fs::canonical(kPeftBase).string());
    execute(folder.resume("--max-iters 5"));
    check_fails(start(kPeft, "--lora-targets q_proj"), 2, "--lora-targets is q_proj,k_proj,v_proj,");
    check_fails(start(kPeftBase), 3, "not an adapter: it has no adapter_config.json");
    check_fails(start(folder.path("none")), 3, "there is no such model folder");
    check_fails(start(kPeft, "--init-from", tests_path("reference/gpt2_tiny")), 3, "is not known");
}

TEST_CASE("adapters: flags that make no sense are refused in one line", "[cli]") {
    const TrainFolder folder;
    const std::string chats = folder.write("chats.jsonl", chat_line("a", "b"));
    const auto refused = [&](const Arguments& flags, int code, const std::string& why) {
        INFO(flags.back());
        check_fails(call("train --out", folder.out, "--max-iters 1", flags), code, why);
        CHECK_FALSE(fs::exists(folder.out));
    };
    const Arguments data = words("--data", folder.text), base = data + "--init-from" + small_run(),
                    two = base + "--lora-rank 2";
    for (const Arguments& flag : {words("--lora-alpha 8"), words("--lora-dropout 0.1"), words("--lora-targets c_fc"),
                                  words("--base-precision bf16"), words("--rs-lora")})
        refused(base + flag, 2, flag[0] + " is for adapters: add --lora-rank");
    refused(data + "--lora-rank 4", 2, "--lora-rank needs a model to start from: give --init-from MODEL");
    refused(data + "--lora-rank 2 --init-from" + kPeft, 2, "is an adapter: continue it with --init-adapter");
    refused(two + "--softcap 0", 2, "--softcap changes the model");
    refused(two + "--lora-dropout 1", 2, "--lora-dropout must be between 0 and");
    refused(base + "--lora-rank 70000", 2, "--lora-rank must be at most 65536");
    refused(two + "--base-precision int4", 2, "--base-precision must be one of");
    refused(two + "--lora-targets q_proj", 2,
            "--lora-targets must be all-linear or some of c_attn, c_proj, c_fc, got 'q_proj'");
    refused(two + "--lora-targets q_proj --dry-run", 2, "--lora-targets must be");
    refused(words("--data", chats, "--lora-rank 2 --init-from", small_run()), 3,
            "the model has no chat template, and adapters do not learn");
    for (const Arguments& command : {words("generate -p a"), words("eval --data", folder.text)}) {
        check_fails(call(command), 2, "--model is required");
        check_fails(call(command + "--adapter" + kPeftBase), 3, "not an adapter");
        check_fails(call(command + "--model" + kPeft + "--adapter" + kPeft), 2, "has an adapter of its own");
        check_fails(call(command + "--model" + small_run() + "--adapter" + kPeft), 3, "is not known");
    }
}

TEST_CASE("adapters: --dry-run tells their number, and that less is taken", "[cli]") {
    const TrainFolder folder;
    const Arguments plan = folder.train("--max-iters 10 --dry-run --init-from", small_run());
    const auto full = json_of(plan), some = json_of(plan, "--lora-rank 2"),
               fewer = json_of(plan, "--lora-rank 2 --lora-targets c_attn --base-precision bf16");
    CHECK_FALSE(full.contains("trained_parameters"));
    check_holds(some, "trained_parameters", 512, "/settings/optimizer", "adamw");
    CHECK_ALL(fewer["trained_parameters"] == 128, some["parameters"].get<int>() == full["parameters"].get<int>() + 512);
    CHECK(some["checkpoint_bytes"].get<double>() < full["checkpoint_bytes"].get<double>() / 2);
    CHECK(fewer["state_bytes"].get<double>() < some["state_bytes"].get<double>());
    CHECK(full["settings"]["optimizer"] == "muon");
    check_has(execute(plan, "--lora-rank 2").out, "trained: 512, adapters of rank 2; the others in fp32");
}
