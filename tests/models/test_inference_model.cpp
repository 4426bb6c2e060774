// Inference against whole forward passes, and its cache, batches, threads and weight types against each other.
#include "models/inference/inference_model.h"

#include <sys/resource.h>

#include <array>
#include <fstream>

#include "engine/base/interrupt.h"
#include "tests/engine/helpers.h"
#include "tests/models/architectures.h"
#include "tests/paths.h"
#include "tests/skip.h"

using namespace inkling;
using namespace inkling::testing;
using namespace inkling::models;
using Tokens = std::vector<std::int32_t>;
using Logits = std::vector<float>;

namespace {

Architecture gpt2(bool bias, std::size_t width = 48) { return gpt2_shape(37, 3, 3, width, 24, 0.0, bias); }

Architecture nanochat(std::size_t kv_heads, bool bias = false) {
    Architecture a = nanochat_shape(37, 3, 4, kv_heads, 48, 24, 0.0, bias);
    a.n_inner = 80;
    return a;
}

Architecture shifting() { return shape_of("inkling", 37, 3, 4, 48, 24, 0.0, false); }

Architecture llama(std::size_t kv_heads, bool tied = false, std::size_t head_dim = 0, bool bias = false) {
    Architecture a = llama_shape(37, 3, 4, kv_heads, 48, 24, 0.0, bias);
    a.n_inner = 80, a.rope_theta = 500;
    a.tied_head = tied, a.head_dim = head_dim;
    return a;
}

// Layers with an attention window and their own rotary base, except every second.
Architecture gemma3(std::size_t window, std::size_t kv_heads) {
    Architecture a = shape_of("gemma3", 37, 3, 4, 48, 24, 0.0, false);
    a.n_kv_head = kv_heads, a.head_dim = 20, a.n_inner = 80, a.score_width = 7;
    a.window = window, a.global_every = 2, a.rope_theta = 50, a.local_rope_theta = 20;
    return a;
}

Architecture mistral(std::size_t window) {
    Architecture a = llama(2);
    a.window = window;
    return a;
}

// Shapes with every choice that changes what is computed.
std::vector<Architecture> shapes() {
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

std::unique_ptr<Transformer<float>> made(const Architecture& config) {
    auto model = std::make_unique<Transformer<float>>(config);
    Generator random{11, 0};
    for (const ParameterSpec& p : parameters(config))
        nn::fill(model->at(p).tensor(), nn::Initial::normal(p.shape.size() == 2 ? 0.15 : 0.5), random);
    return model;  // without dropout, training is as evaluation
}

Tokens some_tokens(std::size_t n, std::uint64_t seed = 1) {
    const IdArray ids = random_ids({n}, 37, seed);
    return {ids.data(), ids.data() + n};
}

Logits step(const InferenceModel& inference, KvCache& cache, std::int32_t token) {
    Logits logits(37);
    inference.step(std::array{&cache}, std::span(&token, 1), logits);
    return logits;
}

Logits prefill(const InferenceModel& inference, KvCache& cache, std::span<const std::int32_t> tokens) {
    Logits logits(37);
    inference.prefill(cache, tokens, logits);
    return logits;
}

double worst(const Logits& a, const float* b) {
    double most = 0;
    for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(static_cast<double>(a[i] - b[i])));
    return most;
}

}  // namespace

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
        }
    }
}

