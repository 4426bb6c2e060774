// --arch nanochat and llama, and folders that transformers wrote, through every command.
#include <nlohmann/json.hpp>

#include "formats/safetensors/safetensors.h"
#include "models/files/folder.h"
#include "tests/cli/program.h"
#include "tests/paths.h"
#include "tests/support/gguf.h"

using namespace inkling::testing;
using inkling::data::tests::ScratchFolder;
using inkling::formats::read_file;
using nlohmann::json;

namespace {

const std::string kReference = tests_path("reference/");

// Text of the characters that the reference models know.
std::string known_text() {
    std::string text;
    while (text.size() < 1200) text += "hello, world! all is well in the old house.\n";
    std::erase_if(text, [](char c) { return std::string("\n !,.abdehilnorstuwy").find(c) == std::string::npos; });
    return text;
}

// The flags of small(), some of them changed, and others that have no value.
Result train(const std::string& arch, const ScratchFolder& folder, const std::string& out,
             const Arguments& changes = {}, const Arguments& others = {}) {
    return program(Arguments{"train", "--arch", arch, "--data", folder.write("text.txt", small_text()), "--out",
                             folder.path(out)} +
                   small(Arguments{"--n-kv-head", "1"} + changes) + others);
}

Result train_nanochat(const ScratchFolder& folder, const std::string& out, const Arguments& changes = {},
                      const Arguments& others = {}) {
    return train("nanochat", folder, out, changes, others);
}

json only_line(const Result& r) {
    INFO(r.err);
    REQUIRE(r.code == 0);
    return json::parse(r.out);
}

}  // namespace

TEST_CASE("nanochat: train, and every command on what it wrote", "[cli]") {
    const ScratchFolder folder;
    const Result trained = train_nanochat(folder, "run");
    INFO(trained.err);
    REQUIRE(trained.code == 0);
    const std::string run = folder.path("run"), text = folder.path("text.txt");
    const json info = only_line(program({"info", "--model", run, "--json"}));
    CHECK((info["arch"] == "nanochat" && info["n_head"] == 2 && info["n_kv_head"] == 1 && info["bias"] == false));
    CHECK(info["parameters"] == 2 * 29 * 16 + 2 * 256 + 2 * 128 + 8 * 256);
    CHECK(json::parse(read_file(run + "/latest/config.json"))["rms_norm_eps"] == 1e-6);

    const Result written = program({"generate", "--model", run, "-p", "fox", "-n", "12"});
    CHECK((written.code == 0 && written.out.size() == 3 + 12 + 1));
    CHECK(only_line(program({"eval", "--model", run, "--data", text, "--json"}))["loss"] < std::log(29.0));
    CHECK(program({"attention", "--model", run, "--prompt", "fox", "--out", folder.path("a.html")}).code == 0);
    const json bench =
        only_line(program({"bench", "--arch", "nanochat", "--preset", "micro", "--seconds", "0.02", "--json"}));
    CHECK((bench["arch"] == "nanochat" && bench["params"] == 2 * 27 * 16 + 12 * 256));
    check_fails(call({"bench", "--arch", "mamba"}), 2, "mamba");
}

TEST_CASE("llama: train, and every command on what it wrote", "[cli]") {
    const ScratchFolder folder;
    const Result trained = train("llama", folder, "run");
    INFO(trained.err);
    REQUIRE(trained.code == 0);
    const std::string run = folder.path("run"), text = folder.path("text.txt");
    const json info = only_line(program({"info", "--model", run, "--json"}));
    CHECK((info["arch"] == "llama" && info["n_head"] == 2 && info["n_kv_head"] == 1 && info["bias"] == false));
    CHECK(info["parameters"] == 2 * 29 * 16 + 2 * 256 + 2 * 128 + 3 * 4 * 256 + 3 * 16);
    const json config = json::parse(read_file(run + "/latest/config.json"));
    CHECK((config["model_type"] == "llama" && config["tie_word_embeddings"] == false && config["head_dim"] == 8));

    const Result written = program({"generate", "--model", run, "-p", "fox", "-n", "12"});
    CHECK((written.code == 0 && written.out.size() == 3 + 12 + 1));
    CHECK(only_line(program({"eval", "--model", run, "--data", text, "--json"}))["loss"] < std::log(29.0));
    CHECK(program({"attention", "--model", run, "--prompt", "fox", "--out", folder.path("a.html")}).code == 0);
    CHECK(program({"export", "--model", run, "--out", folder.path("m.gguf")}).code == 0);
    const Gguf file(folder.path("m.gguf"));
    CHECK((file.pairs["general.architecture"] == "llama" && file.tensors.contains("blk.0.ffn_gate.weight")));
    const json bench =
        only_line(program({"bench", "--arch", "llama", "--preset", "micro", "--seconds", "0.02", "--json"}));
    CHECK((bench["arch"] == "llama" && bench["params"] == 2 * 27 * 16 + 16 * 256 + 3 * 16));
}

