#include <inkling/generate/sequence.h>
#include <inkling/models/files/adapter_folder.h>
#include <inkling/models/files/folder.h>
#include <inkling/train/optimizers/adamw.h>

#include <filesystem>
#include <iostream>

int main(int argc, char** argv) {
    using namespace inkling;
    if (argc < 3) return 2;
    const auto [model, tokenizer] = models::load_model(models::find_model(argv[1]));  // a run, a folder or a GGUF file
    model->adapt({.rank = 8, .base = argv[1]}, models::adapter_targets(model->config, "all-linear"), Generator{1337});

    const auto ids = tokenizer->encode("the new world");
    IdArray inputs({1, ids.size() - 1}), targets({1, ids.size() - 1});  // (B, T); targets are one token later
    for (std::size_t t = 0; t + 1 < ids.size(); ++t) inputs(0, t) = ids[t], targets(0, t) = ids[t + 1];

    nn::FlatParameters<float> flat(*model);  // only the adapter: adapt() froze the rest
    train::AdamW<float> adamw(flat, {.weight_decay = 0});
    for (int step = 0; step < 20; ++step) {
        const Tensor<float> loss = model->loss(inputs, targets);
        flat.zero_gradients();
        loss.backward();
        adamw.step(0.01);
        std::cout << "loss " << loss.item() << "\n";
    }

    std::filesystem::create_directory(argv[2]);
    models::save_adapter(argv[2], *model, *tokenizer);  // PEFT reads it
    generate::GenerateOptions options;
    options.max_tokens = 10;
    generate::Sequence text(*model, tokenizer.get(), options);
    text.add("the ");
    while (!text.finished()) std::cout << text.next() << std::flush;
    std::cout << "\n";
}
