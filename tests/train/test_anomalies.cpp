// Steps that are not finite change nothing, and five in a row end the run.
#include "formats/safetensors/safetensors.h"
#include "tests/train/run.h"

static void multiply(Weight<float>& p, float factor) {
    Array<float> a = p.tensor().value_in_place();
    a *= factor;
}

// Makes all values as large as a float can be, with their signs, so that sums overflow.
static void make_overflow(Weight<float>& p) {
    Array<float> a = p.tensor().value_in_place();
    for (std::size_t i = 0; i < a.size(); ++i) a.data()[i] = std::copysign(3e38f, a.data()[i]);
}

// Keeps loss and logits, but makes the square of the token table's gradient overflow.
static void make_gradients_huge(models::Transformer<float>& model) {
    multiply(model.outer[ParameterName::token_table].weight, 1e-25f);
    multiply(model.outer[ParameterName::final_norm].weight, 1e25f);
}

// The anomaly of the first step of a model of two layers after `damage`.
template <class Damage>
static std::string anomaly_after(const Damage& damage, std::size_t batches = 1) {
    train::TrainOptions o = small_options();
    o.n_layer = 2, o.max_iters = 1, o.dropout = 0.1, o.gradient_accumulation_steps = batches;
    Run run(o);
    damage(*run.model);
    const Array<float> before = run.weights();
    run.to_end();
    CHECK_ALL(!std::isfinite(run.metrics().grad_norm), same_bits(run.weights(), before));
    return run.loop.anomaly();
}

TEST_CASE("anomalies: the layer and the op in which a value overflows, or a weight, are named", "[train]") {
    using Model = models::Transformer<float>;
    for (const std::size_t batches : {1, 3}) {
        const std::string up =
            anomaly_after([](Model& m) { make_overflow(m.layers[1][ParameterName::up].weight); }, batches);
        CHECK_THAT(up, (contains("inf at (") || contains("nan at (")) &&  // as the sum is ordered
                           contains("layer 1, MLP: linear: the first value that is not finite is ",
                                    " of (4, 8, 64); its inputs are at most "));
    }
    const std::pair<std::string, void (*)(Model&)> table[] = {
        {"layer 0, attention: attention",
         [](Model& m) { multiply(m.layers[0][ParameterName::query_key_value].weight, 1e25f); }},
        {"layer 1: layer_norm", [](Model& m) { multiply(m.layers[1][ParameterName::attention_norm].weight, 3e38f); }},
        {"head: linear", [](Model& m) {
             multiply(m.outer[ParameterName::final_norm].weight, 1e38f);
             multiply(m.outer[ParameterName::token_table].weight, 100);
         }}};
    for (const auto& [place, damage] : table)
        CHECK_THAT(anomaly_after(damage), contains(place + ": the first value that is not finite is "));
    CHECK(anomaly_after([](Model& m) {  // a weight that is not finite is named, with its place
              m.outer[ParameterName::token_table].weight.tensor().value_in_place().data()[2 * 16 + 5] = std::nanf("");
          }) == "transformer.wte.weight is not finite already: it is nan at (2, 5) of (12, 16)");
}

TEST_CASE("anomalies: gradients that are not finite are told with their op, in blocks run again too", "[train]") {
    const auto damage = [](models::Transformer<float>& m) {
        multiply(m.layers[0][ParameterName::up].weight, 1e37f);
        multiply(m.layers[0][ParameterName::down].weight, 1e-37f);
        multiply(m.outer[ParameterName::final_norm].weight, 1e9f);
    };
    const std::string backward = anomaly_after(damage);
    CHECK_THAT(backward, contains("layer 0, MLP: backward of linear: the first gradient that is not finite is ",
                                  " of (16, 64), of input 1; the gradient of its output is at most "));
    const std::string norm = anomaly_after([](models::Transformer<float>& m) { make_gradients_huge(m); });
    CHECK_THAT(norm, contains("the norm of the gradients is not: the largest is ", "of transformer.wte.weight"));
    train::TrainOptions o = small_options();
    o.n_layer = 2, o.max_iters = 1, o.checkpoint_activations = true, o.precision = Precision::bf16;
    Run run(o);
    make_overflow(run.model->layers[1][ParameterName::up].weight);
    run.to_end();
    CHECK(run.loop.anomaly().starts_with("layer 1, MLP: linear: "));
}

