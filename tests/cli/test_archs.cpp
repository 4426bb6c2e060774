// The families of models, and folders that transformers wrote, through every command.
#include "formats/safetensors/safetensors.h"
#include "models/files/folder.h"
#include "tests/cli/program.h"
#include "tests/support/gguf.h"

using namespace inkling::testing;

namespace {

const std::string kReference = tests_path("reference/");

// Text of the characters that the reference models know.
std::string known_text() {
    std::string text;
    while (text.size() < 1200) text += "hello, world! all is well in the old house.\n";
    std::erase_if(text, [](char c) { return std::string("\n !,.abdehilnorstuwy").find(c) == std::string::npos; });
    return text;
}

// Trains with the flags of small(), some of them changed.
Result train(const std::string& arch, const ScratchFolder& folder, const std::string& out,
             const Arguments& changes = {}) {
    return program(Arguments{"train", "--arch", arch, "--data", folder.write("text.txt", small_text()), "--out",
                             folder.path(out)} +
                   small(changes));
}

json only_line(const Result& r) { return json::parse(succeeded(r).out); }

}  // namespace

TEST_CASE("families: train, every command on what it wrote, and a run that goes on to the same bits", "[cli]") {
    const ScratchFolder folder;
    const Arguments heads{"--n-kv-head", "1"}, own{"--n-inner", "24", "--rope-theta", "500"},
        all = own + heads + Arguments{"--head-dim", "12"};
    struct Family {
        std::string arch, model_type, gguf;
        Arguments flags;
        int parameters, of_bench;  // 0: not known
    };
    for (const Family& family :
         {Family{"nanochat", "nanochat", "qwen3", heads, 2 * 29 * 16 + 2 * 256 + 2 * 128 + 8 * 256,
                 2 * 27 * 16 + 12 * 256},
          {"llama", "llama", "llama", heads, 2 * 29 * 16 + 2 * 256 + 2 * 128 + 3 * 4 * 256 + 3 * 16,
           2 * 27 * 16 + 16 * 256 + 3 * 16},
          {"qwen2", "qwen2", "qwen2", all, 0, 0},
          {"qwen3", "qwen3", "qwen3", all, 0, 0},
          {"gemma3", "gemma3_text", "gemma3", all, 0, 0},
          {"gpt-neox", "gpt_neox", "gptneox", own, 0, 0}}) {
        const std::string arch = family.arch, run = folder.path(arch);
        INFO(arch);
        succeeded(train(arch, folder, arch, family.flags));
        const std::string text = folder.path("text.txt");
        const json info = only_line(program({"info", "--model", run, "--json"}));
        CHECK((info["arch"] == arch && info["n_head"] == 2));
        if (family.parameters)
            CHECK((info["n_kv_head"] == 1 && info["bias"] == false && info["parameters"] == family.parameters));
        const json config = json::parse(read_file(run + "/latest/config.json"));
        CHECK(config["model_type"] == family.model_type);
        if (!family.parameters) {
            const json angles = config["rope_parameters"];
            CHECK((config["intermediate_size"] == 24 && angles.value("full_attention", angles)["rope_theta"] == 500));
            if (arch != "gpt-neox") CHECK((config["head_dim"] == 12 && config["num_key_value_heads"] == 1));
        }
        CHECK(succeeded(program({"generate", "--model", run, "-p", "fox", "-n", "12"})).out.size() == 3 + 12 + 1);
        CHECK(only_line(program({"eval", "--model", run, "--data", text, "--json"}))["loss"] < std::log(29.0));
        succeeded(program({"attention", "--model", run, "--prompt", "fox", "--out", folder.path("a.html")}));
        succeeded(program({"export", "--model", run, "--out", folder.path("m.gguf")}));
        CHECK(Gguf(folder.path("m.gguf")).pairs["general.architecture"] == family.gguf);
        const json bench =
            only_line(program({"bench", "--arch", arch, "--preset", "micro", "--seconds", "0.02", "--json"}));
        CHECK(bench["arch"] == arch);
        if (family.of_bench) CHECK(bench["params"] == family.of_bench);
        // stopped and resumed
        succeeded(train(arch, folder, "cut", family.flags + Arguments{"--lr-decay-iters", "20", "--max-iters", "7"}));
        const Arguments resume{"train", "--out", folder.path("cut"), "--resume", "auto"};
        check_fails(call(resume + Arguments{"--arch", "gpt2"}), 2, "--arch");
        if (family.parameters) {
            check_fails(call(resume + Arguments{"--n-kv-head", "2"}), 2, "--n-kv-head");
        } else {
            check_fails(call(resume + Arguments{"--n-inner", "32"}), 2,
                        "--n-inner is 24 in the model that is loaded, got 32");
            check_fails(call(resume + Arguments{"--rope-theta", "7"}), 2, "--rope-theta is 500");
        }
        succeeded(program(resume + Arguments{"--max-iters", "20", "--threads", "2"}));
        CHECK(read_file(folder.path("cut/latest/model.safetensors")) == read_file(run + "/latest/model.safetensors"));
        fs::remove_all(folder.path("cut"));
    }
    // --n-kv-head equal to --n-head is the same as leaving it out
    succeeded(train("nanochat", folder, "cut", {"--n-kv-head", "2", "--max-iters", "2"}));
    succeeded(program({"train", "--out", folder.path("cut"), "--resume", "auto", "--max-iters", "3"}));
}

