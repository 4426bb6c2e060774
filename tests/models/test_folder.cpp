// Model folders: writing and reading, and other forms of their files.
#include "models/files/folder.h"

#include "formats/files/directory.h"
#include "tests/models/folders.h"
#include "tests/models/transformers.h"

// The number of tensors in a file that hold zeros alone.
static std::size_t zeros_in(const StoredTensors& tensors) {
    std::size_t n = 0;
    for (const auto& [name, t] : tensors) n += t.values == std::vector<float>(t.values.size());
    return n;
}

TEST_CASE("folder: a model comes back bit by bit, and is saved as the same bytes again", "[models]") {
    for (const bool bias : {true, false}) {
        ModelFolder folder(bias);
        auto [model, tokenizer] = load_model(folder.path());
        CHECK_ALL(!model->training(), model->config == folder.model.config);
        for (const ParameterSpec& p : parameters(model->config))
            CHECK(same_bits(folder.model.at(p).value(), model->at(p).value()));
        CHECK(tokenizer->encode("hab") == std::vector<std::int32_t>{7, 0, 1});
        const ScratchFolder second;
        save_model(second.path(), *model, *tokenizer);
        const std::vector<std::string> names = names_in(folder.path());
        for (const std::string& name : names)
            WITH_INFO(name, CHECK(read_file(folder.path(name)) == read_file(second.path(name))));
        CHECK(names == std::vector<std::string>{"config.json", "generation_config.json", "model.safetensors",
                                                "tokenizer.json", "tokenizer_config.json"});
    }
}

TEST_CASE("folder: weights without biases or prefix, mask buffers and a stored head are read", "[models]") {
    ModelFolder folder(false);
    const StoredTensors stored = read_tensors(folder.weights());
    CHECK_ALL(stored.size() == 2 + 2 * 12 + 2, zeros_in(stored) == 13);
    folder.change_weights([](StoredTensors& t) { t["transformer.h.0.ln_1.bias"].values[3] = 0.5f; });
    CHECK_THAT(folder.refusal(), contains("transformer.h.0.ln_1.bias is not zero"));
    ModelFolder plain;
    const IdArray ids = random_ids({1, 6}, 8, 1);
    const ConstArray<float> want = plain.model.forward(ids).value();
    plain.change_weights([](StoredTensors& t) {
        StoredTensors bare;
        for (auto& [name, tensor] : t) bare[name.substr(std::string("transformer.").size())] = tensor;
        bare["h.0.attn.bias"] = {{1, 1, 6, 6}, std::vector<float>(36, 1.0f)};
        bare["h.0.attn.masked_bias"] = {{}, {-1e4f}};
        bare["lm_head.weight"] = bare["wte.weight"];
        t = bare;
    });
    CHECK_ALL(plain.refusal().empty(), same_bits(load_model(plain.path()).model->forward(ids).value(), want));
    plain.change_weights([](StoredTensors& t) { t["lm_head.weight"].values[0] += 1; });
    const auto untied = load_model(plain.path());  // another head
    CHECK_ALL(!untied.model->config.tied_head, !same_bits(untied.model->forward(ids).value(), want));
    const ScratchFolder saved;
    save_model(saved.path(), *untied.model, *untied.tokenizer);
    CHECK(same_bits(load_model(saved.path()).model->forward(ids).value(), untied.model->forward(ids).value()));
}

TEST_CASE("folder: a llama without prefix, with a copy of its tied head or old buffers is read", "[models]") {
    const ScratchFolder folder;
    for (const auto& entry : fs::directory_iterator(kLlamaTinyTied)) fs::copy(entry.path(), folder.path());
    const std::string layer = "model.layers.0.";
    const auto change = [&](const auto& f) { change_tensors(folder.path("model.safetensors"), f); };
    const auto check_same = [&] {
        const IdArray ids = random_ids({1, 12}, 21, 1);
        CHECK(same_bits(load_model(folder.path()).model->forward(ids).value(),
                        load_model(kLlamaTinyTied).model->forward(ids).value()));
    };
    const StoredTensors all = read_tensors(folder.path("model.safetensors"));
    change([&](StoredTensors& t) {  // as LlamaModel writes them
        t.clear();
        for (const auto& [name, tensor] : all) t[name.substr(std::string("model.").size())] = tensor;
    });
    check_same();
    change([&](StoredTensors& t) {
        t = all;
        t["lm_head.weight"] = t.at("model.embed_tokens.weight");
        t[layer + "self_attn.rotary_emb.inv_freq"] = {{4}, {1, 2, 3, 4}};
    });
    check_same();
    // Another head than the table, though tie_word_embeddings is true, is taken, with the logits of transformers 5.24
    // (which warns) for the table's rows from the last to the first.
    change([](StoredTensors& t) {
        StoredTensor& head = t.at("lm_head.weight");
        const auto rows = head.values;
        for (std::size_t i = 0; i < 21; ++i) std::copy_n(&rows[24 * (20 - i)], 24, &head.values[24 * i]);
    });
    const double want[] = {1.648285,  -7.227397,  5.63697,   -2.487713, 0.1364207, -4.906783,  10.58384,
                           -2.640783, 3.546202,   -1.086874, -9.008301, -6.043609, -0.2974369, -4.424969,
                           1.419367,  0.08189802, 3.174168,  -3.093223, -2.607008, -4.157866,  -1.163799};
    IdArray eight({1, 8});
    for (std::size_t i = 0; i < 8; ++i) eight.data()[i] = static_cast<std::int32_t>(2 * i);
    for (const WeightStorage storage : {WeightStorage{}, {WeightType::fp32, true}, {WeightType::q8_0}}) {
        const auto other = load_model(folder.path(), std::nullopt, storage);
        CHECK_FALSE(other.model->config.tied_head);
        const ConstArray<float> z = other.model->forward(eight).value();
        for (std::size_t i = 0; i < 21; ++i)
            CHECK(static_cast<double>(z.data()[7 * 21 + i]) ==
                  Approx(want[i]).margin(storage.type == WeightType::fp32 ? 5e-5 : 0.3));
    }
    change([](StoredTensors& t) { t.at("lm_head.weight") = {{20, 24}, std::vector<float>(480)}; });
    CHECK_THROWS_WITH(load_model(folder.path()),
                      contains("lm_head.weight has shape (20, 24) where config.json wants (21, 24)"));
    change([&](StoredTensors& t) {
        t.erase("lm_head.weight"), t.erase(layer + "mlp.gate_proj.weight");
        t[layer + "mlp.gate_proj.bias"] = {{2000}, std::vector<float>(2000)};
        t[layer + "self_attn.k_proj.weight"].shape = {24, 16};
    });
    CHECK_THROWS_WITH(load_model(folder.path()),
                      contains(layer + "mlp.gate_proj.weight is missing", "gate_proj.bias is not known",
                               "k_proj.weight has shape (24, 16) where config.json wants (16, 24)"));
}

