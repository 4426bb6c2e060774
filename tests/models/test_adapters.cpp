// Low-rank adapters against PEFT's numbers (tests/reference/make_adapters.py): logits, 15 training steps, files; merged
// or beside weights of any storage; and errors for an adapter's folder.
#include "models/files/adapter_folder.h"

#include "models/files/adapter_config.h"
#include "models/files/folder.h"
#include "models/inference/inference_model.h"
#include "tests/models/peft_folders.h"
#include "tests/models/transformers.h"

// A model with nonzero adapters.
static std::unique_ptr<Transformer<float>> adapted(const Architecture& config, const AdapterOptions& options,
                                                   const char* targets = kAllLinear,
                                                   std::optional<WeightType> type = std::nullopt) {
    auto model = std::make_unique<Transformer<float>>(config, Generator{5, 0});
    if (type) model->freeze({*type});
    model->adapt(options, adapter_targets(config, targets), Generator{6, 0});
    Generator random{7, 0};
    for (auto& [name, p] : model->parameters())
        if (name.ends_with("lora_B.weight")) fill(p, Initial::normal(0.1), random);
    return model;
}

static Architecture adapted_shape(const std::string& name) {
    Architecture a = shape_of(name.c_str(), 29, 2, 4, 32, 16, 0, true);
    if (name == "llama") a.n_kv_head = 2;
    return a;
}

TEST_CASE("adapters: targets by the last parts of their names, as few as it takes", "[models]") {
    const auto gpt2 = adapted_shape("gpt2"), llama = adapted_shape("llama");
    const auto names = [](const Architecture& a, const char* text) {
        return target_names(a, adapter_targets(a, text));
    };
    using Names = std::vector<std::string>;
    CHECK(names(gpt2, "all-linear") == Names{"c_attn", "c_proj", "c_fc"});
    CHECK(names(llama, "all-linear,lm_head") ==
          Names{"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj", "lm_head"});
    CHECK(names(gpt2, "c_proj") == Names{"c_proj"});
    CHECK(names(gpt2, "mlp.c_proj,c_attn") == Names{"c_attn", "mlp.c_proj"});
    CHECK(names(gpt2, "transformer.h.1.attn.c_proj") == Names{"1.attn.c_proj"});
    CHECK(names(llama, " v_proj , q_proj") == Names{"q_proj", "v_proj"});
    CHECK(names(llama, "all-linear") ==
          Names{"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"});
    CHECK(names(llama, "lm_head") == Names{"lm_head"});
    CHECK(adapter_count(llama, 3, adapter_targets(llama, "k_proj")) == 2 * 3 * (32 + 16));
    CHECK(adapter_count(gpt2, 2, adapter_targets(gpt2, "c_attn")) == 2 * 2 * (32 + 96));
    CHECK_THROWS_WITH(names(llama, "q_proj,q_prj"),
                      contains("--lora-targets must be all-linear or some of q_proj, k_proj, v_proj, o_proj, "
                               "gate_proj, up_proj, down_proj, lm_head, got 'q_prj'"));
    for (const std::string name : {"lm_head", "proj", "ln_1"})  // the token table, a part of a part, a norm
        CHECK_THROWS_WITH(names(gpt2, name.c_str()), contains("got '" + name + "'"));
    CHECK_THROWS_WITH(names(gpt2, " , "), contains("--lora-targets must be all-linear or some of"));
}

TEST_CASE("adapters: a new one changes nothing, and those of the head have its role", "[models]") {
    for (const char* name : {"gpt2", "llama", "nanochat", "gpt-neox"}) {
        INFO(name);
        const auto config = adapted_shape(name);
        Transformer<float> plain(config, Generator{5, 0}), model(config, Generator{5, 0});
        model.adapt({.rank = 8}, adapter_targets(config, kAllLinear), Generator{6, 0});
        const IdArray ids = random_ids({2, 9}, 29, 1);
        CHECK(same_bits(plain.forward(ids).value(), model.forward(ids).value()));
        double squares = 0;
        std::size_t n = 0;
        for (const auto& [parameter, p] : model.parameters()) {
            const bool a = parameter.ends_with("lora_A.weight"), b = parameter.ends_with("lora_B.weight");
            CHECK(p.requires_grad() == (a || b));
            if (!a && !b) continue;
            const double bound = a ? 1 / std::sqrt(static_cast<double>(p.dim(1))) : 0;
            for (const float x : p.value()) {
                CHECK(std::abs(static_cast<double>(x)) <= bound);
                if (a) squares += std::pow(static_cast<double>(x) / bound, 2), ++n;
            }
        }
        CHECK(squares / static_cast<double>(n) == Approx(1.0 / 3).epsilon(0.1));
    }
    const auto model = adapted(adapted_shape("llama"), {.rank = 4}, "q_proj,lm_head");
    std::map<Role, int> count;
    for (const ParameterSpec& p : model->specs())
        if (is_lora(p)) {
            CHECK(p.kind.role == (p.name == ParameterName::head ? Role::head : Role::matrix));
            ++count[p.kind.role];
        }
    CHECK(count == std::map<Role, int>{{Role::head, 2}, {Role::matrix, 4}});
}

