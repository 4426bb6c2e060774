// train --lora-rank, and how other commands use its runs and PEFT's folders.
#include <fstream>

#include "tests/cli/program.h"

using namespace inkling::testing;

namespace {

const std::string kPeft = tests_path("reference/adapters/llama"), kPeftBase = tests_path("reference/llama_tiny");

std::string other_text() {
    std::string text;
    while (text.size() < 1200) text += "the lazy dog jumps over the quick fox.\n";
    return text;
}

Arguments adapter_flags(const std::string& text, const std::string& out, const Arguments& more = {}) {
    return Arguments{"train",       "--data",       text,        "--out",       out,  "--recipe",
                     "nanogpt-cpu", "--init-from",  small_run(), "--lora-rank", "2",  "--lora-dropout",
                     "0.1",         "--batch-size", "4",         "--max-iters", "60", "--warmup-iters",
                     "2",           "--eval-every", "15",        "--log-every", "5",  "--learning-rate",
                     "0.003",       "--threads",    "1"} +
           more;
}

struct AdapterRun {
    ScratchFolder folder;
    std::string text = folder.write("other.txt", other_text()), out = folder.path("lora");

    explicit AdapterRun(const Arguments& more = {}) {
        const Result r = succeeded(program(adapter_flags(text, out, more)));
        CHECK_THAT(r.err, contains("adapters of rank 2 for "));
    }
};

double loss_of_text(const Arguments& model, const std::string& text) {
    return json_lines(program(Arguments{"eval", "--data", text, "--json"} + model))[0]["loss"].get<double>();
}

std::string greedy(const Arguments& model, const std::string& prompt = "the ") {
    const Result r = succeeded(program(Arguments{"generate", "-p", prompt, "-n", "7", "--temp", "0"} + model));
    return r.out;
}

}  // namespace

TEST_CASE("adapters: a run trains them, and its folder is a model to every command", "[cli]") {
    const AdapterRun run;
    const std::string best = run.out + "/best";
    for (const char* file :
         {"adapter_config.json", "adapter_model.safetensors", "tokenizer.json", "training_state.safetensors"})
        CHECK(fs::exists(best + "/" + file));
    CHECK_FALSE(fs::exists(best + "/model.safetensors"));
    const auto config = json::parse(read_file(best + "/adapter_config.json"));
    const std::string base = fs::canonical(small_run() + "/best").string();
    CHECK((config["base_model_name_or_path"] == base && config["r"] == 2 && config["peft_type"] == "LORA"));
    const auto card = json::parse(read_file(run.out + "/run.json"));
    const int trained = 2 * (16 + 48 + 16 + 16 + 16 + 64 + 64 + 16);
    CHECK((card["base_model"] == base && card["trained_parameters"] == trained));
    const auto info = json_lines(program({"info", "--model", run.out, "--json"}))[0];
    CHECK((info["base_model"] == base && info["lora_rank"] == 2 && info["trained_parameters"] == trained));
    CHECK((info["lora_targets"] == "c_attn,c_proj,c_fc" && info["lora_alpha"] == 32 && info["step"].is_number()));

    const double with = loss_of_text({"--model", run.out}, run.text),
                 without = loss_of_text({"--model", small_run()}, run.text);
    CHECK(with < without - 0.02);
    CHECK(loss_of_text({"--model", small_run(), "--adapter", run.out}, run.text) == with);
    CHECK(loss_of_text({"--adapter", best}, run.text) == with);
    CHECK(greedy({"--model", run.out}) == greedy({"--model", small_run(), "--adapter", best}));
    CHECK_FALSE(greedy({"--model", run.out}, "dog").empty());
    const Result page = program({"attention", "--adapter", run.out, "--prompt", "the fox", "--json"});
    CHECK((page.code == 0 &&
           page.out != program({"attention", "--model", small_run(), "--prompt", "the fox", "--json"}).out));
    // merged, they are the same model
    const std::string merged = run.folder.path("merged"), again = run.folder.path("again");
    succeeded(program({"export", "--model", run.out, "--format", "hf", "--out", merged}));
    succeeded(program({"export", "--model", small_run(), "--adapter", run.out, "--format", "hf", "--out", again}));
    CHECK(read_file(merged + "/model.safetensors") == read_file(again + "/model.safetensors"));
    CHECK(loss_of_text({"--model", merged}, run.text) == Approx(with).epsilon(1e-6));
    CHECK(greedy({"--model", merged}) == greedy({"--model", run.out}));
    succeeded(program({"export", "--adapter", run.out, "--out", run.folder.path("m.gguf"), "--type", "q8_0"}));
    // or alone, for llama.cpp
    const std::string alone = run.folder.path("lora.gguf");
    const Arguments lora = {"export", "--format", "gguf-lora", "--out", alone};
    CHECK_THAT(program(lora + Arguments{"--model", run.out}).err, contains("wrote " + alone + ": gguf-lora"));
    CHECK(fs::file_size(alone) < fs::file_size(run.folder.path("m.gguf")));
    check_fails(call(lora + Arguments{"--model", small_run()}), 3, "has no adapter");
    check_fails(call(lora + Arguments{"--model", run.out, "--type", "q8_0"}), 2, "must be one of f32, f16, bf16");
}