TEST_CASE("anomalies: a bad step is skipped, training goes on, and the search changes nothing of it", "[train]") {
    train::TrainOptions o = small_options();
    o.dropout = 0.2;
    Run searched(o), plain(o);
    for (Run* const run : {&searched, &plain}) {
        for (int i = 0; i < 3; ++i) run->step();
        float& weight = run->model->outer[ParameterName::position_table].weight.tensor().value_in_place().data()[3];
        const float kept = weight;
        weight = 3e38f;
        const double loss = run->step();
        CHECK_FALSE((std::isfinite(loss) && std::isfinite(run->metrics().grad_norm)));
        if (run == &searched) CHECK(run->loop.step().find_anomaly(3) != "");
        weight = kept;
        const Array<float> before = run->weights();
        for (int i = 0; i < 3; ++i) CHECK(std::isfinite(run->step()));
        CHECK_ALL(std::isfinite(run->metrics().grad_norm), !same_bits(run->weights(), before));
    }
    CHECK(same_bits(searched.weights(), plain.weights()));
}

TEST_CASE("anomalies: gradients that are not finite change nothing, five in a row end the run", "[train]") {
    train::TrainOptions o = small_options();
    o.max_iters = 1, o.val_fraction = 0;
    Run run(o);
    make_gradients_huge(*run.model);
    const Array<float> before = run.weights();
    const ScratchFolder scratch;
    train::RunFolder folder(scratch.path("out"));
    run.to_end(&folder);
    CHECK_ALL(std::isfinite(run.metrics().loss), !std::isfinite(run.metrics().grad_norm));
    CHECK(same_bits(run.weights(), before));
    const auto state = formats::SafetensorsFile::open(scratch.path("out/latest/training_state.safetensors"));
    CHECK_ALL(state.metadata().at("updates") == "0", state.metadata().at("step") == "1");
    for (const auto& [name, info] : state.tensors()) {
        std::vector<float> values(info.count);
        state.read(name, values.data(), values.size());
        INFO(name);
        CHECK(std::all_of(values.begin(), values.end(), [](float x) { return x == 0; }));
    }
    Run wild(small_options());
    wild.model->outer[ParameterName::token_table].weight.tensor().value_in_place().data()[0] = std::nanf("");
    const Array<float> at_first = wild.weights();
    train::RunFolder kept(scratch.path("kept"));
    CHECK_THROWS_AS(wild.to_end(&kept), train::Diverged);
    CHECK_ALL(wild.state().step == 5, same_bits(wild.weights(), at_first), kept.checkpoints().empty());
}

TEST_CASE("anomalies: an absurd learning rate diverges, and the checkpoints before it are finite", "[train]") {
    for (const std::size_t save_every : {1, 4, 1000}) {
        const ScratchFolder scratch;
        train::TrainOptions o = small_options();
        o.learning_rate = o.min_lr = 1e6, o.warmup_iters = 0, o.max_iters = 200, o.save_every = save_every;
        Run run(o);
        train::RunFolder folder(scratch.path("out"));
        INFO("a checkpoint every " << save_every << " steps");
        CHECK_THROWS_AS(run.to_end(&folder), train::Diverged);
        if (save_every < 1000) CHECK_FALSE(folder.checkpoints().empty());
        for (const auto& checkpoint : folder.checkpoints()) {
            INFO(checkpoint.string());
            CHECK_NOTHROW(models::load_model(checkpoint));  // which refuses weights that are not finite
        }
        for (const auto& entry : fs::directory_iterator(folder.path()))
            CHECK_FALSE(entry.path().filename().string().starts_with(".unfinished"));
    }
}
