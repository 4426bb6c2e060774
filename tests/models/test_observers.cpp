// Observers of a pass: what they see is what the formulas give, and what they return goes on.
#include "nn/attention/multi_head.h"
#include "tests/models/architectures.h"

using States = std::map<std::string, Tensor<double>>;

static Transformer<double> small_model(const std::string& family, bool tied = true) {
    models::Architecture a = shape_of(family.c_str(), 11, 2, 4, 16, 8, 0, models::family(family).biased);
    a.tied_head = tied;
    Transformer<double> model(a);
    fill_parameters(model, 0.3, {5, 0});
    return model;
}

// Observers of all names, which keep what they see.
static Observers<double> seen_by(const std::vector<std::string>& names, States& states) {
    Observers<double> all;
    for (const std::string& name : names)
        all[name] = [&states, name](const Tensor<double>& x) { return states[name] = x; };
    return all;
}

static Tensor<double> run_with(const Transformer<double>& model, const IdArray& ids,
                               const Observers<double>& observers) {
    return model.logits(model.hidden(ids, {.observers = &observers}), nullptr, &observers);
}

// GPT-2, written down once more. The first layer's output is `given`, where it is defined.
static States by_hand(const Transformer<double>& model, const IdArray& ids, const Tensor<double>& given = {}) {
    using enum ParameterName;
    const std::size_t B = ids.dim(0), T = ids.dim(1), H = model.config.n_head;
    States s;
    const auto module = [&](const std::string& name, const Tensor<double>& y) { return s["transformer." + name] = y; };
    const auto norm = [](const models::Weights<double>& w, const Tensor<double>& x) {
        return layer_norm(x, w.weight.tensor(), w.bias.tensor(), 1e-5);
    };
    Tensor<double> x = module("wte", embedding(ids, model.outer[token_table].weight.tensor())) +
                       slice(model.outer[position_table].weight.tensor(), 0, 0, T);
    for (std::size_t i = 0; i < 2; ++i) {
        const auto& l = model.layers[i];
        const std::string name = "layers." + std::to_string(i) + ".", h = "h." + std::to_string(i) + ".";
        const auto linear_of = [&](ParameterName p, const Tensor<double>& in) {
            return linear(in, l[p].weight, l[p].bias.tensor());
        };
        s[name + "input"] = x;
        const Tensor<double> qkv =
            module(h + "attn.c_attn", linear_of(query_key_value, module(h + "ln_1", norm(l[attention_norm], x))));
        const auto part = [&](std::size_t n) { return nn::split_heads(slice(qkv, 2, 16 * n, 16 * n + 16), H); };
        const Tensor<double> scores = scale(matmul(part(0), transpose(part(1), -2, -1)), 0.5);  // heads of width 4
        const Tensor<double> heads =
            transpose(matmul(softmax(scores, look_ahead_mask(T, T).reshaped({T, T})), part(2)), 1, 2);
        s[name + "heads"] = heads;
        s[name + "attention_output"] =
            module(h + "attn.c_proj", linear_of(attention_output, reshape(heads, {B, T, std::size_t{16}})));
        x = x + s[name + "attention_output"];
        const Tensor<double> inner = module(h + "mlp.c_fc", linear_of(up, module(h + "ln_2", norm(l[mlp_norm], x))));
        s[name + "mlp_output"] = module(h + "mlp.c_proj", linear_of(down, gelu(inner)));
        x = x + s[name + "mlp_output"];
        if (i == 0 && given.defined()) x = given;
        s[name + "output"] = x;
    }
    s["final"] = module("ln_f", norm(model.outer[final_norm], x));
    s["lm_head"] = matmul(s["final"], transpose(model.head().weight.tensor(), 0, 1));
    return s;
}

