// Folders that transformers wrote, and checks of a model against the numbers that transformers computed from them.
#pragma once

#include "data/tokenizers/tokenizer.h"
#include "generate/sequence.h"
#include "models/transformer.h"
#include "train/optimizers/optimizer.h"

namespace inkling::testing {

inline const std::filesystem::path kGpt2Tiny = tests_path("reference/gpt2_tiny");
inline const std::filesystem::path kNanoChatTiny = tests_path("reference/nanochat_tiny");
inline const std::filesystem::path kLlamaTiny = tests_path("reference/llama_tiny");
inline const std::filesystem::path kLlamaTinyTied = tests_path("reference/llama_tiny_tied");

inline void check_logits(const models::Transformer<float>& model, const nlohmann::json& numbers, const char* key,
                         double tolerance) {
    const auto rows = numbers["ids"].get<std::vector<std::vector<std::int32_t>>>();
    IdArray ids({rows.size(), rows[0].size()});
    for (std::size_t i = 0; i < rows.size(); ++i)
        std::copy(rows[i].begin(), rows[i].end(), ids.data() + i * rows[0].size());
    const auto want = numbers[key].get<std::vector<double>>();
    const ConstArray<float> z = model.forward(ids).value().contiguous();
    REQUIRE(z.size() == want.size());
    double worst = 0, largest = 0;
    for (std::size_t i = 0; i < want.size(); ++i) {
        worst = std::max(worst, std::abs(static_cast<double>(z.data()[i]) - want[i]));
        largest = std::max(largest, std::abs(want[i]));
    }
    INFO(key << ": the largest is " << largest);
    CHECK(worst < tolerance);
}

// Checks logits after the last of the first row's n tokens.
inline void check_last_logits(const std::vector<float>& logits, const nlohmann::json& numbers, std::size_t n) {
    for (std::size_t i = 0; i < logits.size(); ++i)
        CHECK(static_cast<double>(logits[i]) ==
              Approx(numbers["logits"][(n - 1) * logits.size() + i].get<double>()).margin(5e-5));
}

// The prompt and what the model writes, `size` tokens in all; the likeliest token comes next.
inline std::vector<std::int32_t> greedy_text(const models::Transformer<float>& model,
                                             std::span<const std::int32_t> prompt, std::size_t size,
                                             const data::Tokenizer* tokenizer = nullptr) {
    generate::GenerateOptions greedy;
    greedy.temperature = 0, greedy.max_tokens = size - prompt.size();
    generate::Sequence sequence(model, tokenizer, greedy);
    sequence.add(prompt);
    sequence.write();
    return {sequence.tokens().begin(), sequence.tokens().end()};
}

// Checks the tokenizer's ids, the loss of the text, its gradients if they are given, and the greedy text.
inline void check_loss_and_text(models::Transformer<float>& model, const data::Tokenizer& tokenizer,
                                const nlohmann::json& numbers) {
    const std::string text = numbers["text"];
    const auto tokens = tokenizer.encode(text);
    CHECK_ALL(tokens == numbers["encoded"].get<std::vector<std::int32_t>>(), tokenizer.decode(tokens) == text);
    const Tensor<float> loss =
        model.loss(row_of(std::span(tokens).first(tokens.size() - 1)), row_of(std::span(tokens).subspan(1)));
    CHECK(static_cast<double>(loss.item()) == Approx(numbers["loss"].get<double>()).margin(1e-5));
    if (numbers.contains("gradient_norms")) {
        model.zero_grad();
        backward(loss);
        for (const auto& [name, p] : model.parameters()) {
            INFO(name);
            double squares = 0;
            for (const float g : p.grad().contiguous()) squares += static_cast<double>(g) * static_cast<double>(g);
            CHECK(std::sqrt(squares) == Approx(numbers["gradient_norms"][name].get<double>()).epsilon(1e-4));
        }
    }
    CHECK(greedy_text(model, std::span(tokens).first(3), 12) == numbers["greedy"].get<std::vector<std::int32_t>>());
}

// Checks the losses of steps of AdamW on one text against PyTorch's, and returns the parameters that it trained.
inline nn::FlatParameters<float> check_training(models::Transformer<float>& model,
                                                const std::vector<std::int32_t>& text,
                                                const std::vector<double>& losses, double learning_rate) {
    const IdArray from = row_of(std::span(text).first(text.size() - 1)), to = row_of(std::span(text).subspan(1));
    nn::FlatParameters<float> flat(model);
    const auto optimizer = train::make_optimizer(train::TrainOptions{}, flat);
    for (const double want : losses) {
        const Tensor<float> loss = model.loss(from, to);
        CHECK(static_cast<double>(loss.item()) == Approx(want).epsilon(1e-4).margin(0));
        flat.zero_gradients();
        backward(loss);
        optimizer->step(learning_rate);
    }
    return flat;
}

}  // namespace inkling::testing