TEST_CASE("adapters: a run that was killed goes on to the same bits, and one that is changed is refused", "[cli]") {
    const Arguments packed = {"--base-precision", "bf16"};
    const AdapterRun whole(packed);
    const ScratchFolder folder;
    const std::string out = folder.path("lora");
    fs::copy(whole.out, out, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    fs::remove_all(out + "/step-000060");  // as if it had been killed behind step 45
    const auto resume = [&](const Arguments& more) {
        return program(Arguments{"train", "--out", out, "--data", whole.text, "--resume", "auto", "--max-iters", "60"} +
                       more);
    };
    check_fails(resume({"--lora-alpha", "8"}), 2, "--lora-alpha is 32 in the adapter that is loaded, got 8");
    check_fails(resume({"--lora-rank", "4"}), 2, "--lora-rank is 2 in the adapter that is loaded, got 4");
    check_fails(resume({"--lora-rank", "0"}), 3, "is an adapter, and --lora-rank is 0");
    check_fails(resume({"--lora-dropout", "0.3"}), 3, "--lora-dropout was 0.1, is 0.3");
    check_fails(resume({"--base-precision", "fp32"}), 3, "--base-precision was 'bf16', is 'fp32'");
    check_fails(resume({"--lora-targets", "c_fc"}), 3, "--lora-targets was 'all-linear', is 'c_fc'");
    const Result r = succeeded(resume({}));
    CHECK_THAT(r.err, contains("going on from"));
    for (const char* file : {"adapter_model.safetensors", "adapter_config.json"})
        CHECK(read_file(out + "/step-000060/" + file) == read_file(whole.out + "/step-000060/" + file));
    // the base model may have moved, but must be the same
    const std::string moved = folder.path("moved");
    fs::copy(fs::canonical(small_run() + "/best"), moved);
    const Result there = resume({"--init-from", moved, "--max-time", "100"});
    CHECK_THAT(there.err, contains("nothing to do"));
    const Result other = resume({"--init-from", tests_path("reference/gpt2_tiny")});
    CHECK_THAT(other.err, contains("the adapter does not fit the model"));
    CHECK(other.code == 3);
    check_fails(resume({"--init-from", out}), 2, "is an adapter: go on with it by --init-adapter");
}

TEST_CASE("adapters: one is gone on from with --init-adapter, PEFT's too", "[cli]") {
    const ScratchFolder folder;
    const std::string text = folder.write("text.txt",
                                          "hello world\nhello wet world, that is a tale\nall is well\n"
                                          "hello world\nhello wet world, that is a tale\nall is well\n");
    const std::string out = folder.path("lora");
    const Arguments flags = {"train",       "--data",         text, "--out",        out, "--recipe",
                             "nanogpt-cpu", "--max-iters",    "3",  "--batch-size", "2", "--warmup-iters",
                             "0",           "--val-fraction", "0.2"};
    succeeded(program(flags + Arguments{"--init-adapter", kPeft}));
    const std::string config = read_file(out + "/config.toml");
    CHECK_THAT(config, contains("lora_rank = 4\n", "lora_alpha = 8\n", "arch = 'llama'"));
    const auto saved = json::parse(read_file(out + "/latest/adapter_config.json"));
    CHECK((saved["lora_alpha"] == 8 && saved["base_model_name_or_path"] == fs::canonical(kPeftBase).string()));
    succeeded(program({"train", "--out", out, "--data", text, "--resume", "auto", "--max-iters", "5"}));
    // without steps, the adapter stays the same
    const auto refused = [&](const Arguments& more, int code, const std::string& why) {
        check_fails(program(flags + Arguments{"--overwrite"} + more), code, why);
    };
    refused({"--init-adapter", kPeft, "--lora-rank", "3"}, 2, "--lora-rank is 4 in the adapter that is loaded, got 3");
    refused({"--init-adapter", kPeft, "--lora-targets", "q_proj"}, 2, "--lora-targets is q_proj,k_proj,v_proj,");
    refused({"--init-adapter", kPeftBase}, 3, "is no adapter: it has no adapter_config.json");
    refused({"--init-adapter", folder.path("none")}, 3, "there is no such model folder");
    refused({"--init-adapter", kPeft, "--init-from", tests_path("reference/gpt2_tiny")}, 3, "is not known");
}

TEST_CASE("adapters: full training goes on from the merged model", "[cli]") {
    const AdapterRun run;
    const std::string out = run.folder.path("full");
    succeeded(program(Arguments{"train", "--data", run.text, "--out", out, "--recipe", "nanogpt-cpu", "--init-from",
                                run.out, "--max-iters", "1", "--learning-rate", "0", "--min-lr", "0"}));
    CHECK(fs::exists(out + "/latest/model.safetensors"));
    CHECK(loss_of_text({"--model", out}, run.text) ==
          Approx(loss_of_text({"--model", run.out}, run.text)).epsilon(1e-6));
}

TEST_CASE("adapters: flags that make no sense are refused in one line", "[cli]") {
    const ScratchFolder folder;
    const std::string text = folder.write("text.txt", other_text()), out = folder.path("run");
    const auto refused = [&](const Arguments& flags, int code, const std::string& why) {
        INFO(flags[0]);
        check_fails(call(Arguments{"train", "--data", text, "--out", out, "--max-iters", "1"} + flags), code, why);
        CHECK_FALSE(fs::exists(out));
    };
    const Arguments base = {"--init-from", small_run()};
    refused({"--lora-rank", "4"}, 2, "--lora-rank is for a model that exists: name it with --init-from MODEL");
    for (const char* flags :
         {"--lora-alpha 8", "--lora-dropout 0.1", "--lora-targets c_fc", "--base-precision bf16", "--rs-lora"})
        refused(base + words(flags), 2, words(flags)[0] + " is for adapters: add --lora-rank");
    refused(base + Arguments{"--lora-rank", "2", "--softcap", "0"}, 2, "--softcap changes the model");
    refused(base + Arguments{"--lora-rank", "2", "--lora-dropout", "1"}, 2, "--lora-dropout must be between 0 and");
    refused(base + Arguments{"--lora-rank", "70000"}, 2, "--lora-rank must be at most 65536");
    refused(base + Arguments{"--lora-rank", "2", "--base-precision", "int4"}, 2, "--base-precision must be one of");
    refused(base + Arguments{"--lora-rank", "2", "--lora-targets", "q_proj"}, 2,
            "--lora-targets must be all-linear or some of c_attn, c_proj, c_fc, got 'q_proj'");
    refused(base + Arguments{"--lora-rank", "2", "--lora-targets", "q_proj", "--dry-run"}, 2, "--lora-targets must be");
    const std::string chats = folder.write(
        "chats.jsonl", R"({"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]})");
    check_fails(call(Arguments{"train", "--data", chats, "--out", out, "--lora-rank", "2"} + base), 3,
                "the model has no chat template, and adapters do not learn");
    refused({"--init-from", kPeft, "--lora-rank", "2"}, 2, "is an adapter: go on with it by --init-adapter");
    for (const Arguments& command : {Arguments{"generate", "-p", "a"}, Arguments{"eval", "--data", text}}) {
        check_fails(call(command), 2, "--model is required");
        check_fails(call(command + Arguments{"--adapter", kPeftBase}), 3, "is no adapter");
        check_fails(call(command + Arguments{"--model", kPeft, "--adapter", kPeft}), 2, "has an adapter of its own");
        check_fails(call(command + Arguments{"--model", small_run(), "--adapter", kPeft}), 3, "is not known");
    }
}

