// Inference against whole forward passes, and its batches, threads and weight types against each other.
#include "tests/models/inference.h"

// Shapes with every choice that changes what is computed.
static std::vector<Architecture> shapes() {
    std::vector<Architecture> all = {gpt2(true), gpt2(false), gpt2(true, 9), nanochat(4), nanochat(2), nanochat(1)};
    all.insert(all.end(), {nanochat(2, true), llama(4), llama(2, true), llama(1, false, 20), llama(2, true, 6, true)});
    all.push_back(shifting());
    all.insert(all.end(), {gemma3(5, 2), gemma3(1, 1), gemma3(40, 4), mistral(7)});
    const auto add = [&](Architecture a, const auto& change) { change(a), all.push_back(a); };
    for (const HeadNorm norm : {HeadNorm::before_rotary, HeadNorm::after_rotary})
        add(llama(2), [&](auto& a) { a.head_norm = norm, a.head_norm_gain = true; });
    add(llama(2), [](auto& a) { a.positions = Positions::learned, a.embedding_norm = true; });
    for (const bool parallel : {true, false})
        add(shape_of("gpt-neox", 37, 3, 3, 48, 24, 0.0, true),
            [&](auto& a) { a.rotary_part = parallel ? 0.25 : 0.5, a.parallel_residual = parallel; });
    for (const auto activation : {Activation::gelu_erf, Activation::relu, Activation::silu})
        add(gpt2(true),
            [&](auto& a) { a.activation = activation, a.scale_by_layer = true, a.tied_head = false, a.n_inner = 50; });
    for (const RopeOptions& rope : {RopeOptions{RopeScaling::linear, 2.5}, {RopeScaling::llama3, 4, 1, 4, 16}})
        add(llama(2, true), [&](auto& a) { a.rope = rope, a.rope_theta = 20; });
    return all;
}

// Whether a cache in float16 rounds nothing.
static bool same_bits_with_f16(const InferenceModel& inference, const Tokens& text) {
    KvCache half(inference.config(), CacheType::f16), full(inference.config());
    return prefill(inference, half, text) == prefill(inference, full, text);
}

TEST_CASE("inference: token by token, in pieces and at once are the whole forward pass", "[models]") {
    for (Architecture config : shapes()) {
        config.block_size = 40;  // of which prompts of up to 24 are multiplied row by row
        const auto model = made(config);
        const Tokens text = some_tokens(40);
        const ConstArray<float> z = model->forward(row_of(text)).value().contiguous();
        const auto expected = [&](std::size_t i) { return z.data() + i * 37; };
        const InferenceModel inference(*model);
        INFO(config.family << ", width " << config.n_embd << ", key heads " << config.kv_heads() << ", head size "
                           << config.head_size());
        KvCache by_token(config);
        for (std::size_t i = 0; i < 40; ++i) CHECK(worst(step(inference, by_token, text[i]), expected(i)) < 2e-5);
        for (const std::size_t cut : {1, 5, 17, 35}) {
            KvCache pieces(config);
            CHECK(worst(prefill(inference, pieces, std::span(text).first(cut)), expected(cut - 1)) < 2e-5);
            CHECK(worst(prefill(inference, pieces, std::span(text).subspan(cut)), expected(39)) < 2e-5);
            KvCache prompt(config);
            prefill(inference, prompt, std::span(text).first(cut));
            for (std::size_t i = cut; i < 40; ++i) CHECK(worst(step(inference, prompt, text[i]), expected(i)) < 2e-5);
            KvCache half(config, CacheType::f16);
            CHECK(worst(prefill(inference, half, std::span(text).first(cut)), expected(cut - 1)) < 2e-2);
            KvCache copy = half;
            CHECK(worst(prefill(inference, half, std::span(text).subspan(cut)), expected(39)) < 2e-2);
            for (std::size_t i = cut; i < 40; ++i) CHECK(worst(step(inference, copy, text[i]), expected(i)) < 2e-2);
            CHECK(copy.bytes() == (config.head_size() + 1) / 2 * by_token.bytes() / config.head_size());
        }
        CHECK_FALSE(same_bits_with_f16(inference, text));
    }
}