TEST_CASE("observers: what they see is GPT-2's formulas, and unknown names and shapes are refused", "[models]") {
    for (const bool tied : {true, false}) {
        const Transformer<double> model = small_model("gpt2", tied);
        const IdArray ids = random_ids({2, 7}, 11, 1);
        States seen;
        const ConstArray<double> z = run_with(model, ids, seen_by(model.observable(), seen)).value();
        States expected = by_hand(model, ids);
        check_close(z, expected["lm_head"].value(), 1e-12);
        if (tied) expected.erase("lm_head");  // is the token table, whose output is the embedding
        REQUIRE(seen.size() == expected.size());
        for (const auto& [name, x] : expected) check_close(seen[name].value(), x.value(), 1e-12, name);
    }
    const Transformer<double> model = small_model("gpt2");
    const auto observe = [&](const std::string& name) {
        const Observers<double> observers = {{name, [](const Tensor<double>& x) { return slice(x, 0, 0, 1); }}};
        return model.hidden(random_ids({2, 7}, 11, 1), {.observers = &observers});
    };
    CHECK_THROWS_WITH(observe("layers.1.ouput"), contains("'layers.1.ouput', did you mean layers.1.output"));
    CHECK_THROWS_WITH(observe("layers.2.output"), contains("'layers.2.output'", "N from 0 to 1"));
    for (const char* parameter : {"weight", "bias"})
        CHECK_THROWS_WITH(observe(std::string("transformer.h.0.attn.c_attn.") + parameter),
                          contains("did you mean transformer.h.0.attn."));
    CHECK_THROWS_WITH(observe("layers.1.heads"), contains("layers.1.heads: ", "(2, 7, 4, 4)", "(1, 7, 4, 4)"));
}

TEST_CASE("observers: in every family a layer adds to its input, and a copied value changes no bit", "[models]") {
    for (const std::string& family : models::family_names()) {
        INFO(family);
        const Transformer<double> model = small_model(family);
        const IdArray ids = random_ids({2, 8}, 11, 1);
        States seen;
        Observers<double> observers = seen_by(model.observable(), seen);
        const Tensor<double> hidden = model.hidden(ids, {.observers = &observers});
        CHECK(same_bits(hidden.value(), model.hidden(ids).value()));
        CHECK(same_bits(hidden.value(), seen["final"].value()));
        CHECK(same_bits(seen["layers.0.output"].value(), seen["layers.1.input"].value()));
        for (const std::string layer : {"layers.0.", "layers.1."}) {
            CHECK(seen[layer + "heads"].shape() == Shape{2, 8, 4, model.config.head_size()});
            const Tensor<double> sum =
                seen[layer + "input"] + seen[layer + "attention_output"] + seen[layer + "mlp_output"];
            check_close(seen[layer + "output"].value(), sum.value(), 1e-12);
        }
        for (const std::string& name : model.observable()) {
            if (name == "lm_head") continue;
            Observers<double> copies = {
                {name, [](const Tensor<double>& x) { return Tensor<double>(x.value().clone()); }}};
            INFO(name);
            CHECK(same_bits(model.hidden(ids, {.observers = &copies}).value(), hidden.value()));
        }
    }
}

TEST_CASE("observers: what they return takes a value's place, and gradients flow through it", "[models]") {
    const Transformer<double> model = small_model("gpt2");
    const IdArray ids = random_ids({2, 7}, 11, 1);
    const Array<double> given = normal({2, 7, 16}, 3);
    const auto patched = [&](const Tensor<double>& x) {
        const Observers<double> observers = {{"layers.0.output", [&](const Tensor<double>&) { return x; }}};
        return run_with(model, ids, observers);
    };
    check_close(patched(Tensor<double>(given)).value(), by_hand(model, ids, Tensor<double>(given))["lm_head"].value(),
                1e-12);
    CHECK(gradient_error([&](const Inputs& in) { return patched(in[0]); }, {given}) < 1e-6);

    Transformer<double> kept = small_model("llama");  // recomputed layers would hide what is seen
    kept.checkpoint_activations = true;
    States seen;
    const Observers<double> observers = seen_by({"layers.1.heads"}, seen);
    backward(mean(run_with(kept, ids, observers)));
    CHECK(seen["layers.1.heads"].requires_grad());
}