TEST_CASE("adapters: gradients beside packed weights are those beside the widened ones", "[models]") {
    const std::string name = GENERATE(as<std::string>(), "gpt2", "llama", "gpt-neox");
    const bool checkpointing = GENERATE(false, true);
    for (const WeightType type : {WeightType::bf16, WeightType::q8_0}) {
        INFO(name << ' ' << name_of(type));
        const AdapterOptions options{.rank = 3, .alpha = 5, .dropout = 0.25};
        const auto packed = adapted(adapted_shape(name), options, kAllLinear, type),
                   plain = adapted(adapted_shape(name), options);
        packed->checkpoint_activations = checkpointing;
        for (const ParameterSpec& p : parameters(packed->config)) {
            CHECK((packed->at(p).packed() != nullptr) == may_be_packed(p));
            plain->at(p) = Tensor<float>(packed->at(p).values());
        }
        const IdArray ids = random_ids({3, 16}, 29, 1), targets = random_ids({3, 16}, 29, 2);
        FlatParameters<float> a(*packed), b(*plain);
        CHECK(a.values().size() == b.values().size());
        for (Transformer<float>* model : {packed.get(), plain.get()}) {
            Generator random{3, 0};
            backward(model->loss(ids, targets, &random));
        }
        CHECK(same_bits(a.gradients(), b.gradients()));
        CHECK(a.entries().size() + a.frozen().size() == plain->parameters().size());
    }
}

TEST_CASE("adapters: dropout in training alone, alpha scales, and packed inference is the model", "[models]") {
    const auto with = [](double dropout) { return adapted(adapted_shape("llama"), {.rank = 4, .dropout = dropout}); };
    const auto none = with(0), some = with(0.5);
    const IdArray ids = random_ids({2, 16}, 29, 1);
    const auto loss = [&](Transformer<float>& model, std::uint64_t seed) {
        Generator random{seed, 0};
        return model.loss(ids, ids, &random).item();
    };
    CHECK_ALL(loss(*some, 1) == loss(*some, 1), loss(*some, 1) != loss(*some, 2), loss(*some, 1) != loss(*none, 1));
    CHECK_THROWS_WITH(some->loss(ids, ids), contains("pass a Generator"));
    some->eval();
    CHECK(some->loss(ids, ids).item() == none->loss(ids, ids).item());
    CHECK(AdapterOptions{.rank = 4, .alpha = 8}.scale() == 2);
    CHECK(AdapterOptions{.rank = 4, .alpha = 8, .rank_stabilized = true}.scale() == 4);
    Transformer<float> model(adapted_shape("gpt2"));
    CHECK_THROWS_WITH(model.adapt({.rank = 0}, nullptr, std::nullopt), contains("rank of at least 1"));
    CHECK_THROWS_WITH(model.adapt({.rank = 1, .dropout = 1}, nullptr, std::nullopt), contains("dropout"));
    for (const char* name : {"gpt2", "llama"})
        for (const WeightType type : {WeightType::fp32, WeightType::bf16, WeightType::q8_0}) {
            INFO(name << ' ' << name_of(type));
            const auto packed = adapted(adapted_shape(name), {.rank = 3}, kAllLinear, type);
            const auto row = random_ids({1, 12}, 29, 1);
            const InferenceModel inference(*packed, type == WeightType::q8_0 ? type : WeightType::fp32);
            KvCache cache(packed->config);
            Array<float> z({1, 1, 29});
            inference.prefill(cache, std::span(row.data(), row.size()), std::span(z.data(), z.size()));
            const RoundsActivations rounds;  // as for inference
            const NoGrad no_grad;
            check_close(z, packed->forward(row).value().sliced(1, 11, 12), 1e-4);
        }
}