TEST_CASE("families: flags that make no sense with one are wrong usage", "[cli]") {
    const ScratchFolder folder;
    const Arguments command{"train", "--data", folder.write("text.txt", small_text()), "--out", folder.path("x")};
    const auto fails = [&](const std::string& arch, const Arguments& flags, const std::string& text) {
        check_fails(call(command + small(Arguments{"--arch", arch} + flags)), 2, text);
    };
    const std::pair<const char*, const char*> wrong[] = {{"gpt2", "--rope-theta"}, {"gpt2", "--head-dim"},
                                                         {"gpt2", "--n-kv-head"},  {"nanochat", "--head-dim"},
                                                         {"llama", "--softcap"},   {"gpt-neox", "--head-dim"}};
    for (const auto& [arch, flag] : wrong) fails(arch, {flag, "1"}, std::string(flag) + " is not for --arch " + arch);
    fails("nanochat", {"--n-kv-head", "3"}, "--n-kv-head");
    fails("nanochat", {"--n-embd", "6"}, "even width");
    CHECK_FALSE(fs::exists(folder.path("x")));
    check_fails(call({"bench", "--arch", "mamba"}), 2, "mamba");
}

TEST_CASE("train: --softcap of a new nanochat, and of one that is trained on", "[cli]") {
    const ScratchFolder folder;
    const auto cap = [&](const std::string& run) {
        return json::parse(read_file(folder.path(run + "/latest/config.json")))["final_logit_softcapping"];
    };
    succeeded(train("nanochat", folder, "usual"));
    succeeded(train("nanochat", folder, "none", {"--softcap", "0"}));
    succeeded(train("nanochat", folder, "low", {"--softcap", "3"}));
    CHECK((cap("usual") == 15 && cap("none").is_null() && cap("low") == 3));
    const Arguments on{"train",       "--init-from", folder.path("usual"), "--data", folder.path("text.txt"),
                       "--max-iters", "3",           "--batch-size",       "4",      "--out"};
    succeeded(program(on + Arguments{folder.path("kept")}));
    succeeded(program(on + Arguments{folder.path("mended"), "--softcap", "0"}));
    CHECK((cap("kept") == 15 && cap("mended").is_null()));
    succeeded(program({"train", "--out", folder.path("mended"), "--resume", "auto", "--max-iters", "5"}));
    CHECK(cap("mended").is_null());
    check_fails(call({"train", "--out", folder.path("mended"), "--resume", "auto", "--softcap", "9"}), 2,
                "--softcap is 0 in the model that is loaded, got 9");
    succeeded(train("llama", folder, "llama"));
    check_fails(call({"train", "--init-from", folder.path("llama"), "--data", folder.path("text.txt"), "--out",
                      folder.path("x"), "--softcap", "5"}),
                2, "--softcap is not for --arch llama");
}

