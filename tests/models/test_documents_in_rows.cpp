// Several documents in a row: each has the hidden states, the loss and the gradients that it has alone.
#include "engine/autograd/backward.h"
#include "tests/models/architectures.h"

namespace {

constexpr std::size_t kContext = 150, kVocabulary = 23;
// Document lengths in two rows; the last document of the second row is padding.
const std::vector<std::vector<std::size_t>> kLengthsOfDocuments = {{70, 1, 33, 46}, {8, 100, 32, 10}};

struct Rows {
    IdArray ids{Shape{2, kContext}}, targets{Shape{2, kContext}}, begins{Shape{2, kContext}};
    Rows() {
        for (std::size_t b = 0; b < 2; ++b) {
            std::size_t at = 0;
            for (const std::size_t n : kLengthsOfDocuments[b]) {
                for (std::size_t i = at; i < at + n; ++i) {
                    ids(b, i) = static_cast<std::int32_t>((7 * i * i + 3 * i + b) % kVocabulary);
                    targets(b, i) = i % 3 == 0 ? kIgnore : static_cast<std::int32_t>((5 * i + b) % kVocabulary);
                    begins(b, i) = static_cast<std::int32_t>(at);
                }
                at += n;
            }
        }
    }
    static IdArray part(const IdArray& of, std::size_t b, std::size_t begin, std::size_t n) {
        return of.sliced(0, b, b + 1).sliced(1, begin, begin + n).clone();
    }
    // visit(row, begin, length)
    template <class Visit>
    static void each(const Visit& visit) {
        for (std::size_t b = 0; b < 2; ++b) {
            std::size_t at = 0;
            for (const std::size_t n : kLengthsOfDocuments[b]) visit(b, at, n), at += n;
        }
    }
};

std::vector<std::pair<std::string, Architecture>> kinds() {
    Architecture gpt2 = gpt2_shape(kVocabulary, 2, 2, 32, kContext),
                 neox = shape_of("gpt-neox", kVocabulary, 2, 2, 32, kContext, 0, true);
    neox.rotary_part = 0.5;
    Architecture scaled = llama_shape(kVocabulary, 2, 4, 2, 32, kContext);
    scaled.rope = {models::RopeScaling::llama3, 8, 1, 4, 32};
    Architecture gemma3 = shape_of("gemma3", kVocabulary, 2, 2, 32, kContext, 0, false);
    gemma3.window = 20, gemma3.global_every = 2;
    return {{"gpt2", gpt2},
            {"nanochat", nanochat_shape(kVocabulary, 2, 2, 1, 32, kContext)},
            {"inkling", shape_of("inkling", kVocabulary, 2, 2, 32, kContext, 0, false)},
            {"llama", llama_shape(kVocabulary, 2, 4, 2, 32, kContext)},
            {"llama, scaled angles", scaled},
            {"gpt-neox", neox},
            {"gemma3", gemma3}};
}

}  // namespace

TEST_CASE("documents in rows: the hidden states are those of each alone", "[models]") {
    const Rows rows;
    for (const Precision precision : {Precision::fp32, Precision::bf16}) {
        const WithPrecision scope(precision);
        for (const auto& [name, architecture] : kinds()) {
            INFO(name << " " << name_of(precision));
            Transformer<float> model(architecture);
            fill_parameters(model, 0.2, {3, 0});
            model.eval();
            const ConstArray<float> together = model.hidden(rows.ids, {.documents = rows.begins}).value().contiguous();
            std::vector<Tensor<float>> weights;
            const ConstArray<float> composed =
                model.hidden(rows.ids, {.documents = rows.begins, .attention_weights = &weights}).value().contiguous();
            double worst = 0, worst_composed = 0, unlike = 0;
            const ConstArray<float> one_text = model.hidden(rows.ids).value().contiguous();
            Rows::each([&](std::size_t b, std::size_t begin, std::size_t n) {
                const ConstArray<float> alone = model.hidden(Rows::part(rows.ids, b, begin, n)).value().contiguous();
                for (std::size_t i = 0; i < n * 32; ++i) {
                    const std::size_t at = (b * kContext + begin) * 32 + i;
                    const auto difference = [&](const ConstArray<float>& all) {
                        return std::abs(static_cast<double>(all.data()[at]) - static_cast<double>(alone.data()[i]));
                    };
                    worst = std::max(worst, difference(together));
                    worst_composed = std::max(worst_composed, difference(composed));
                    if (begin > 0) unlike = std::max(unlike, difference(one_text));
                }
            });
            CHECK(worst < (precision == Precision::fp32 ? 1e-6 : 1e-2) * 4);
            CHECK_ALL(unlike > 0.1, worst_composed < (precision == Precision::fp32 ? 1e-5 : 0.1));
        }
    }
}

