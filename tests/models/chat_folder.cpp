#include "tests/models/chat_folder.h"

#include "data/tokenizers/bpe/bpe_tokenizer.h"
#include "tests/models/architectures.h"

namespace inkling::testing {

ChatFolder::ChatFolder(const std::string& chat_template, std::size_t context) {
    const auto stories = models::open_tokenizer(tests_path("reference/greedy_gpt2"));
    data::BpeSpec spec = dynamic_cast<const data::BpeTokenizer&>(*stories).spec();
    spec.added.push_back({.content = "<|im_start|>", .id = 811});
    spec.added.push_back({.content = "<|im_end|>", .id = 812});
    const data::BpeTokenizer tokenizer(spec);
    models::Transformer<float> model(gpt2_shape(813, 2, 2, 16, context));
    fill_parameters(model, 0.2, {5, 0});
    for (auto& [name, p] : model.parameters())  // the end of a turn is never the likeliest token
        if (name == "transformer.wte.weight") std::fill_n(p.value_in_place().data() + 812 * 16, 16, 0.0f);
    model.eval();
    models::save_model(scratch.path(), model, tokenizer);
    scratch.write("tokenizer_config.json", nlohmann::json{{"chat_template", chat_template}}.dump());
}

}  // namespace inkling::testing
