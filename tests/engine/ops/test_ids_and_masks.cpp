// Ids and masks that the caller writes to after an op was recorded: the op's gradient is that of the values it saw.

using D = Tensor<double>;

template <class A>
using OpWith = std::function<D(const A&, const D& w)>;  // w (5, 4)

static D numbers(const Shape& shape, std::uint64_t seed) { return D(random_array<double>(shape, seed)); }

// Runs an op forward, writes `instead` to all of the operand, and runs backward.
template <class A>
static Array<double> gradient(A operand, const OpWith<A>& op, std::optional<typename A::value_type> instead,
                              bool twice) {
    const D w(random_array<double>({5, 4}, 3), true);
    operand = operand.clone();
    D y = op(operand, w);
    if (twice) y = sum(mul(y, y));
    const auto write = [&] {
        if (instead) std::fill_n(operand.data(), operand.size(), *instead);
    };
    if (!twice) {
        write();
        y.backward(random_array<double>(y.shape(), 7));
    } else {
        const D g = gradients(y, {w}, {.create_graph = true})[0];
        write();
        sum(mul(g, g)).backward();
    }
    return w.grad();
}

template <class A>
static void check_later(const char* name, const A& operand, const std::type_identity_t<OpWith<A>>& op) {
    const int most = std::is_same_v<A, IdArray> ? 1000000000 : 1;
    for (const bool twice : {false, true})
        for (const int other : {0, most}) {
            INFO(name << ", " << other << (twice ? ", twice" : ""));
            const auto instead = static_cast<typename A::value_type>(other);
            CHECK(same_bits(gradient<A>(operand, op, instead, twice), gradient<A>(operand, op, {}, twice)));
        }
}

TEST_CASE("ids: those written to after an op was recorded do not change its gradient, nor do sort's", "[engine]") {
    const auto rows = [](const D& w) { return reshape(w, {1, 5, 4}); };
    const IdArray classes = of<std::int32_t>({5}, {1, 3, 2, 0, 2}), order = of<std::int32_t>({1, 5}, {0, 1, 2, 0, 1});
    const IdArray along = of<std::int32_t>({5, 4}, {1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 1, 2, 2, 3, 3, 4, 4, 0, 0});
    check_later("embedding", of<std::int32_t>({2, 3}, {1, 4, 1, 0, 2, 4}),
                [](auto& ids, auto& w) { return embedding(ids, w); });
    check_later("index_select", classes, [](auto& ids, auto& w) { return index_select(w, 0, ids); });
    check_later("gather", along, [](auto& ids, auto& w) { return gather(w, 0, ids); });
    check_later("gather of a part", of<std::int32_t>({2, 1}, {3, 1}),
                [](auto& ids, auto& w) { return gather(w, 1, ids); });
    check_later("scatter_add", along, [](auto& ids, auto& w) { return scatter_add(numbers({5, 4}, 9), 0, ids, w); });
    check_later("scatter", along, [](auto& ids, auto& w) {
        return scatter(w, 0, ids, numbers({5, 4}, 9), Scatter::prod);
    });
    check_later("cross_entropy", classes, [](auto& ids, auto& w) { return cross_entropy(w, ids); });
    check_later("cross_entropy, smoothed", classes,
                [](auto& ids, auto& w) { return cross_entropy(w, ids, CrossEntropyOptions{.label_smoothing = 0.2}); });
    check_later("nll_loss", classes, [](auto& ids, auto& w) { return nll_loss(log_softmax(w), ids); });
    check_later("linear_cross_entropy", classes, [](auto& ids, auto& w) {
        return linear_cross_entropy(w, numbers({7, 4}, 9), ids);
    });
    check_later("linear_cross_entropy in blocks", classes, [](auto& ids, auto& w) {
        return linear_cross_entropy(w, numbers({7, 4}, 9), ids, kIgnore, 3);
    });
    check_later("token_shift", order, [&](auto& ids, auto& w) { return token_shift(rows(w), numbers({4}, 9), ids); });
    check_later("rotary", order, [&](auto& ids, auto& w) { return rotary(rows(w), {.positions = ids}); });
    check_later("attention, documents", of<std::int32_t>({1, 5}, {0, 0, 2, 2, 2}), [&](auto& ids, auto& w) {
        const D x = reshape(w, {1, 1, 5, 4});
        return attention(x, x, x, {.causal = true, .documents = ids});
    });
    const D w(random_array<double>({5, 4}, 3), true);
    const auto gradient = [&](bool write) {
        auto [values, ids] = sort(w, 0);
        if (write) std::fill_n(ids.data(), ids.size(), 1000000000);
        return gradients(values, {w}, {.dy = numbers({5, 4}, 7)})[0].value();
    };
    CHECK(same_bits(gradient(true), gradient(false)));
}

TEST_CASE("masks: those written to after an op was recorded do not change its gradient", "[engine]") {
    const MaskArray some = of<std::uint8_t>({5, 4}, {1, 0, 1, 1, 0, 1, 0, 1, 1, 1, 0, 0, 1, 0, 1, 1, 0, 1, 0, 1});
    const MaskArray pairs =
        of<std::uint8_t>({1, 1, 5, 5}, {1, 0, 0, 1, 1, 1, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 0, 0, 1});
    check_later("where", some, [](auto& mask, auto& w) { return where(mask, w, mul(w, w)); });
    check_later("where, of a row", of<std::uint8_t>({4}, {1, 0, 0, 1}),
                [](auto& mask, auto& w) { return where(mask, w, 0.5); });
    check_later("masked_fill", some, [](auto& mask, auto& w) { return masked_fill(w, mask, 2); });
    check_later("softmax", some, [](auto& mask, auto& w) { return softmax(w, mask, Masked::zero); });
    check_later("attention", pairs, [](auto& mask, auto& w) {
        const D x = reshape(w, {1, 1, 5, 4});
        return attention(x, x, x, {.mask = mask});
    });
}