TEST_CASE("adapters: keys that would change the result are refused by name, others passed over", "[models]") {
    const AdapterCopy copy("llama");
    CHECK(copy.refusal().empty());
    const auto wrong = json::parse(R"([{"use_dora": true}, {"alpha_pattern": {"q_proj": "3"}},
        {"alpha_pattern": [1]}, {"alpha_pattern": {"(": 3}}, {"rank_pattern": {"q_proj": 0}},
        {"rank_pattern": {"q_proj": 1.5}}, {"modules_to_save": ["lm_head"]}, {"bias": "all"}, {"lora_bias": true},
        {"init_lora_weights": "pissa"}, {"layer_replication": [[0, 1]]}, {"something_new": 3}, {"peft_type": "IA3"},
        {"task_type": "SEQ_CLS"}, {"trainable_token_indices": [1]}, {"lora_dropout": -0.1}, {"lora_dropout": 1},
        {"r": 0.5}])");
    for (const json& changes : wrong) {
        const AdapterCopy changed("llama");
        changed.change([&](json& j) { j.update(changes); });
        INFO(changes);
        CHECK_THAT(changed.refusal(), contains("adapter_config.json: ", changes.begin().key()));
        CHECK(changed.refusal().find("leave it out") == std::string::npos);  // it would be another adapter
    }
    copy.change([](json& j) {
        j["something_new"] = false, j["another"] = json::object(), j["init_lora_weights"] = "gaussian";
        j["layers_to_transform"] = {0, 1}, j["peft_version"] = "9", j["inference_mode"] = false;
        for (const char* key : {"use_dora", "alpha_pattern", "rank_pattern", "bias", "task_type", "lora_bias"})
            j.erase(key);
    });
    CHECK(copy.refusal().empty());
    for (const char* made : {"orthogonal", "eva"}) {
        copy.change([&](json& j) { j["init_lora_weights"] = made, j["bias"] = nullptr, j["something_new"] = ""; });
        CHECK(copy.refusal().empty());
    }
}

TEST_CASE("adapters: files that do not fit are refused, with all that is wrong", "[models]") {
    const std::string layer = "base_model.model.model.layers.1.mlp.up_proj.lora_";
    const AdapterCopy tensors("llama");
    tensors.change_tensors([&](StoredTensors& all) {
        all.erase(layer + "B.weight");
        all.begin()->second.shape = {2, 80};
        all["base_model.model.other.lora_A.weight"] = {{1}, {0}};
    });
    CHECK_THAT(tensors.refusal(), contains("adapter_model.safetensors: the adapter does not fit the model",
                                           layer + "B.weight is missing", "has shape (2, 80) where (4, 40) is wanted",
                                           "base_model.model.other.lora_A.weight is not known"));
    tensors.change_tensors([&](StoredTensors& all) {
        for (int i = 0; i < 100; ++i) all[fmt::format("base_model.model.one.that.is.not.known.{}", i)] = {{1}, {0}};
    });
    CHECK_ALL(tensors.refusal().ends_with(" is not known; and more"), tensors.refusal().size() < 4200);
    const AdapterCopy infinite("llama");
    infinite.change_tensors([&](StoredTensors& all) { all[layer + "A.weight"].values[3] = INFINITY; });
    CHECK_THAT(infinite.refusal(), contains(layer + "A.weight holds values that are not finite"));
    const std::string other_model = tests_path("reference/gpt2_tiny");
    const std::tuple<const char*, json, const char*> configs[] = {
        {"llama", {{"r", 5}}, "has shape (4, 24) where (5, 24) is wanted"},
        {"llama",
         {{"base_model_name_or_path", "meta/nowhere"}},
         "the model of this adapter, 'meta/nowhere', is not there"},
        {"qwen3", {{"base_model_name_or_path", other_model}}, "is not known"},
        {"llama", {{"lora_alpha", 1e300}}, "adapter_config.json: lora_alpha 1e+300 is too large"}};
    for (const auto& [name, changes, message] : configs) {
        const AdapterCopy changed(name);
        changed.change([&, &with = changes](auto& j) { j.update(with); });
        CHECK_THAT(changed.refusal(), contains(message));
    }
    const AdapterCopy half("llama");
    fs::remove(half.folder / "adapter_model.safetensors");
    CHECK_THAT(half.refusal(), contains("adapter_model.safetensors"));
    const AdapterCopy broken("llama");
    broken.scratch.write("adapter/adapter_config.json", "[]");
    CHECK_THAT(broken.refusal(), contains("must be a JSON object"));
}
