// A nanochat exported as a Qwen 3: the same logits except for the soft cap, from a folder and from GGUF.
#include "models/families/as_qwen3.h"

#include "models/files/gguf/gguf_export.h"
#include "tests/models/folders.h"
#include "tests/models/transformers.h"
#include "tests/support/gguf.h"

TEST_CASE("as qwen3: transformers' logits of a nanochat without its cap, by every choice", "[models]") {
    const auto numbers = reference("nanochat_tiny/expected.json");
    const auto [model, tokenizer] = models::load_model(kNanoChatTiny);
    const auto qwen = models::as_qwen3(*model);
    qwen->read_all();
    CHECK_ALL(qwen->config.family == "qwen3", qwen->config.kv_heads() == 2, qwen->config.inner() == 40);
    check_logits(*qwen, numbers, "uncapped", 1e-4);
    const ScratchFolder folder;
    models::save_model(folder.path(), *qwen, *tokenizer);
    const auto again = models::load_model(folder.path());
    CHECK(again.model->config == qwen->config);
    check_logits(*again.model, numbers, "uncapped", 1e-4);
    const IdArray ids = random_ids({2, 16}, 37, 1);
    for (const bool bias : {false, true})
        for (const std::size_t kv_heads : {4, 2, 1}) {
            Architecture a = nanochat_shape(37, 3, 4, kv_heads, 48, 16, 0.0, bias);
            a.softcap = 0, a.rope_theta = 300, a.n_inner = kv_heads == 1 ? 0 : 80;
            a.rope = {.scaling = models::RopeScaling::linear, .factor = kv_heads == 2 ? 2.0 : 1.0};
            a.end_tokens = {3, 5}, a.has_bos = false;
            Transformer<float> linear(a);
            fill_parameters(linear, 0.15, {11, 0});
            const auto written = models::as_qwen3(linear);
            written->read_all();
            check_close(written->forward(ids).value(), linear.forward(ids).value(), 5e-5);
            CHECK_ALL(written->config.end_tokens == a.end_tokens, !written->config.has_bos);
        }
    CHECK_THROWS_WITH(models::as_qwen3(Transformer<float>(llama_shape(11, 1, 2, 2, 8, 4))),
                      contains("a llama cannot be written as qwen3"));
}

TEST_CASE("as qwen3: float16 and q8_0 lose no more of it than of another model", "[models]") {
    Architecture a = nanochat_shape(37, 2, 4, 4, 64, 16);
    a.softcap = 0;
    Transformer<float> model(a);
    fill_parameters(model, 0.02, {11, 0});  // small weights, of which a tenth of a thousandth is left of some
    const auto qwen = models::as_qwen3(model);
    qwen->read_all();
    const auto tokenizer = data::CharTokenizer::from_text("abcdefgh");
    const ScratchFolder folder;
    for (const auto& [type, within] : {std::pair{formats::GgufType::F16, 1e-3}, {formats::GgufType::Q8_0, 1e-2}}) {
        models::write_gguf(folder.path("m.gguf"), model, tokenizer, type, "m");  // as a Qwen 3
        const Gguf file(folder.path("m.gguf"));
        CHECK(file.pairs["general.architecture"] == "qwen3");
        for (const auto& [name, part] : {std::pair{"blk.1.ffn_up.weight", models::ParameterName::up},
                                         {"blk.1.ffn_down.weight", models::ParameterName::down},
                                         {"blk.1.ffn_gate.weight", models::ParameterName::gate}}) {
            const std::vector<float>& values = file.tensors.at(name).values;
            const ConstArray<float> want = qwen->layers[1][part].weight.value();
            double squares = 0, errors = 0;
            for (std::size_t i = 0; i < values.size(); ++i) {
                squares += std::pow(static_cast<double>(want.data()[i]), 2);
                errors += std::pow(static_cast<double>(want.data()[i] - values[i]), 2);
            }
            INFO(name);
            CHECK(std::sqrt(errors / squares) < within);
        }
    }
}
