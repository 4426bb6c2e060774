// What a cache holds, and what leaves it as it was.
#include <sys/resource.h>

#include "engine/base/interrupt.h"
#include "tests/models/inference.h"

TEST_CASE("inference: a copied cache goes on by itself, and a window needs two windows", "[models]") {
    for (const Architecture& config : {gpt2(true), mistral(7), shifting()}) {
        const auto model = made(config);
        const InferenceModel inference(*model);
        KvCache cache(model->config), assigned(model->config);
        prefill(inference, cache, some_tokens(10));
        KvCache copy = cache, untouched = cache;
        assigned = cache;
        const Logits after_30 = step(inference, copy, 30), expected = step(inference, untouched, 3);
        CHECK_ALL(step(inference, cache, 3) == expected, step(inference, assigned, 30) == after_30);
        KvCache moved = std::move(copy);
        CHECK(step(inference, moved, 3) == step(inference, assigned, 3));
        cache.clear();
        CHECK(cache.length() == 0);
        CHECK(prefill(inference, cache, some_tokens(10)) ==
              prefill(inference, untouched = KvCache(model->config), some_tokens(10)));
    }
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
        CHECK_ALL(bytes(llama(2), prompt) == 3 * 24, bytes(mistral(7), prompt) == 3 * 14);
        CHECK(bytes(mistral(23), prompt) == 3 * 24);        // two windows are more than the context
        CHECK(bytes(gemma3(5, 2), prompt) == 2 * 10 + 24);  // the second of three layers looks at all
    }
    const auto model = made(mistral(7));
    KvCache cache(model->config);
    prefill(InferenceModel(*model), cache, some_tokens(9));
    const void* const key = cache.keys(0, 0, 8).data;
    cache.reserve(24);  // as before each token of a text: nothing moves while the next one has room
    CHECK(cache.keys(0, 0, 8).data == key);
}

TEST_CASE("inference: prefill and forward passes can be interrupted before each layer", "[models]") {
    const Tokens text = some_tokens(20);
    for (const Architecture& config : {gpt2(true), mistral(7)}) {
        const auto model = made(config);
        const InferenceModel inference(*model);
        KvCache whole(config), cache(config), undisturbed(config);
        const Logits expected = prefill(inference, whole, text);
        prefill(inference, cache, std::span(text).first(5)), prefill(inference, undisturbed, std::span(text).first(5));
        const auto interrupt = [&](int layer) {
            int asked = 0;
            const Interruptible scope([&] { return asked++ == layer; });
            CHECK_THROWS_AS(prefill(inference, cache, std::span(text).subspan(cache.length())), Interrupted);
            CHECK(asked == layer + 1);
        };
        for (int layer = 0; layer < 3; ++layer) interrupt(layer);
        CHECK_ALL(cache.length() == 5, step(inference, cache, text[5]) == step(inference, undisturbed, text[5]));
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

TEST_CASE("inference: a prefill whose callback throws, or that finds no memory, appends nothing", "[models]") {
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
    if (kSanitized) SKIP_TEST("sanitizers have allocators of their own");
    Architecture config = gpt2(true);
    config.block_size = std::size_t{1} << 22;  // a layer's keys take 0.8 GB, its values too
    KvCache cache(config);
    cache.reserve(64);
    const void* const value = cache.values(0, 1, 63).data;
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit before{};
    getrlimit(RLIMIT_AS, &before);
    const rlimit limit{pages * 4096 + (rlim_t{5} << 28), before.rlim_max};  // 1.3 GB more
    setrlimit(RLIMIT_AS, &limit);
    CHECK_THROWS_AS(cache.reserve(config.block_size), std::bad_alloc);
    setrlimit(RLIMIT_AS, &before);
    CHECK_ALL(cache.bytes() == std::size_t{2 * 3 * 64 * 48} * sizeof(float), cache.values(0, 1, 63).data == value);
}

TEST_CASE("inference: mismatched arguments are refused, and caches stay as they were", "[models]") {
    const auto model = made(gpt2(true));
    const InferenceModel inference(*model);
    KvCache cache(model->config);
    CHECK_THROWS_WITH(prefill(inference, cache, {}), contains("expected 1 to 24 tokens"));
    CHECK_THROWS_WITH(prefill(inference, cache, some_tokens(25)), contains("got 25 after 0"));
    CHECK_THROWS_WITH(step(inference, cache, 37), contains("below the vocabulary of 37"));
    CHECK_THROWS_WITH(step(inference, cache, -1), contains("got -1"));
    KvCache other(model->config);
    prefill(inference, cache, some_tokens(3));
    KvCache same = cache;
    KvCache* const twice[] = {&cache, &other, &cache};
    Logits logits(3 * 37);
    CHECK_THROWS_WITH(inference.step(twice, Tokens{1, 2, 3}, logits), contains("got one twice"));
    CHECK_ALL(cache.length() == 3, step(inference, cache, 5) == step(inference, same, 5));
    prefill(inference, other, some_tokens(24));
    CHECK_THROWS_WITH(step(inference, other, 1), contains("got 1 after 24"));
}