TEST_CASE("folder: a qwen2 without biases, as GGUF files hold, is saved with zeros", "[models]") {
    Architecture a = shape_of("qwen2", 8, 2, 4, 32, 16, 0, true);
    a.qkv_bias = false;
    Transformer<float> model(a, Generator{5, 0});
    const ScratchFolder folder;
    save_model(folder.path(), model, CharTokenizer::from_text("abcdefgh"));
    const StoredTensors stored = read_tensors(folder.path("model.safetensors"));
    CHECK_ALL(zeros_in(stored) == 6, !stored.contains("model.layers.0.self_attn.o_proj.bias"));
    const auto again = load_model(folder.path());
    CHECK(again.model->config.qkv_bias);
    const IdArray ids = random_ids({1, 12}, 8, 1);
    CHECK(same_bits(again.model->forward(ids).value(), model.forward(ids).value()));
}

TEST_CASE("folder: what begins and ends a text is kept, and dropout may take the place of the config's", "[models]") {
    ModelFolder folder;
    CHECK(load_config(folder.path()).begin_token == -1);
    CHECK(load_config(folder.path()).end_tokens.empty());
    folder.change_json("config.json", [](auto& j) { j["eos_token_id"] = 3, j["bos_token_id"] = 6; });
    folder.change_json("generation_config.json", [](auto& j) { j["eos_token_id"] = {5, 3}; });
    const auto loaded = load_model(folder.path());
    CHECK(loaded.model->config.has_bos);
    const ScratchFolder copy;
    save_model(copy.path(), *loaded.model, *loaded.tokenizer);
    CHECK(load_config(copy.path()) == loaded.model->config);
    for (const char* name : {"config.json", "generation_config.json"})
        CHECK(json::parse(read_file(copy.path(name)))["eos_token_id"] == json({5, 3}));
    CHECK(json::parse(read_file(copy.path("config.json")))["bos_token_id"] == 6);
    GenerateOptions none;
    none.max_tokens = 0;
    Sequence sequence(*loaded.model, loaded.tokenizer.get(), none);
    sequence.add("");
    REQUIRE(sequence.tokens().size() == 1);
    CHECK(sequence.tokens()[0] == 6);
    const ModelFolder changed;
    CHECK(load_model(changed.path()).model->config.dropout == 0);
    CHECK(load_model(changed.path(), 0.5).model->config.dropout == 0.5);
}

TEST_CASE("folder: find_model follows best, then latest, then takes the folder itself", "[models]") {
    const ScratchFolder run;
    const auto find = [&] { return find_model(run.path()).filename().string(); };
    CHECK_THROWS_WITH(find_model(run.path("nowhere")), contains("nowhere: there is no such model folder"));
    CHECK_THROWS_AS(find(), BadInput);
    run.write("step-000010/config.json", "{}"), run.write("step-000020/config.json", "{}");
    fs::create_directory_symlink("step-000020", run.path("latest"));
    CHECK(find() == "latest");
    fs::create_directory_symlink("step-000030", run.path("best"));  // a link to nowhere
    CHECK(find() == "latest");
    fs::remove(run.path("best"));
    fs::create_directory_symlink("step-000010", run.path("best"));
    CHECK_ALL(find() == "best", find_model(run.path("step-000020")) == run.path("step-000020"));
    CHECK_THROWS_WITH(open_tokenizer(run.path()), contains("step-000010") || contains("best"));
    fs::remove(run.path("best"));
    CHECK_THROWS_WITH(open_tokenizer(run.path()), contains("latest"));
}
