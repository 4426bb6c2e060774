// Muon against torch.optim.Muon, its Newton-Schulz iteration against known bounds, and the parameters that use AdamW.
#include "train/optimizers/muon.h"

#include "engine/array/gemm.h"
#include "tests/train/parameters.h"
#include "train/optimizers/newton_schulz.h"

static Array<double> after_a_step(const Array<double>& start, const Array<double>& g, const nn::ParameterKind& kind,
                                  const MuonOptions& options, double rate) {
    Named<double> module({{"weight", start}}, {{"weight", kind}});
    nn::FlatParameters<double> flat(module);
    Muon<double> muon(flat, options);
    set_gradient(flat, "weight", g);
    muon.step(rate);
    return module["weight"].clone();
}

TEMPLATE_TEST_CASE("PyTorch agrees: 6 steps of Muon, wide, tall and square", "[train]", float, double) {
    const double tolerance = std::is_same_v<T, double> ? 1e-6 : 1e-4;  // |u| + 1e-7 here, max(|u|, 1e-7) there
    const auto cases = reference("optimizers.json")["muon"];
    REQUIRE(cases.size() == 9);
    for (const auto& c : cases) {
        Named<T> module({{"mlp.c_fc.weight", array_from<T>(c["start"])}});
        nn::FlatParameters<T> flat(module);
        MuonOptions options;
        options.momentum = c["momentum"], options.nesterov = c["nesterov"], options.ns_steps = c["ns_steps"];
        options.weight_decay = c["weight_decay"];
        options.scale = c["adjust_lr_fn"] == "original" ? train::MuonScale::original : train::MuonScale::adamw;
        Muon<T> muon(flat, options);
        for (const auto& step : c["steps"]) {
            set_gradient(flat, "mlp.c_fc.weight", array_from<T>(step["gradient"]));
            muon.step(step["rate"].get<double>());
            check_close(module["mlp.c_fc.weight"], array_from<double>(step["after"]), tolerance);
        }
    }
}

TEST_CASE("muon: embeddings, heads, vectors and stacks of matrices go by AdamW at their own rate", "[train]") {
    const std::vector<std::pair<std::string, Array<double>>> starts = {{"wte.weight", normal({5, 4}, 1)},
                                                                       {"h.0.attn.c_attn.weight", normal({12, 4}, 2)},
                                                                       {"lm_head.weight", normal({5, 4}, 3)},
                                                                       {"h.0.ln_1.weight", normal({4}, 4)},
                                                                       {"stack", normal({2, 4, 6}, 5)}};  // of matrices
    const std::map<std::string, nn::ParameterKind> kinds = {{"wte.weight", {Role::embedding}},
                                                            {"h.0.attn.c_attn.weight", {Role::matrix, 3, 4}},
                                                            {"lm_head.weight", {Role::head}}};
    Named<double> a(starts, kinds), b(starts, kinds);
    nn::FlatParameters<double> flat_a(a), flat_b(b);
    MuonOptions options;
    options.adamw.rates = {0.5, 0.5, 0.5, 0.5};
    Muon<double> muon(flat_a, options);
    train::AdamW<double> adamw(flat_b, {});
    for (std::uint64_t i = 0; i < 3; ++i) {
        for (const auto& [name, start] : starts) {
            set_gradient(flat_a, name, normal(start.shape(), 10 + i));
            set_gradient(flat_b, name, normal(start.shape(), 10 + i));
        }
        muon.step(0.02), adamw.step(0.01);
    }
    for (const char* name : {"wte.weight", "lm_head.weight", "h.0.ln_1.weight", "stack"})
        WITH_INFO(name, CHECK(same_bits(a[name], b[name])));
    CHECK_ALL(!same_bits(a["h.0.attn.c_attn.weight"], b["h.0.attn.c_attn.weight"]), muon.updates == 3);
    for (const auto& entry : flat_a.entries()) {
        const auto state = muon.state_of(entry);
        const bool is_matrix = entry.name == "h.0.attn.c_attn.weight";
        REQUIRE(state.size() == (is_matrix ? 1u : 2u));
        CHECK((std::string(state[0].kind) == "adamw.m") == !is_matrix);
    }
}

