// The families of models, and folders that transformers wrote, through every command.
#include "tests/cli/program.h"
#include "tests/support/gguf.h"

const std::string kReference = tests_path("reference/");

// Text of the characters that the reference models know.
static std::string known_text() {
    std::string text = repeated("hello, world! all is well in the old house.\n", 1200);
    std::erase_if(text, [](char c) { return std::string("\n !,.abdehilnorstuwy").find(c) == std::string::npos; });
    return text;
}

// Trains a run of this name with the flags of small(), some of them changed.
template <class... Pieces>
static void train_in(const TrainFolder& folder, const std::string& arch, const std::string& name,
                     const Pieces&... changes) {
    execute("train --arch", arch, "--data", folder.text, "--out", folder.path(name), small(changes...));
}

TEST_CASE("families: train, every command on what it wrote, and a run that goes on to the same bits", "[cli]") {
    const TrainFolder folder;
    const Arguments heads = words("--n-kv-head 1"), own = words("--n-inner 24 --rope-theta 500"),
                    all = own + heads + "--head-dim 12";
    struct Family {
        std::string arch, model_type, gguf;
        Arguments flags;
    };
    for (const Family& family : {Family{"nanochat", "nanochat", "qwen3", heads},
                                 {"inkling", "inkling", "", heads},
                                 {"llama", "llama", "llama", heads},
                                 {"qwen2", "qwen2", "qwen2", all},
                                 {"qwen3", "qwen3", "qwen3", all},
                                 {"gemma3", "gemma3_text", "gemma3", all},
                                 {"gpt-neox", "gpt_neox", "gptneox", own}}) {
        const bool sized = family.flags != heads;
        const std::string arch = family.arch, run = folder.path(arch);
        INFO(arch);
        train_in(folder, arch, arch, family.flags);
        check_holds(json_of("info --model", run), "arch", arch, "n_head", 2, "n_kv_head",
                    arch == "gpt-neox" ? json() : json(1));
        const json config = json_in(run + "/latest/config.json");
        CHECK(config["model_type"] == family.model_type);
        if (sized) {
            const json angles = config["rope_parameters"];
            CHECK_ALL(config["intermediate_size"] == 24, angles.value("full_attention", angles)["rope_theta"] == 500);
            if (arch != "gpt-neox") check_holds(config, "head_dim", 12, "num_key_value_heads", 1);
        }
        CHECK(execute("generate --model", run, "-p fox -n 12").out.size() == 3 + 12 + 1);
        CHECK(json_of("eval --model", run, "--data", folder.text)["loss"] < std::log(29.0));
        execute("attention --model", run, "--prompt fox --out", folder.path("a.html"));
        const auto to_gguf = call("export --model", run, "--out", folder.path("m.gguf"));
        if (family.gguf.empty())
            check_fails(to_gguf, 3, "inkling shifts tokens, which neither a Qwen 3 nor llama.cpp does");
        else
            CHECK(Gguf(folder.path("m.gguf")).pairs["general.architecture"] == family.gguf);
        CHECK(json_of("bench --preset micro --seconds 0.02 --arch", arch)["arch"] == arch);
        // stopped and resumed
        train_in(folder, arch, "cut", family.flags, "--lr-decay-iters 20 --max-iters 7");
        const Arguments resume = words("train --out", folder.path("cut"), "--resume auto");
        check_fails(call(resume + "--arch gpt2"), 2, "--arch");
        if (!sized) check_fails(call(resume + "--n-kv-head 2"), 2, "--n-kv-head");
        if (sized) {
            check_fails(call(resume + "--n-inner 32"), 2, "--n-inner is 24 in the model that is loaded, got 32");
            check_fails(call(resume + "--rope-theta 7"), 2, "--rope-theta is 500");
        }
        execute(resume + "--max-iters 20 --threads 2");
        CHECK(weights_in(folder.path("cut")) == weights_in(run));
        fs::remove_all(folder.path("cut"));
    }
    // --n-kv-head equal to --n-head is the same as leaving it out
    train_in(folder, "nanochat", "cut", "--n-kv-head 2 --max-iters 2");
    execute("train --out", folder.path("cut"), "--resume auto --max-iters 3");
}