TEST_CASE("qwen2, qwen3, gemma3, gpt-neox: train with flags of their own, and every command on what it wrote",
          "[cli]") {
    const ScratchFolder folder;
    const std::string text = folder.write("text.txt", small_text());
    for (const std::string arch : {"qwen2", "qwen3", "gemma3", "gpt-neox"}) {
        INFO(arch);
        const std::string run = folder.path(arch);
        const bool neox = arch == "gpt-neox";
        Arguments flags{"--n-inner", "24", "--rope-theta", "500"};
        if (!neox) flags = flags + Arguments{"--n-kv-head", "1", "--head-dim", "12"};
        const auto train_it = [&](const std::string& out, const Arguments& more) {
            return program(Arguments{"train", "--arch", arch, "--data", text, "--out", out} + small(flags + more));
        };
        const Result trained = train_it(run, {});
        INFO(trained.err);
        REQUIRE(trained.code == 0);
        const json config = json::parse(read_file(run + "/latest/config.json"));
        const json angles = config["rope_parameters"];
        CHECK((config["intermediate_size"] == 24 && angles.value("full_attention", angles)["rope_theta"] == 500));
        if (!neox) CHECK((config["head_dim"] == 12 && config["num_key_value_heads"] == 1));
        CHECK(config["model_type"] == (neox ? "gpt_neox" : arch == "gemma3" ? "gemma3_text" : arch));
        CHECK(only_line(program({"info", "--model", run, "--json"}))["arch"] == arch);
        const Result written = program({"generate", "--model", run, "-p", "fox", "-n", "12"});
        CHECK((written.code == 0 && written.out.size() == 3 + 12 + 1));
        CHECK(only_line(program({"eval", "--model", run, "--data", text, "--json"}))["loss"] < std::log(29.0));
        CHECK(program({"attention", "--model", run, "--prompt", "fox", "--out", folder.path("a.html")}).code == 0);
        CHECK(program({"export", "--model", run, "--out", folder.path("m.gguf")}).code == 0);
        CHECK(Gguf(folder.path("m.gguf")).pairs["general.architecture"] == (neox ? "gptneox" : arch));
        CHECK(only_line(program(
                  {"bench", "--arch", arch, "--preset", "micro", "--seconds", "0.02", "--json"}))["arch"] == arch);
        // stopped and resumed: the same bits
        REQUIRE(train_it(folder.path("cut"), {"--lr-decay-iters", "20", "--max-iters", "7"}).code == 0);
        const Result resumed = program({"train", "--out", folder.path("cut"), "--resume", "auto", "--max-iters", "20"});
        INFO(resumed.err);
        REQUIRE(resumed.code == 0);
        CHECK(read_file(folder.path("cut/latest/model.safetensors")) == read_file(run + "/latest/model.safetensors"));
        check_fails(call({"train", "--out", folder.path("cut"), "--resume", "auto", "--n-inner", "32"}), 2,
                    "--n-inner is 24 in the model that is loaded, got 32");
        check_fails(call({"train", "--out", folder.path("cut"), "--resume", "auto", "--rope-theta", "7"}), 2,
                    "--rope-theta is 500");
        std::filesystem::remove_all(folder.path("cut"));
    }
    for (const auto& [arch, flag] : {std::pair{"gpt2", "--rope-theta"},
                                     {"gpt2", "--head-dim"},
                                     {"nanochat", "--head-dim"},
                                     {"llama", "--softcap"},
                                     {"gpt-neox", "--head-dim"}})
        check_fails(call({"train", "--arch", arch, "--data", text, "--out", folder.path("x"), flag, "2"}), 2,
                    (std::string(flag) + " is not for --arch " + arch).c_str());
}