TEST_CASE("muon: query, key and value are matrices of their own, and so are heads when asked", "[train]") {
    const auto update = [](const nn::ParameterKind& kind, bool split_heads, const Array<double>& g) {
        return after_a_step(Array<double>(g.shape(), 0.0), g, kind, {.split_heads = split_heads}, 1);
    };
    // The step if the rows are `maps` stacked matrices.
    const auto expected = [&](const Array<double>& g, std::size_t maps) {
        const std::size_t rows = g.dim(0) / maps;
        const double length = std::sqrt(std::max(1.0, static_cast<double>(rows) / static_cast<double>(g.dim(1))));
        return Array<double>(newton_schulz(g.reshaped({maps, rows, g.dim(1)}), 5).reshaped(g.shape()) * -length);
    };
    const nn::ParameterKind packed{Role::matrix, 3, 3}, heads{Role::matrix, 1, 3}, plain{Role::matrix};
    const Array<double> qkv = normal({18, 6}, 5), key = normal({6, 12}, 6), out = normal({12, 12}, 7);
    check_close(update(packed, false, qkv), expected(qkv, 3), 1e-5);  // 2 heads of 3, 6 wide
    check_close(update(packed, true, qkv), expected(qkv, 6), 1e-5);
    CHECK_FALSE(same_bits(update(packed, false, qkv), update(packed, true, qkv)));
    check_close(update(heads, false, key), expected(key, 1), 1e-5);
    check_close(update(heads, true, key), expected(key, 2), 1e-5);
    for (const bool split : {false, true}) check_close(update(plain, split, out), expected(out, 1), 1e-5);
}

TEST_CASE("muon: scale rows gives all rows of an update one length, and the matrix the length that it had", "[train]") {
    const auto update = [](train::MuonScale scale, const Array<double>& g, const nn::ParameterKind& kind) {
        return after_a_step(Array<double>(g.shape(), 0.0), g, kind, {.scale = scale, .split_heads = true}, 1);
    };
    const auto dot = [](const double* a, const double* b, std::size_t n) {
        return std::inner_product(a, a + n, b, 0.0);
    };
    struct Case {
        Shape shape;
        nn::ParameterKind kind;
        std::size_t maps;
    };
    for (const Case& c : {Case{{24, 6}, {Role::matrix}, 1}, Case{{6, 24}, {Role::matrix}, 1},
                          Case{{18, 7}, {Role::matrix, 3, 3}, 6}, Case{{1, 5}, {Role::matrix}, 1}}) {
        INFO(to_string(c.shape));
        const Array<double> g = normal(c.shape, 5), before = update(train::MuonScale::original, g, c.kind);
        const Array<double> after = update(train::MuonScale::rows, g, c.kind);
        const std::size_t C = c.shape[1], rows = c.shape[0] / c.maps;
        for (std::size_t map = 0; map < c.maps; ++map) {
            const double *const a = before.data() + map * rows * C, *const b = after.data() + map * rows * C;
            const double length = std::sqrt(dot(a, a, rows * C) / static_cast<double>(rows));
            for (std::size_t r = 0; r < rows; ++r) {
                const double *const x = a + r * C, *const y = b + r * C;
                CHECK(std::sqrt(dot(y, y, C)) == Approx(length).epsilon(1e-5));
                CHECK(dot(x, y, C) == Approx(std::sqrt(dot(x, x, C) * dot(y, y, C))).epsilon(1e-9));  // no other way
            }
        }
        if (rows == 24) CHECK_FALSE(dot(before.data(), before.data(), C) == Approx(dot(after.data(), after.data(), C)));
    }
    Array<double> g = normal({8, 4}, 6);  // a neuron that has no gradient does not move
    std::fill_n(g.data() + 4, 4, 0.0);
    const Array<double> after = update(train::MuonScale::rows, g, {Role::matrix});
    for (std::size_t i = 4; i < 8; ++i) CHECK(after.data()[i] == 0);
    const Array<double> still = update(train::MuonScale::rows, Array<double>({3, 4}, 0.0), {Role::matrix});
    CHECK(same_bits(still, Array<double>({3, 4}, 0.0)));
}