TEST_CASE("documents in rows: loss and gradients are those of all alone", "[models]") {
    const Rows rows;
    for (const auto& [name, architecture] : kinds()) {
        INFO(name);
        Transformer<double> model(architecture);
        fill_parameters(model, 0.2, {3, 0});
        const auto gradients = [&](const std::function<Tensor<double>()>& loss) {
            for (auto& [parameter, p] : model.parameters()) p.zero_grad();
            const Tensor<double> y = loss();
            backward(y);
            std::vector<double> all;
            for (auto& [parameter, p] : model.parameters()) {
                const Array<double> g = p.grad().clone();
                all.insert(all.end(), g.data(), g.data() + g.size());
            }
            return std::pair(y.item(), all);
        };
        const auto [together, packed] =
            gradients([&] { return model.loss(rows.ids, rows.targets, nullptr, rows.begins); });
        const auto counted = [](const IdArray& targets) {
            return static_cast<double>(targets.size()) -
                   static_cast<double>(std::count(targets.begin(), targets.end(), kIgnore));
        };
        const auto [apart, alone] = gradients([&] {
            Tensor<double> sum;
            Rows::each([&](std::size_t b, std::size_t begin, std::size_t n) {
                const IdArray targets = Rows::part(rows.targets, b, begin, n);
                const Tensor<double> y = scale(model.loss(Rows::part(rows.ids, b, begin, n), targets),
                                               counted(targets) / counted(rows.targets));
                sum = sum.defined() ? add(sum, y) : y;
            });
            return sum;
        });
        CHECK(together == Approx(apart).epsilon(1e-12));
        REQUIRE(packed.size() == alone.size());
        double worst = 0;
        for (std::size_t i = 0; i < packed.size(); ++i) worst = std::max(worst, std::abs(packed[i] - alone[i]));
        CHECK(worst < 1e-12);
    }
}

TEST_CASE("documents in rows: recomputed activations change nothing, and begins must fit", "[models]") {
    const Rows rows;
    Transformer<float> model(llama_shape(kVocabulary, 2, 4, 2, 32, kContext, 0.1));
    const auto first_gradient = [&](bool checkpoint) {
        model.checkpoint_activations = checkpoint;
        Tensor<float> p = model.parameters()[0].second;  // of which this is another name
        p.zero_grad();
        Generator random{4, 0};
        backward(model.loss(rows.ids, rows.targets, &random, rows.begins));
        return p.grad().clone();
    };
    CHECK(same_bits(first_gradient(false), first_gradient(true)));
    IdArray wrong = rows.begins.clone();
    wrong(0, 5) = 3;
    Generator random{4, 0};
    CHECK_THROWS_WITH(model.loss(rows.ids, rows.targets, &random, wrong),
                      contains("position 5 of row 0 is where its document begins"));
    CHECK_THROWS_WITH(model.loss(rows.ids, rows.targets, &random, IdArray({1, kContext}, 0)),
                      contains("begins must be (B, T)"));
}