TEST_CASE("inference: a long prompt at once has the forward pass's bits, a cache takes one text", "[models]") {
    for (Architecture config : shapes()) {
        config.block_size = 40;
        INFO(config.family << ", width " << config.n_embd << ", key heads " << config.kv_heads());
        const auto model = made(config);
        const IdArray ids = random_ids({1, 40}, 37, 1);
        const ConstArray<float> whole = model->hidden(ids).value();
        const NoGrad no_grad;
        KvCache cache(config);
        CHECK_ALL(same_bits(model->hidden(ids, {.cache = &cache}).value(), whole), cache.length() == 0);
        cache.advance(40);
        CHECK(cache.length() == 40);
    }
    const auto model = made(gpt2(true));
    KvCache cache(model->config);
    const HiddenOptions<float> options{.cache = &cache};
    CHECK_THROWS_WITH(model->hidden(IdArray({1, 2}, 0), options), contains("without a gradient"));
    const NoGrad no_grad;
    CHECK_THROWS_WITH(model->hidden(IdArray({2, 2}, 0), options), contains("for one text"));
    CHECK_THROWS_WITH(model->hidden(IdArray({1, 25}, 0), options), contains("the context of 24"));
    CHECK(cache.length() == 0);
    CHECK_THROWS_WITH(Transformer<double>(model->config).hidden(IdArray({1, 2}, 0), {.cache = &cache}),
                      contains("in float32"));
}

TEST_CASE("inference: a text has the same bits alone, in a batch and with any number of threads", "[models][slow]") {
    for (const auto type : {WeightType::fp32, WeightType::bf16, WeightType::q8_0})
        for (Architecture config : {gpt2(true, 96), nanochat(2), llama(2, true, 80), shifting()}) {
            config.n_embd = 288;  // enough for several threads, the smaller types in batches
            config.n_inner = 0;   // 4 times as wide
            const auto model = made(config);
            const InferenceModel inference(*model, type);
            CHECK(inference.worthwhile_threads(7) >= 3);
            CHECK(inference.worthwhile_threads(1, 1 << 20) > 100);  // keys and values are read, too
            const auto texts = [&](std::size_t batch) {
                std::vector<KvCache> caches;
                for (std::size_t b = 0; b < batch; ++b) {
                    caches.emplace_back(config);
                    prefill(inference, caches[b], some_tokens(1 + b, b));  // of different lengths
                }
                std::vector<KvCache*> pointers;
                for (KvCache& c : caches) pointers.push_back(&c);
                Logits logits(batch * 37), all;
                for (std::int32_t i = 0; i < 5; ++i) {
                    const Tokens next(batch, i);
                    inference.step(pointers, next, logits);
                    all.insert(all.end(), logits.begin(), logits.begin() + 37);  // of the first text
                }
                return of<float>({all.begin(), all.end()});
            };
            check_same_with_any_threads("inference", [&] { return std::vector{texts(1), texts(7)}; });
            for (const std::size_t batch : {2, 4, 5, 9}) CHECK(same_bits(texts(1), texts(batch)));
        }
}

TEST_CASE("inference: bf16 and q8_0 are the model with rounded weights", "[models]") {
    for (const Architecture& config : {gpt2(true, 96), nanochat(2), llama(2), llama(2, true, 32)}) {
        const auto model = made(config);
        const Tokens text = some_tokens(20);
        for (const auto type : {WeightType::bf16, WeightType::q8_0}) {
            const InferenceModel inference(*model, type);
            const auto rounded = made(config);
            for (const ParameterSpec& p : parameters(config))
                if (may_be_packed(p) && p.name != ParameterName::token_table)  // the table stays as it is
                    rounded->at(p) = Tensor<float>(rounded->at(p).as(type).values());
            const InferenceModel expected(*rounded);
            KvCache a(config), b(config), c(config);
            Logits stepped, same;
            for (const std::int32_t token : text) {
                stepped = step(inference, a, token);
                same = step(expected, b, token);
            }
            INFO(config.family << (type == WeightType::bf16 ? ", bf16" : ", q8_0"));
            CHECK(worst(stepped, same.data()) <
                  0.1);  // activations are rounded, too, and tied heads, which `expected` has not
            CHECK(worst(stepped, prefill(inference, c, text).data()) < 0.05);
        }
    }
}
