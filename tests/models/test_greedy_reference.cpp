// Trained models generate the same greedy text as transformers (tests/reference/make_greedy_reference.py).
#include "generate/sequence.h"
#include "models/files/folder.h"
#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/reference/read.h"

using namespace inkling;

TEST_CASE("greedy text: that of transformers, on models trained here", "[models]") {
    const auto expected = testing::reference("greedy.json");
    for (const std::string arch : {"gpt2", "nanochat", "llama"}) {
        const auto [model, tokenizer] = models::load_model(testing::tests_path("reference/greedy_" + arch));
        for (const auto& text : expected[arch]) {
            const auto ids = text["ids"].get<std::vector<std::int32_t>>();
            const auto prompt = tokenizer->encode(text["prompt"].get<std::string>());
            generate::GenerateOptions options;
            options.temperature = 0;
            options.max_tokens = ids.size() - prompt.size();
            generate::Sequence sequence(*model, tokenizer.get(), options);
            sequence.add(prompt);
            const std::string written = sequence.write();
            INFO(arch << ", transformers: " << text["text"].get<std::string>());
            CHECK(tokenizer->decode(sequence.tokens()) == tokenizer->decode(ids));
            CHECK(tokenizer->decode(prompt) + written == tokenizer->decode(ids));
        }
    }
}
