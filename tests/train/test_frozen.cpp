// Partly frozen decoders: the rest trains as if the frozen part's gradients were dropped.
#include "engine/autograd/backward.h"
#include "models/inference/inference_model.h"
#include "tests/models/architectures.h"
#include "tests/train/run.h"
#include "train/optimizers/adamw.h"

static Architecture small(const std::string& family) {
    return shape_of(family.c_str(), 29, 2, 2, 32, 16, family == "gpt2" ? 0.2 : 0.0, true);
}

// The matrices of the layers and the tables; norms, biases and an untied head are trained.
static bool is_base(const ParameterSpec& p) { return p.kind.role == Role::matrix || p.kind.role == Role::embedding; }

static Tensor<float> loss_of(const Transformer<float>& model, std::uint64_t step) {
    Generator random{6, step << 20};
    return model.loss(random_ids({4, 16}, 29, 2 * step), random_ids({4, 16}, 29, 2 * step + 1), &random);
}

static std::map<std::string, Array<float>> values(Transformer<float>& model) {
    std::map<std::string, Array<float>> all;
    model.visit(
        {.on_weight = [&](const std::string& name, const Weight<float>& w) { all.emplace(name, w.values().clone()); }});
    return all;
}

TEST_CASE("frozen: the rest trains to the same bits as without the frozen part's updates", "[train]") {
    const std::string name = GENERATE(as<std::string>(), "gpt2", "nanochat", "llama");
    const bool checkpointing = GENERATE(false, true);
    INFO(name << (checkpointing ? ", activations made again" : ""));
    Transformer<float> part(small(name), Generator{5, 0}), whole(small(name), Generator{5, 0});
    part.checkpoint_activations = checkpointing;
    part.freeze({WeightType::fp32}, is_base);
    const auto start = values(part);
    FlatParameters<float> of_part(part), of_whole(whole);
    std::set<std::string> taken;
    for (const auto& e : of_part.entries()) taken.insert(e.name);
    AdamW<float> a(of_part, {}), b(of_whole, {}, [&](const auto&e) { return taken.contains(e.name); });
    CHECK_ALL(a.m.size() == of_part.values().size(), a.m.size() < of_whole.values().size() / 4);
    for (std::uint64_t step = 0; step < 4; ++step)
        for (const auto& [model, flat, optimizer] :
             {std::tuple{&part, &of_part, &a}, std::tuple{&whole, &of_whole, &b}}) {
            flat->zero_gradients();
            backward(loss_of(*model, step));
            optimizer->step(1e-2, 0.5);
        }
    const auto x = values(part), y = values(whole);
    REQUIRE(x.size() == y.size());
    for (const auto& [parameter, trained] : x) {
        INFO(parameter);
        CHECK(same_bits(trained, y.at(parameter)));
        CHECK(same_bits(trained, start.at(parameter)) == !taken.contains(parameter));
    }
}

TEST_CASE("frozen: packed weights give the loss and gradients of the widened ones", "[train]") {
    const std::string name = GENERATE(as<std::string>(), "gpt2", "nanochat", "llama");
    for (const WeightType type : {WeightType::bf16, WeightType::q8_0})
        for (const Precision precision : {Precision::fp32, Precision::bf16}) {
            INFO(name << (type == WeightType::bf16 ? ", bf16" : ", q8_0"));
            const WithPrecision scope(precision);
            Transformer<float> packed(small(name), Generator{5, 0}), plain(small(name), Generator{5, 0});
            packed.freeze({type}, is_base);
            std::size_t matrices = 0, bytes = 0;
            for (const ParameterSpec& p : parameters(packed.config)) {
                const Weight<float>& weight = packed.at(p);
                CHECK((weight.packed() != nullptr) == (is_base(p) && p.name != ParameterName::position_table));
                if (!weight.packed()) continue;
                matrices += weight.size();
                bytes += weight.packed()->bytes();
                plain.at(p).tensor().value_in_place() = weight.values();
            }
            CHECK(bytes == (type == WeightType::bf16 ? 2 * matrices : matrices * 34 / 32));
            CHECK(packed.parameter_count() == plain.parameter_count());
            CHECK(packed.parameter_count() == parameter_count(packed.config));
            FlatParameters<float> of_packed(packed);
            const Tensor<float> a = loss_of(packed, 1), b = loss_of(plain, 1);
            CHECK(same_bits(a.value(), b.value()));
            backward(a), backward(b);
            for (const auto& [parameter, p] : packed.parameters()) {
                if (!p.requires_grad()) continue;
                INFO(parameter);
                for (const auto& [other, q] : plain.parameters())
                    if (other == parameter) CHECK(same_bits(p.grad(), q.grad()));
            }
        }
}

TEST_CASE("frozen: a packed model is saved, written with and evaluated as its widened numbers", "[train]") {
    const ScratchFolder scratch;
    Run run(small_options());
    Transformer<float>& model = *run.model;
    Transformer<float> packed(model.config, Generator{run.options.seed, 0});
    packed.freeze({WeightType::bf16});
    save_model(scratch.path(), packed, run.tokenizer);
    const auto loaded = load_model(scratch.path());
    const auto x = values(packed), y = values(*loaded.model);
    for (const auto& [name, value] : x) WITH_INFO(name, CHECK(same_bits(value, y.at(name))));
    packed.eval();
    for (const WeightType type : {WeightType::fp32, WeightType::bf16, WeightType::q8_0}) {
        const InferenceModel a(packed, type), b(*loaded.model, type);
        KvCache of_a(packed.config), of_b(packed.config);
        std::vector<float> p(packed.config.vocab_size), q(p.size());
        const std::vector<std::int32_t> text = {1, 2, 3};
        a.prefill(of_a, text, p), b.prefill(of_b, text, q);
        CHECK(p == q);
    }
}

TEST_CASE("frozen: a run trains the rest, and goes on from a checkpoint to the same bits", "[train]") {
    const auto frozen_model = [](std::unique_ptr<Transformer<float>> model) {
        model->freeze([](const std::string& name) { return name.find(".attn.") != std::string::npos; });
        model->train();
        return model;
    };
    TrainOptions o = small_options();
    o.arch = "gpt2", o.max_iters = 6, o.save_every = 3;
    const ScratchFolder scratch;
    const auto fresh = [&] {
        Run made(o);
        return frozen_model(std::move(made.model));
    };
    TrainOptions shorter = o;
    shorter.max_iters = 3;
    Run straight(o, letters(600), fresh()), half(shorter, letters(600), fresh());
    const auto start = values(*straight.model);
    for (int i = 0; i < 6; ++i) straight.step();
    for (const auto& [name, now] : values(*straight.model))
        CHECK(same_bits(now, start.at(name)) == (name.find(".attn.") != std::string::npos));

    RunFolder folder(scratch.path("run"));
    half.to_end(&folder);
    const fs::path newest = folder.checkpoints().front();
    Run rest(o, letters(600), frozen_model(load_model(newest, o.dropout).model));
    rest.resume(newest, true);
    for (int i = 0; i < 3; ++i) rest.step();
    CHECK(same_bits(rest.weights(), straight.weights()));
    // frozen weights also belong to the checkpoint
    Run other(o, letters(600), frozen_model(load_model(newest, o.dropout).model));
    for (auto& [name, p] : other.model->parameters())
        if (!p.requires_grad()) p.value_in_place() *= 2;
    CHECK_THROWS_WITH(other.resume(newest, true), contains("is damaged"));
}
