// Properties of the models of every family: initial values, loss, and the tokens that a token depends on.
#include "tests/models/architectures.h"

// 4 heads, and half as many of keys and values in families that allow fewer.
static Architecture small_shape(const std::string& name, double dropout = 0) {
    const models::Family& family = models::family(name);
    Architecture a = shape_of(name.c_str(), 11, 2, 4, 16, 8, dropout, family.biased);
    if (family.has_flag("n-kv-head")) a.n_kv_head = 2;
    return a;
}

static Architecture middle_shape(const std::string& name, std::size_t vocabulary = 65) {
    Architecture a = small_shape(name);
    a.vocab_size = vocabulary, a.n_layer = 4, a.n_embd = 128, a.block_size = 64;
    return a;
}

TEST_CASE("every family: initial values are GPT-2's, and dropout acts in training alone", "[models]") {
    for (const std::string& family : models::family_names()) {
        Transformer<float> model(middle_shape(family), Generator{1, 0});
        for (const models::ParameterSpec& p : models::parameters(model.config)) {
            const ConstArray<float> values = model.at(p).value();
            INFO(family << ": parameter " << static_cast<int>(p.name) << ", slot " << static_cast<int>(p.slot));
            const bool back = p.name == ParameterName::attention_output || p.name == ParameterName::down;
            if (values.rank() == 2) {
                CHECK(deviation_of(values) == Approx(back ? 0.02 / std::sqrt(8.0) : 0.02).epsilon(0.03));
                CHECK(std::abs(mean_of(values)) < 0.001);
            } else {
                const bool one = is_norm(p.name) && p.slot == models::Slot::weight && !adds_one(model.config, p);
                CHECK_ALL(deviation_of(values) == 0, mean_of(values) == (one ? 1 : 0));
            }
        }
    }
    for (const std::string& family : models::family_names()) {
        INFO(family);
        Transformer<float> model(small_shape(family, 0.5));
        const IdArray ids = random_ids({2, 8}, 11, 1);
        Generator random{1, 0};
        const auto hidden = [&] { return model.hidden(ids, {.random = &random}).value(); };
        const ConstArray<float> first = hidden();
        CHECK_FALSE(same_bits(first, hidden()));
        random = {1, 0};
        CHECK(same_bits(first, hidden()));
        CHECK_THROWS_WITH(model.forward(ids), contains("pass a Generator"));
        model.eval();
        CHECK(same_bits(model.forward(ids).value(), model.forward(ids).value()));
    }
}

TEST_CASE("every family: the first loss is near ln V, and no token changes earlier logits", "[models][unsanitized]") {
    for (const std::string& family : models::family_names())
        for (const std::size_t vocabulary : {27, 1000}) {
            INFO(family << ", vocabulary " << vocabulary);
            const Transformer<float> model(middle_shape(family, vocabulary), Generator{vocabulary, 0});
            const IdArray ids = random_ids({12, 64}, vocabulary, 1), targets = random_ids({12, 64}, vocabulary, 2);
            CHECK(model.loss(ids, targets).item() == Approx(std::log(static_cast<double>(vocabulary))).epsilon(0.02));
        }
    for (const std::string& family : models::family_names())
        for (const Architecture& config : {small_shape(family), middle_shape(family)}) {
            const Transformer<float> model(config);
            const std::size_t T = config.block_size, V = config.vocab_size;
            const IdArray ids = random_ids({2, T}, V, 1);
            const ConstArray<float> before = model.forward(ids).value();
            for (const std::size_t from : {std::size_t{1}, T / 2, T - 1}) {
                IdArray changed = ids.clone();
                for (std::size_t b = 0; b < 2; ++b)
                    for (std::size_t t = from; t < T; ++t) {
                        std::int32_t& id = changed.data()[b * T + t];
                        id = static_cast<std::int32_t>((static_cast<std::size_t>(id) + 1 + t) % V);
                    }
                const ConstArray<float> after = model.forward(changed).value();
                INFO(family << ", context " << T << ", changed from " << from);
                CHECK(same_bits(before.sliced(1, 0, from), after.sliced(1, 0, from)));
                CHECK_FALSE(same_bits(before.sliced(1, from, from + 1), after.sliced(1, from, from + 1)));
            }
        }
}
