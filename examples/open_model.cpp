// Opens a model folder, made by `inkling train` or by transformers, and writes text with it.
//   open_model runs/quickstart "By the mill "
#include <inkling/generate/sequence.h>
#include <inkling/models/files/folder.h>

#include <iostream>

int main(int argc, char** argv) {
    using namespace inkling;
    if (argc != 3) {
        std::cerr << "open_model FOLDER PROMPT\n";
        return 2;
    }
    const auto [model, tokenizer] = models::load_model(models::find_model(argv[1]));
    generate::GenerateOptions options;
    options.max_tokens = 60;
    options.temperature = 0.8;
    options.seed = 7;
    generate::Sequence text(*model, tokenizer.get(), options);
    text.add(argv[2]);
    std::cout << argv[2];
    while (!text.finished()) std::cout << text.next() << std::flush;
    std::cout << "\n";
}