TEST_CASE("adapters: --dry-run tells their number, and that less is taken", "[cli]") {
    const ScratchFolder folder;
    const std::string text = folder.write("text.txt", other_text());
    const auto plan = [&](const Arguments& more) {
        return json_lines(program(Arguments{"train", "--data", text, "--out", folder.path("run"), "--max-iters", "10",
                                            "--init-from", small_run(), "--dry-run", "--json"} +
                                  more))[0];
    };
    const auto full = plan({}), some = plan({"--lora-rank", "2"}),
               fewer = plan({"--lora-rank", "2", "--lora-targets", "c_attn", "--base-precision", "bf16"});
    CHECK_FALSE(full.contains("trained_parameters"));
    CHECK((some["trained_parameters"] == 512 && fewer["trained_parameters"] == 128));
    CHECK(some["parameters"].get<int>() == full["parameters"].get<int>() + 512);
    CHECK(some["checkpoint_bytes"].get<double>() < full["checkpoint_bytes"].get<double>() / 2);
    CHECK(fewer["state_bytes"].get<double>() < some["state_bytes"].get<double>());
    CHECK((some["settings"]["optimizer"] == "adamw" && full["settings"]["optimizer"] == "muon"));
    const Result text_plan = program({"train", "--data", text, "--out", folder.path("run"), "--max-iters", "10",
                                      "--init-from", small_run(), "--lora-rank", "2", "--dry-run"});
    CHECK_THAT(text_plan.out, contains("trained: 512, adapters of rank 2; the others in fp32"));
}
