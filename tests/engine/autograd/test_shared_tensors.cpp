// Public calls on tensors that two threads share: each is right, or throws an Error.
#include <barrier>

#include "engine/autograd/debug/graph_picture.h"

namespace {

using D = Tensor<double>;

// y = sum(w^4) in whole numbers, so that dw = 4 w^3 is exact. h = w^2 is shared, too.
struct Shared {
    D w = D::from({1, 2, 3}, true), h = w * w, y = sum(h * h);
    const std::vector<double> once = {4, 32, 108};
    std::atomic<int> added = 0;
};

struct Call {
    const char* name;
    int adds;    // dw to w's gradient, so many times
    bool zeros;  // w's gradient
    std::function<void(Shared&)> run;
};

bool is_multiple(const Array<double>& g, const Shared& of, int least, int most) {
    for (int n = least; n <= most; ++n) {
        bool equal = true;
        for (std::size_t i = 0; i < g.size(); ++i) equal = equal && g.data()[i] == n * of.once[i];
        if (equal) return true;
    }
    return false;
}

const std::vector<Call>& calls() {
    static const std::vector<Call> all{
        {"backward", 1, false, [](Shared& s) { s.y.backward(); }},
        {"backward, kept", 1, false, [](Shared& s) { s.y.backward({}, Graph::keep); }},
        {"backward of a graph of its own", 1, false,
         [](Shared& s) {
             const D square = s.w * s.w;
             sum(square * square).backward();
         }},
        {"gradients", 0, false,
         [](Shared& s) {
             const auto g = gradients(s.y, {s.w}, {.keep_graph = true});
             check(is_multiple(g[0].value().clone(), s, 1, 1), "wrong");
         }},
        {"gradients, with a graph", 0, false,
         [](Shared& s) {
             const auto g = gradients(s.y, {s.w}, {.create_graph = true});
             check(is_multiple(g[0].value().clone(), s, 1, 1), "wrong");
         }},
        {"zero_grad", 0, true, [](Shared& s) { s.w.zero_grad(); }},
        {"zero_grad of an intermediate", 0, false, [](Shared& s) { s.h.zero_grad(); }},
        {"grad", 0, false,
         [](Shared& s) {
             const Array<double> g = s.w.grad();
             check(is_multiple(g, s, 0, 2), "wrong");
         }},
        {"retain_grad", 0, false, [](Shared& s) { s.h.retain_grad(), s.h.grad(); }},
        {"on_grad", 0, false,
         [](Shared& s) {
             s.w.on_grad([](Array<double>& dy) { dy *= 1; }), s.h.on_grad([](Array<double>& dy) { dy *= 1; });
             s.w.on_grad_ready([] {});
         }},
        {"to_dot", 0, false, [](Shared& s) { to_dot(s.y); }},
        {"an op of an intermediate", 0, false,
         [](Shared& s) {
             check(linear(s.h, D::ones({2, 3})).size() == 2, "wrong");
         }},
        {"item, detach and copies", 0, false,
         [](Shared& s) {
             const D copy = s.h.detach();
             check(s.y.item() == 98 && copy.requires_grad() == false, "wrong");
         }},
    };
    return all;
}

// Runs the call, and returns what is wrong with it; "" for the errors that one of two calls may get.
std::string run_one(const Call& call, Shared& s) {
    try {
        call.run(s);
        s.added += call.adds;
    } catch (const Error& error) {
        const std::string text = error.what();
        for (const char* expected : {"is being run now", "already run and released", "has a hook of on_grad()"})
            if (text.find(expected) != std::string::npos) return "";
        return text;
    }
    return "";
}

}  // namespace

TEST_CASE("threads: each pair of calls on shared tensors is right or throws", "[engine]") {
    constexpr int kRounds = 20;
    for (std::size_t i = 0; i < calls().size(); ++i)
        for (std::size_t j = i; j < calls().size(); ++j) {
            const Call &a = calls()[i], &b = calls()[j];
            INFO(a.name << " and " << b.name);
            std::vector<Shared> rounds(kRounds);
            std::barrier start(2);
            std::string errors[2];
            const auto work = [&](int t) {
                omp_set_num_threads(1);
                for (Shared& s : rounds) {
                    start.arrive_and_wait();
                    errors[t] += run_one(t ? b : a, s);
                }
            };
            std::thread one(work, 0), two(work, 1);
            one.join(), two.join();
            CHECK(errors[0] + errors[1] == "");
            bool right = true;
            for (const Shared& s : rounds)
                right = right && is_multiple(s.w.grad(), s, a.zeros || b.zeros ? 0 : s.added.load(), s.added);
            CHECK(right);
        }
}

TEST_CASE("threads: one destroys a graph of which another has just let go", "[engine]") {
    for (int round = 0; round < 20; ++round) {
        D w = D::from({1, 2, 3}, true), h = w * w, y = sum(h);
        const ConstArray<double> values[] = {h.value(), y.value()};  // else the pool's lock orders the threads
        std::atomic<bool> gone = false;  // relaxed: only the nodes order what the threads do to them
        std::thread other([&] {
            to_dot(h);
            h = D();
            gone.store(true, std::memory_order_relaxed);
        });
        while (!gone.load(std::memory_order_relaxed)) std::this_thread::yield();
        y = D();
        other.join();
        CHECK_FALSE(h.defined());
    }
}

TEST_CASE("threads: a graph that a hook runs again, and a leaf whose hook runs backward on it, throw", "[engine]") {
    const D x = D::from({1, 2}, true), other = D::from({3, 4}, true);
    D h = x * x;
    D y = sum(h * h);
    h.on_grad([&](Array<double>&) { y.backward(); });
    CHECK_THROWS_WITH(y.backward({}, Graph::keep), contains("backward: the graph behind 'sum' is being run now"));
    const D w = D::from({1, 2}, true);
    bool again = true;
    w.on_grad([&](Array<double>& dy) {
        sum(other * other).backward();  // through other leaves
        check_equal(w.grad(), {1, 1}), check_equal(gradients(sum(w * w), {w})[0].value(), {2, 4});
        if (again) sum(w * 2).backward();
        dy *= 3;
    });
    CHECK_THROWS_WITH(sum(w).backward(), contains("a hook of a leaf runs backward through that leaf"));
    check_equal(other.grad(), {6, 8});
    D(w).zero_grad();
    again = false;
    sum(w).backward();
    check_equal(w.grad(), {3, 3}), check_equal(other.grad(), {12, 16});
    D zeroed = D::from({1, 2}, true);
    zeroed.on_grad([&](Array<double>&) { zeroed.zero_grad(); });
    sum(zeroed * 5).backward();
    check_equal(zeroed.grad(), {0, 0});
}