TEST_CASE("train: --softcap of a new nanochat, and of one that is trained on", "[cli]") {
    const ScratchFolder folder;
    const auto cap = [&](const std::string& run) {
        return json::parse(read_file(folder.path(run + "/latest/config.json")))["final_logit_softcapping"];
    };
    REQUIRE(train_nanochat(folder, "usual").code == 0);
    REQUIRE(train_nanochat(folder, "none", {"--softcap", "0"}).code == 0);
    REQUIRE(train_nanochat(folder, "low", {"--softcap", "3"}).code == 0);
    CHECK((cap("usual") == 15 && cap("none").is_null() && cap("low") == 3));
    const Arguments on{"train",       "--init-from", folder.path("usual"), "--data", folder.path("text.txt"),
                       "--max-iters", "3",           "--batch-size",       "4",      "--out"};
    REQUIRE(program(on + Arguments{folder.path("kept")}).code == 0);
    const Result mended = program(on + Arguments{folder.path("mended"), "--softcap", "0"});
    INFO(mended.err);
    REQUIRE(mended.code == 0);
    CHECK((cap("kept") == 15 && cap("mended").is_null()));
    const Result resumed = program({"train", "--out", folder.path("mended"), "--resume", "auto", "--max-iters", "5"});
    INFO(resumed.err);
    CHECK((resumed.code == 0 && cap("mended").is_null()));
    check_fails(call({"train", "--out", folder.path("mended"), "--resume", "auto", "--softcap", "9"}), 2,
                "--softcap is 0 in the model that is loaded, got 9");
    REQUIRE(train("llama", folder, "llama").code == 0);
    check_fails(call({"train", "--init-from", folder.path("llama"), "--data", folder.path("text.txt"), "--out",
                      folder.path("x"), "--softcap", "5"}),
                2, "--softcap is not for --arch llama");
}

TEST_CASE("llama: in bf16, in less memory, by muon, resumed, and the same bits each time", "[cli]") {
    const ScratchFolder folder;
    const auto weights = [&](const std::string& out) {
        return read_file(folder.path(out + "/latest/model.safetensors"));
    };
    const Arguments more = {"--dropout", "0.1", "--optimizer", "muon"};
    REQUIRE(train("llama", folder, "a", more).code == 0);
    REQUIRE(train("llama", folder, "b", more, {"--checkpoint-activations", "--muon-split-heads"}).code == 0);
    CHECK(weights("a") != weights("b"));
    REQUIRE(train("llama", folder, "c", more, {"--checkpoint-activations"}).code == 0);
    CHECK(weights("a") == weights("c"));
    REQUIRE(train("llama", folder, "d", more + Arguments{"--lr-decay-iters", "20", "--max-iters", "7"}).code == 0);
    const Result resumed =
        program({"train", "--out", folder.path("d"), "--resume", "auto", "--max-iters", "20", "--threads", "2"});
    INFO(resumed.err);
    REQUIRE(resumed.code == 0);
    CHECK(weights("a") == weights("d"));
    CHECK(train("llama", folder, "e", {"--precision", "bf16"}).code == 0);
}

