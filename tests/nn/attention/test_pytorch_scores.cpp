// Scoring functions, the attention around them, and softmax over lengths against PyTorch.
#include "nn/attention/scores.h"
#include "tests/nn/attention/pytorch.h"

using namespace inkling;
using namespace inkling::testing;

namespace {

// Without valid lengths, with one per sequence, and with one per query (one of them 0).
const std::vector<std::string> kLengthKinds = {"", "_lens", "_each"};

template <class T>
void compare_score(const std::string& name, bool has_parameters, std::unique_ptr<nn::Score<T>> score) {
    nn::Attention<T> attention(std::move(score), 0.0);
    if (has_parameters) models::load_state_dict(attention, attention_file(name));
    for (const std::string& kind : kLengthKinds) {
        const Case numbers(name + kind);
        compare<T>(numbers, inputs_of<T>(numbers, {"Q", "K", "V"}), &attention, [&](const Named<T>& in) {
            return attention.forward(in.at("Q"), in.at("K"), in.at("V"), numbers.valid_lens());
        });
    }
    const Case alone(name + "_score");
    compare<T>(alone, inputs_of<T>(alone, {"Q", "K"}), attention.score.get(), [&](const Named<T>& in) {
        return nn::AttentionOutput<T>{attention.score->forward(in.at("Q"), in.at("K")), {}};
    });
}

}  // namespace

TEMPLATE_TEST_CASE("PyTorch agrees: the five scoring functions, alone and in Attention", "[nn]", float, double) {
    Generator random{1, 0};
    using T = TestType;
    compare_score<T>("dot", false, std::make_unique<nn::DotScore<T>>());
    compare_score<T>("scaled_dot", false, std::make_unique<nn::ScaledDotScore<T>>());
    compare_score<T>("bilinear", true, std::make_unique<nn::BilinearScore<T>>(random, 3, 4));
    compare_score<T>("concat", true, std::make_unique<nn::ConcatScore<T>>(random, 3, 4));
    compare_score<T>("additive", true, std::make_unique<nn::AdditiveScore<T>>(random, 3, 4, 6));
}

TEMPLATE_TEST_CASE("PyTorch agrees: AdditiveAttention", "[nn]", float, double) {
    Generator random{1, 0};
    using T = TestType;
    nn::AdditiveAttention<T> attention(random, 4, 3, 6, 0.0);
    for (const std::string& kind : kLengthKinds) {
        const nn::ValidLengths valid_lens = Case("additive_attention" + kind).valid_lens();
        compare<T>("additive_attention" + kind, "additive_attention", attention, {"queries", "keys", "values"},
                   [&](const Named<T>& in) {
                       return attention.forward(in.at("queries"), in.at("keys"), in.at("values"), valid_lens);
                   });
    }
}

TEMPLATE_TEST_CASE("PyTorch agrees: masked_softmax and sequence_mask", "[nn]", float, double) {
    using T = TestType;
    for (const std::string& kind : kLengthKinds) {
        const nn::ValidLengths valid_lens = Case("masked_softmax" + kind).valid_lens();
        compare<T>("masked_softmax" + kind, {"x"}, [&](const Named<T>& in) {
            return nn::AttentionOutput<T>{nn::masked_softmax(in.at("x"), valid_lens), {}};
        });
        if (kind.empty()) continue;
        compare<T>("sequence_mask" + kind, {"x"}, [&](const Named<T>& in) {
            return nn::AttentionOutput<T>{nn::sequence_mask(in.at("x"), valid_lens, -2.5), {}};
        });
    }
}

TEST_CASE("scores: initial values reach to 1 / sqrt(width), and no further", "[nn]") {
    Generator random{7, 0};
    const nn::BilinearScore<double> bilinear(random, 50, 16);
    const nn::ConcatScore<double> concat(random, 200, 56);
    const auto largest = [](const ConstArray<double>& w) {
        return std::abs(*std::max_element(w.data(), w.data() + w.size(),
                                          [](double a, double b) { return std::abs(a) < std::abs(b); }));
    };
    CHECK(largest(bilinear.W.value()) <= 1.0 / 4);
    CHECK(largest(bilinear.W.value()) > 0.9 / 4);
    CHECK(largest(concat.w.value()) <= 1.0 / 16);
    CHECK(largest(concat.w.value()) > 0.9 / 16);
}