TEST_CASE("muon: a cautious decay, and matrices of one shape are updated as alone", "[train]") {
    const Array<double> start = normal({6, 8}, 1), g = normal({6, 8}, 2);
    const auto after = [&](double weight_decay, bool cautious) {
        return after_a_step(start, g, {Role::matrix}, {.weight_decay = weight_decay, .cautious = cautious}, 0.1);
    };
    const Array<double> without = after(0, false), all = after(0.5, false), some = after(0.5, true);
    CHECK(same_bits(after(0, true), without));
    std::size_t decayed = 0;
    for (std::size_t i = 0; i < start.size(); ++i) {
        const double before = start.data()[i], step = before - without.data()[i];
        CHECK(some.data()[i] == (before * step > 0 ? all : without).data()[i]);
        decayed += before * step > 0;
    }
    CHECK_ALL(decayed > 10, decayed < 38);
    std::vector<std::pair<std::string, Array<double>>> starts;
    for (const char* name : {"h.0.mlp.c_fc.weight", "h.0.mlp.c_proj.weight", "h.1.mlp.c_fc.weight"})
        starts.emplace_back(name, normal(starts.size() == 1 ? Shape{4, 9} : Shape{9, 4}, 7));
    Named<double> together(starts);
    nn::FlatParameters<double> flat(together);
    Muon<double> muon(flat, {});
    const auto step = [](auto& optimizer, auto& parameters) {
        for (std::uint64_t i = 0; i < 2; ++i) {
            for (const auto& e : parameters.entries())
                set_gradient(parameters, e.name, normal(e.parameter.shape(), i + e.name[2] * 10u));
            optimizer.step(0.1);
        }
    };
    step(muon, flat);
    for (const auto& own : starts) {
        Named<double> one({own});
        nn::FlatParameters<double> alone(one);
        Muon<double> single(alone, {});
        step(single, alone);
        check_close(together[own.first], one[own.first], 1e-14, own.first);
    }
    CHECK(muon.state_of(flat.entries()[2])[0].values != muon.state_of(flat.entries()[0])[0].values);
}

TEST_CASE("muon: the same bits with any number of threads, in fp32 and bf16", "[train][unsanitized]") {
    for (const Precision precision : {Precision::fp32, Precision::bf16})
        check_same_with_any_threads("muon", [&] {
            const WithPrecision scope(precision);
            Named<float> module({{"attn.c_attn.weight", random_array<float>({3 * 96, 96}, 1)},
                                 {"mlp.c_fc.weight", random_array<float>({384, 96}, 2)},
                                 {"mlp.c_proj.weight", random_array<float>({96, 384}, 3)},
                                 {"wte.weight", random_array<float>({301, 96}, 4)}},
                                {{"attn.c_attn.weight", {Role::matrix, 3, 32}}, {"wte.weight", {Role::embedding}}});
            nn::FlatParameters<float> flat(module);
            MuonOptions options;
            options.split_heads = true, options.scale = train::MuonScale::rows;
            Muon<float> muon(flat, options);
            for (std::uint64_t i = 0; i < 2; ++i) {
                for (const auto& e : flat.entries())
                    set_gradient(flat, e.name, random_array<float>(e.parameter.shape(), 20 + i));
                muon.step(0.02, 0.5);
            }
            return std::vector<Array<float>>{flat.values()};
        });
}