TEST_CASE("nanochat: in bf16, in less memory, resumed, and the same bits each time", "[cli]") {
    const ScratchFolder folder;
    const auto weights = [&](const std::string& out) {
        return read_file(folder.path(out + "/latest/model.safetensors"));
    };
    const Arguments more = {"--dropout", "0.1"};
    REQUIRE(train_nanochat(folder, "a", more).code == 0);
    REQUIRE(train_nanochat(folder, "b", more, {"--checkpoint-activations"}).code == 0);
    CHECK(weights("a") == weights("b"));
    REQUIRE(train_nanochat(folder, "c", more + Arguments{"--lr-decay-iters", "20", "--max-iters", "7"}).code == 0);
    const Result resumed =
        program({"train", "--out", folder.path("c"), "--resume", "auto", "--max-iters", "20", "--threads", "2"});
    INFO(resumed.err);
    REQUIRE(resumed.code == 0);
    CHECK(weights("a") == weights("c"));
    check_fails(call({"train", "--out", folder.path("c"), "--resume", "auto", "--arch", "gpt2"}), 2, "--arch");
    check_fails(call({"train", "--out", folder.path("c"), "--resume", "auto", "--n-kv-head", "2"}), 2, "--n-kv-head");
    CHECK(train_nanochat(folder, "d", {"--precision", "bf16"}).code == 0);
    // as many as --n-head is the same as leaving it out
    REQUIRE(train_nanochat(folder, "e", {"--n-kv-head", "2", "--max-iters", "2"}).code == 0);
    const Result more_steps = program({"train", "--out", folder.path("e"), "--resume", "auto", "--max-iters", "3"});
    INFO(more_steps.err);
    CHECK(more_steps.code == 0);
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
        const Result r = program({"train", "--init-from", from, "--data", text, "--out", out, "--max-iters", "40",
                                  "--warmup-iters", "2", "--batch-size", "8", "--eval-every", "0", "--threads", "1"});
        INFO(name << ": " << r.err);
        REQUIRE(r.code == 0);
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

TEST_CASE("nanochat: shapes that make no sense are wrong usage", "[cli]") {
    const ScratchFolder folder;
    const auto fails = [&](const Arguments& more, const char* text) {
        check_fails(train_nanochat(folder, "out", more), 2, text);
    };
    fails({"--n-kv-head", "3"}, "--n-kv-head");
    fails({"--n-embd", "6"}, "even width");
    check_fails(
        program(Arguments{"train", "--n-kv-head", "1", "--data", folder.path("text.txt"), "--out", folder.path("out")} +
                kSmall),
        2, "--n-kv-head is not for --arch gpt2");
    CHECK_FALSE(std::filesystem::exists(folder.path("out")));
}

TEST_CASE("llama: a model whose heads do not fit its width is tuned, planned and gone on with", "[cli]") {
    namespace models = inkling::models;
    const ScratchFolder folder;
    REQUIRE(train("llama", folder, "run").code == 0);
    const auto trained = models::load_model(folder.path("run/latest"));
    models::Architecture a = trained.model->config;
    a.n_embd = 20, a.n_head = 3, a.n_kv_head = 1, a.head_dim = 12, a.n_inner = 30;
    models::Transformer<float> model(a);
    std::filesystem::create_directories(folder.path("wide"));
    models::save_model(folder.path("wide"), model, *trained.tokenizer);

    const Arguments tune{"train",
                         "--recipe",
                         "nanogpt-cpu",
                         "--init-from",
                         folder.path("wide"),
                         "--data",
                         folder.path("text.txt"),
                         "--out",
                         folder.path("tuned"),
                         "--threads",
                         "1",
                         "--batch-size",
                         "4"};
    const Result planned = program(tune + Arguments{"--dry-run"});
    INFO(planned.err);
    REQUIRE(planned.code == 0);
    CHECK_THAT(planned.out, ContainsSubstring("(" + std::to_string(model.parameter_count()) + ")"));
    const Result tuned = program(tune + Arguments{"--max-iters", "3"});
    INFO(tuned.err);
    REQUIRE(tuned.code == 0);
    CHECK(json::parse(read_file(folder.path("tuned/latest/config.json")))["head_dim"] == 12);
    const Result on = program(tune + Arguments{"--max-iters", "5", "--resume", "auto"});
    INFO(on.err);
    CHECK(on.code == 0);
    CHECK(std::filesystem::exists(folder.path("tuned/step-000005")));
    check_fails(program(tune + Arguments{"--resume", "auto", "--n-head", "4"}), 2, "--n-head is 3 in the model");
}
