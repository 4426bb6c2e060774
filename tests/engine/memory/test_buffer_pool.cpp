// The buffer pool: alignment, reuse, statistics, and that training in a steady state takes no more memory from the
// system.
#include "engine/memory/buffer_pool.h"

#include <new>

#include "engine/process/memory.h"

TEST_CASE("buffer_pool: buffers hold what was asked for, and are handed out again when they are freed", "[engine]") {
    for (std::size_t bytes = 0; bytes < (std::size_t{5} << 20); bytes = bytes * 9 / 8 + 1) {
        const Buffer buffer(bytes);
        INFO(bytes << " bytes");
        CHECK(reinterpret_cast<std::uintptr_t>(buffer.data) % (buffer.capacity >= (2u << 20) ? 2u << 20 : 64) == 0);
        CHECK_ALL(buffer.capacity >= bytes, buffer.capacity <= bytes + bytes / 4 + 64);
        std::memset(buffer.data, 0xff, buffer.capacity);
    }
    const std::size_t bytes = 777777;  // a freed buffer is handed out again
    const void* first = nullptr;
    { first = Buffer(bytes).data; }
    const PoolStatistics before = pool_statistics();
    {
        const Buffer again(bytes - 1000);  // of the same size class
        CHECK_ALL(again.data == first, again.version == 0);
        const PoolStatistics during = pool_statistics();
        CHECK_ALL(during.system_allocations == before.system_allocations, during.requests == before.requests + 1);
        CHECK(during.bytes_in_use == before.bytes_in_use + again.capacity);
        CHECK(during.bytes_cached == before.bytes_cached - again.capacity);
        CHECK(during.peak_bytes >= during.bytes_in_use);
        const Buffer second(bytes);  // the first is in use
        CHECK(second.data != first);
    }
    CHECK(pool_statistics().bytes_in_use == before.bytes_in_use);
}

TEST_CASE("buffer_pool: external memory never enters the pool, and ops do not overwrite it", "[engine]") {
    alignas(64) static double memory[777];
    std::fill_n(memory, 777, 2.0);
    const auto nothing = std::shared_ptr<void>(), keeper = std::shared_ptr<void>(memory, [](void*) {});
    CHECK_FALSE(Array<double>().can_overwrite());
    CHECK(Array<double>({3}).can_overwrite());
    for (const auto& owner : {nothing, keeper}) {
        const std::size_t cached = pool_statistics().bytes_cached, in_use = pool_statistics().bytes_in_use;
        const auto outside = [&] { return Array<double>::over(memory, {777}, {1}, owner); };
        {
            const Array<double> view = outside();
            CHECK_FALSE(view.can_overwrite());
        }
        CHECK_ALL(pool_statistics().bytes_cached == cached, pool_statistics().bytes_in_use == in_use);
        CHECK(Array<double>({777}).data() != memory);
        using D = Tensor<double>;
        check_equal(exp(D(outside())).value().sliced(0, 0, 1), {std::exp(2.0)});
        check_equal(mul(D(outside()), D::from(3)).value().sliced(0, 0, 1), {6});
        const D row = D::ones({777}), one = D::ones({1, 1});
        add_low_rank(D(outside()).detach(), one[0], one, reshape(row, {777, 1}), 1);
        const D x(random_array<double>({777}, 1), true);
        tanh(x).backward(outside());
        CHECK(std::count(memory, memory + 777, 2.0) == 777);
    }
}

TEST_CASE("buffer_pool: a thread keeps its memory, which can be given back", "[engine]") {
    void* const first = thread_memory(1000);
    CHECK(reinterpret_cast<std::uintptr_t>(first) % 64 == 0);
    const auto requests = pool_statistics().requests;
    CHECK_ALL(thread_memory(500) == first, pool_statistics().requests == requests);
    std::memset(thread_memory(100000), 0, 100000);
    const auto in_use = pool_statistics().bytes_in_use;
    void* other = nullptr;
    std::thread([&] { other = thread_memory(500); }).join();
    CHECK_ALL(other != nullptr, other != thread_memory(500));
    CHECK(pool_statistics().bytes_in_use == in_use);  // a thread that ends gives it back
    std::atomic<int> mixed = 0;                       // threads do not get the same buffer
    const auto work = [&mixed](unsigned char mark) {
        for (int i = 0; i < 2000; ++i) {
            const Buffer a(256), b(1000);
            std::memset(a.data, mark, 256), std::memset(b.data, mark + 1, 1000);
            if (static_cast<unsigned char*>(a.data)[i % 256] != mark) ++mixed;
            if (static_cast<unsigned char*>(b.data)[i % 1000] != mark + 1) ++mixed;
        }
    };
    std::thread one(work, 10), two(work, 20), three(work, 30);
    one.join(), two.join(), three.join();
    CHECK(mixed == 0);
    { const Buffer buffer(123456); }
    CHECK(pool_statistics().bytes_cached > 0);
    release_cached_buffers();
    CHECK_ALL(pool_statistics().bytes_cached == 0, pool_statistics().bytes_in_use == in_use);
    const auto allocations = pool_statistics().system_allocations;
    { const Buffer buffer(123456); }
    CHECK(pool_statistics().system_allocations == allocations + 1);
    const PoolStatistics before = pool_statistics();
    CHECK_THROWS_AS(Buffer(std::size_t{1} << 60), std::bad_alloc);
    if (!kSanitized) CHECK_THROWS_AS(Buffer(std::size_t{1} << 55), std::bad_alloc);  // their allocators abort
    CHECK_THROWS_AS(Buffer(~std::size_t{0}), std::bad_alloc);
    CHECK_ALL(pool_statistics().bytes_in_use == before.bytes_in_use, pool_statistics().requests == before.requests);
}

TEST_CASE("buffer_pool: memory that was given back is the system's again", "[engine][unsanitized]") {
    { const Buffer large(std::size_t{30} << 20); }  // when it goes, free() keeps blocks up to its size
    release_cached_buffers();
    std::vector<std::unique_ptr<Buffer>> small;  // between large ones
    {
        std::vector<std::unique_ptr<Buffer>> all;
        for (int i = 0; i < 20; ++i) {
            all.push_back(std::make_unique<Buffer>(std::size_t{4} << 20));
            std::memset(all.back()->data, 1, all.back()->capacity);
            small.push_back(std::make_unique<Buffer>(100));
        }
    }
    const std::size_t before = memory_in_use();
    release_cached_buffers();
    CHECK(memory_in_use() + (std::size_t{60} << 20) < before);
}

TEST_CASE("buffer_pool: a training step in a steady state takes nothing from the system", "[engine]") {
    const Tensor<float> w1(random_array<float>({64, 33}, 1), true), w2(random_array<float>({17, 64}, 2), true);
    const Tensor<float> gain(Array<float>({64}, 1.0f), true), bias(Array<float>({64}, 0.0f), true);
    const Tensor<float> x(random_array<float>({100, 33}, 3));
    const IdArray targets = random_ids({100}, 17, 4);
    const auto step = [&] {
        for (Tensor<float> p : {w1, w2, gain, bias}) p.zero_grad();
        const Tensor<float> h = layer_norm(gelu(linear(x, w1)), gain, bias);
        backward(cross_entropy(linear(dropout(h, 0.1, {1, 2}), w2), targets));
    };
    step(), step();
    const PoolStatistics before = pool_statistics();
    for (int i = 0; i < 5; ++i) step();
    const PoolStatistics after = pool_statistics();
    CHECK_ALL(after.requests > before.requests, after.system_allocations == before.system_allocations);
    CHECK(after.bytes_in_use == before.bytes_in_use);
}
