#include <inkling/engine/ops.h>
#include <inkling/generate/sequence.h>
#include <inkling/models/files/folder.h>

#include <iostream>

int main(int argc, char** argv) {
    using namespace inkling;

    // Gradients: softmax regression on one point.
    auto w = Tensor<double>::full({3, 2}, 0.5, true);  // a leaf whose gradient is wanted
    const auto x = Tensor<double>::from({{1, -2}});
    const Tensor<double> loss = cross_entropy(linear(x, w), IdArray({1}, 2));
    loss.backward();
    std::cout << "loss " << loss.item() << ", d loss / d w\n" << w.grad() << "\n";
    w.value_in_place() -= 0.1 * w.grad();  // a step of gradient descent, by hand
    w.zero_grad();

    // A model folder, from inkling train or from transformers: its text, token by token.
    if (argc > 1) {
        const auto [model, tokenizer] = models::load_model(models::find_model(argv[1]));
        generate::GenerateOptions options;
        options.max_tokens = 100;
        options.top_p = 0.95;
        generate::Sequence text(*model, tokenizer.get(), options);
        text.add("the ");
        while (!text.finished()) std::cout << text.next() << std::flush;
        std::cout << "\n";
    }
}