TEST_CASE("families: flags that make no sense with one are wrong usage", "[cli]") {
    const TrainFolder folder;
    const std::pair<const char*, const char*> cases[] = {{"gpt2", "--rope-theta"}, {"gpt2", "--head-dim"},
                                                         {"gpt2", "--n-kv-head"},  {"nanochat", "--head-dim"},
                                                         {"llama", "--softcap"},   {"gpt-neox", "--head-dim"}};
    for (const auto& [arch, flag] : cases)
        check_fails(call(folder.train(small("--arch", std::string(arch)), flag + std::string("=1"))), 2,
                    flag + std::string(" is not for --arch ") + arch);
    check_fails(call(folder.train(small("--arch nanochat --n-kv-head 3"))), 2, "--n-kv-head");
    check_fails(call(folder.train(small("--arch nanochat --n-embd 6"))), 2, "even width");
    CHECK_FALSE(fs::exists(folder.out));
    check_fails(call("bench --arch mamba"), 2, "mamba");
}

TEST_CASE("train: --softcap of a new nanochat, and of one that is trained on", "[cli]") {
    const TrainFolder folder;
    const auto cap = [&](const std::string& run) {
        return json_in(folder.path(run + "/latest/config.json"))["final_logit_softcapping"];
    };
    train_in(folder, "nanochat", "usual"), train_in(folder, "nanochat", "none", "--softcap 0");
    train_in(folder, "nanochat", "low", "--softcap 3");
    CHECK(json({cap("usual"), cap("none"), cap("low")}) == json({15, nullptr, 3}));
    const Arguments on = words("train --data", folder.text, "--max-iters 3 --batch-size 4 --init-from");
    execute(on, folder.path("usual"), "--out", folder.path("kept"));
    execute(on, folder.path("usual"), "--out", folder.path("mended"), "--softcap 0");
    CHECK_ALL(cap("kept") == 15, cap("mended").is_null());
    execute("train --out", folder.path("mended"), "--resume auto --max-iters 5");
    CHECK(cap("mended").is_null());
    check_fails(call("train --out", folder.path("mended"), "--resume auto --softcap 9"), 2,
                "--softcap is 0 in the model that is loaded, got 9");
    train_in(folder, "llama", "llama");
    check_fails(call(on + folder.path("llama") + "--softcap 5 --out x"), 2, "--softcap is not for --arch llama");
}

TEST_CASE("train: --init-from goes on from folders of transformers, with their tokenizers", "[cli]") {
    const TrainFolder folder;
    folder.write("text.txt", known_text());
    for (const std::string name :
         {"gpt2_tiny", "nanochat_tiny", "llama_tiny", "llama_tiny_tied", "families/llama_llama3", "families/mistral",
          "families/qwen2", "families/qwen3_tied", "families/gpt2_gelu", "families/gpt_neox", "families/gemma3"}) {
        const std::string from = kReference + name, out = folder.path(name);
        const auto loss = [&](const std::string& model) {
            return json_of("eval --model", model, "--data", folder.text)["loss"].get<double>();
        };
        execute("train --init-from", from, "--data", folder.text, "--out", out,
                "--max-iters 40 --warmup-iters 2 --batch-size 8 --eval-every 0 --threads 1");
        INFO(name);
        CHECK(loss(out) < 0.7 * loss(from));
        const json before = json_in(from + "/config.json"), after = json_in(out + "/latest/config.json");
        for (const char* key :
             {"vocab_size", "n_embd", "hidden_size", "head_dim", "intermediate_size", "rope_parameters"})
            if (before.contains(key) && !before[key].is_null()) CHECK(after[key] == before[key]);
        CHECK(after["model_type"] == (name == "families/mistral" ? json("llama") : before["model_type"]));
        CHECK(json_in(out + "/latest/tokenizer.json")["model"]["vocab"] ==
              json_in(from + "/tokenizer.json")["model"]["vocab"]);
        const Arguments start = words("train --out x --init-from", from, "--data");
        check_fails(call(start + folder.text + "--n-embd 48"), 2, "--n-embd");
        check_fails(call(start + folder.write("z.txt", repeated("zzzz ", 25)) + "--strict-vocabulary"), 3, "z");
    }
}