TEST_CASE("train: --init-from goes on from folders of transformers, with their tokenizers", "[cli]") {
    const ScratchFolder folder;
    const std::string text = folder.write("text.txt", known_text());
    for (const std::string name :
         {"gpt2_tiny", "nanochat_tiny", "llama_tiny", "llama_tiny_tied", "families/llama_llama3", "families/mistral",
          "families/qwen2", "families/qwen3_tied", "families/gpt2_gelu", "families/gpt_neox", "families/gemma3"}) {
        const std::string from = kReference + name, out = folder.path(name);
        const auto loss = [&](const std::string& model) {
            return only_line(program({"eval", "--model", model, "--data", text, "--json"}))["loss"].get<double>();
        };
        succeeded(program({"train", "--init-from", from, "--data", text, "--out", out, "--max-iters", "40",
                           "--warmup-iters", "2", "--batch-size", "8", "--eval-every", "0", "--threads", "1"}));
        INFO(name);
        CHECK(loss(out) < 0.7 * loss(from));
        const json before = json::parse(read_file(from + "/config.json")),
                   after = json::parse(read_file(out + "/latest/config.json"));
        for (const char* key : {"vocab_size", "n_embd", "hidden_size", "intermediate_size", "rope_parameters"})
            if (before.contains(key)) CHECK(after[key] == before[key]);
        CHECK(after["model_type"] == (name == "families/mistral" ? json("llama") : before["model_type"]));
        CHECK(json::parse(read_file(out + "/latest/tokenizer.json"))["model"]["vocab"] ==
              json::parse(read_file(from + "/tokenizer.json"))["model"]["vocab"]);
        check_fails(
            program({"train", "--init-from", from, "--data", text, "--out", folder.path("x"), "--n-embd", "48"}), 2,
            "--n-embd");
        check_fails(call({"train", "--init-from", from, "--data", folder.write("z.txt", "zzzz zzzz zzzz zzzz zzzz"),
                          "--out", folder.path("x"), "--strict-vocabulary"}),
                    3, "z");
    }
}

TEST_CASE("llama: a model whose heads do not fit its width is tuned, planned and gone on with", "[cli]") {
    namespace models = inkling::models;
    const ScratchFolder folder;
    succeeded(train("llama", folder, "run"));
    const auto trained = models::load_model(folder.path("run/latest"));
    models::Architecture a = trained.model->config;
    a.n_embd = 20, a.n_head = 3, a.n_kv_head = 1, a.head_dim = 12, a.n_inner = 30;
    models::Transformer<float> model(a);
    fs::create_directories(folder.path("wide"));
    models::save_model(folder.path("wide"), model, *trained.tokenizer);

    const Arguments tune =
        Arguments{"train", "--init-from",       folder.path("wide"), "--data", folder.path("text.txt"),
                  "--out", folder.path("tuned")} +
        words("--recipe nanogpt-cpu --threads 1 --batch-size 4");
    const Result planned = succeeded(program(tune + Arguments{"--dry-run"}));
    CHECK_THAT(planned.out, contains("(" + std::to_string(model.parameter_count()) + ")"));
    succeeded(program(tune + Arguments{"--max-iters", "3"}));
    CHECK(json::parse(read_file(folder.path("tuned/latest/config.json")))["head_dim"] == 12);
    succeeded(program(tune + Arguments{"--max-iters", "5", "--resume", "auto"}));
    CHECK(fs::exists(folder.path("tuned/step-000005")));
    check_fails(call(tune + Arguments{"--resume", "auto", "--n-head", "4"}), 2, "--n-head is 3 in the model");
}