TEST_CASE(
    "inference: a long prompt at once has the bits of the forward pass, and a cache takes one text without a gradient",
    "[models]") {
    for (Architecture config : shapes()) {
        config.block_size = 40;
        INFO(config.family << ", width " << config.n_embd << ", key heads " << config.kv_heads());
        const auto model = made(config);
        const IdArray ids = random_ids({1, 40}, 37, 1);
        const ConstArray<float> whole = model->hidden(ids).value();
        const NoGrad no_grad;
        KvCache cache(config);
        CHECK(same_bits(model->hidden(ids, {.cache = &cache}).value(), whole));
        CHECK(cache.length() == 0);
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
    for (const auto type : {WeightType::fp32, WeightType::bf16, WeightType::q8_0}) {
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

TEST_CASE("inference: a copied cache goes on by itself", "[models]") {
    for (const Architecture& config : {gpt2(true), mistral(7), shifting()}) {
        const auto model = made(config);
        const InferenceModel inference(*model);
        KvCache cache(model->config), assigned(model->config);
        prefill(inference, cache, some_tokens(10));
        KvCache copy = cache, untouched = cache;
        assigned = cache;
        const Logits after_30 = step(inference, copy, 30), expected = step(inference, untouched, 3);
        CHECK(step(inference, cache, 3) == expected);
        CHECK(step(inference, assigned, 30) == after_30);
        KvCache moved = std::move(copy);
        CHECK(step(inference, moved, 3) == step(inference, assigned, 3));
        cache.clear();
        CHECK(cache.length() == 0);
        CHECK(prefill(inference, cache, some_tokens(10)) ==
              prefill(inference, untouched = KvCache(model->config), some_tokens(10)));
    }
}

TEST_CASE("inference: of a layer with a window, a cache holds two windows", "[models]") {
    const auto bytes = [](const Architecture& config, std::size_t prompt) {
        const auto model = made(config);
        const InferenceModel inference(*model);
        KvCache cache(config);
        const Tokens text = some_tokens(24);
        prefill(inference, cache, std::span(text).first(prompt));
        for (std::size_t i = prompt; i < 24; ++i) step(inference, cache, text[i]);
        return cache.bytes() / (2 * config.kv_width() * sizeof(float));
    };
    for (const std::size_t prompt : {1, 7, 24}) {
        CHECK(bytes(llama(2), prompt) == 3 * 24);
        CHECK(bytes(mistral(7), prompt) == 3 * 14);
        CHECK(bytes(mistral(23), prompt) == 3 * 24);        // two windows are more than the context
        CHECK(bytes(gemma3(5, 2), prompt) == 2 * 10 + 24);  // the second of three layers looks at all
    }
    const auto model = made(mistral(7));
    KvCache cache(model->config);
    prefill(InferenceModel(*model), cache, some_tokens(9));
    const float* const key = cache.key(0, 0, 8);
    cache.reserve(24);  // as before each token of a text: nothing moves while the next one has room
    CHECK(cache.key(0, 0, 8) == key);
}

TEST_CASE("inference: reading and forward passes can be interrupted before each layer, and leave what was read",
          "[models]") {
    const Tokens text = some_tokens(20);
    for (const Architecture& config : {gpt2(true), mistral(7)}) {
        const auto model = made(config);
        const InferenceModel inference(*model);
        KvCache whole(config), cache(config), undisturbed(config);
        const Logits expected = prefill(inference, whole, text);
        prefill(inference, cache, std::span(text).first(5));
        prefill(inference, undisturbed, std::span(text).first(5));
        const auto interrupt = [&](int layer) {
            int asked = 0;
            const Interruptible scope([&] { return asked++ == layer; });
            CHECK_THROWS_AS(prefill(inference, cache, std::span(text).subspan(cache.length())), Interrupted);
            CHECK(asked == layer + 1);
        };
        for (int layer = 0; layer < 3; ++layer) interrupt(layer);
        CHECK(cache.length() == 5);
        CHECK(step(inference, cache, text[5]) == step(inference, undisturbed, text[5]));
        interrupt(2);
        CHECK(worst(prefill(inference, cache, std::span(text).subspan(6)), expected.data()) < 1e-5);
    }
    const auto model = made(gpt2(true));
    int asked = 0;
    const IdArray ids({1, 20}, 3);
    const Interruptible scope([&] { return ++asked == 4; });
    CHECK_THROWS_AS(model->loss(ids, ids), Interrupted);  // three layers, and the head
    {
        const Interruptible inner([] { return false; });  // does not hide the outer one
        asked = 3;
        CHECK_THROWS_AS(model->forward(ids), Interrupted);
    }
}

TEST_CASE("inference: a prefill whose callback throws appends nothing", "[models]") {
    const Tokens text = some_tokens(24);
    for (const Architecture& config : {gpt2(true), shifting(), mistral(7), mistral(3)}) {
        const auto model = made(config);
        const InferenceModel inference(*model);
        for (const std::size_t first : {0, 5}) {
            KvCache cache(config), undisturbed(config);
            Logits logits(37);
            if (first > 0) prefill(inference, cache, std::span(text).first(first));
            if (first > 0) prefill(inference, undisturbed, std::span(text).first(first));
            const auto refuse = [](std::size_t i, std::span<const float>) { check(i < 3, "refused"); };
            CHECK_THROWS_WITH(inference.prefill(cache, std::span(text).subspan(first), logits, refuse), "refused");
            CHECK(cache.length() == first);
            CHECK(prefill(inference, cache, std::span(text).subspan(first)) ==
                  prefill(inference, undisturbed, std::span(text).subspan(first)));
        }
    }
}

TEST_CASE("inference: a cache that finds no memory for more tokens stays as it was", "[models]") {
    if (kSanitized) SKIP_TEST("sanitizers have allocators of their own");
    Architecture config = gpt2(true);
    config.block_size = std::size_t{1} << 22;  // a layer's keys take 0.8 GB, its values too
    KvCache cache(config);
    cache.reserve(64);
    const float* const value = cache.value(0, 1, 63);
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit before{};
    getrlimit(RLIMIT_AS, &before);
    const rlimit limit{pages * 4096 + (rlim_t{5} << 28), before.rlim_max};  // 1.3 GB more
    setrlimit(RLIMIT_AS, &limit);
    CHECK_THROWS_AS(cache.reserve(config.block_size), std::bad_alloc);
    setrlimit(RLIMIT_AS, &before);
    CHECK(cache.bytes() == std::size_t{2 * 3 * 64 * 48} * sizeof(float));
    CHECK(cache.value(0, 1, 63) == value);
}

TEST_CASE("inference: mismatched arguments are refused, and caches stay as they were", "[models]") {
    const auto model = made(gpt2(true));
    const InferenceModel inference(*model);
    KvCache cache(model->config);
    CHECK_THROWS_WITH(prefill(inference, cache, {}), contains("1 token to the context of 24"));
    CHECK_THROWS_WITH(prefill(inference, cache, some_tokens(25)), contains("got 25 after 0"));
    CHECK_THROWS_WITH(step(inference, cache, 37), contains("below the vocabulary of 37"));
    CHECK_THROWS_WITH(step(inference, cache, -1), contains("got -1"));
    KvCache other(model->config);
    prefill(inference, cache, some_tokens(3));
    KvCache same = cache;
    KvCache* const twice[] = {&cache, &other, &cache};
    Logits logits(3 * 37);
    CHECK_THROWS_WITH(inference.step(twice, Tokens{1, 2, 3}, logits), contains("got one twice"));
    CHECK(cache.length() == 3);
    CHECK(step(inference, cache, 5) == step(inference, same, 5));
    prefill(inference, other, some_tokens(24));
    CHECK_THROWS_WITH(step(inference, other, 1), contains("got 1 after 24"));
}
