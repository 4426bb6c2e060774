// inkling tokenize: text to ids and back, and tokenizers from text
#include <unistd.h>

#include <charconv>
#include <iostream>
#include <iterator>

#include "cli/common.h"
#include "data/bpe_train.h"
#include "data/corpus.h"
#include "data/file.h"
#include "data/tokenizer_json.h"
#include "models/folder.h"

namespace inkling::cli {
namespace {

namespace fs = std::filesystem;

struct TokenizeArguments {
    std::vector<std::string> data;
    std::size_t vocab_size = 0, threads = 0;
    std::string out, tokenizer, file = "-";
};

// A tokenizer.json, a folder with one, or a run, whose newest checkpoint has one.
std::unique_ptr<data::Tokenizer> open_tokenizer(const fs::path& path) {
    const bool run = fs::is_directory(path) && !fs::exists(path / "tokenizer.json") &&
                     (fs::exists(path / "best") || fs::exists(path / "latest"));
    return data::load_tokenizer(run ? models::find_model(path) : path);
}

std::string read_input(const std::string& file) {
    if (file != "-") return data::read_file(file);
    return {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
}

int train(const TokenizeArguments& args) {
    if (args.vocab_size < data::smallest_bpe_vocab)
        throw Usage(fmt::format("--vocab-size must be at least {}: {} and the 256 bytes; got {}",
                                data::smallest_bpe_vocab, data::end_of_text_token, args.vocab_size));
    set_threads(args.threads);
    const data::Corpus corpus = data::read_corpus(args.data);
    if (const std::string note = corpus.skipped_note(); !note.empty()) std::fprintf(stderr, "%s\n", note.c_str());
    const data::BpeTokenizer tokenizer(data::train_bpe(corpus.documents, args.vocab_size));
    data::write_file_atomic(args.out, tokenizer.to_json());
    const std::size_t size = tokenizer.vocab_size();
    std::fprintf(stderr, "%zu tokens from %zu bytes of text, in %s\n", size, corpus.bytes(), args.out.c_str());
    if (size < args.vocab_size)
        std::fprintf(stderr, "fewer than %zu: nothing in the text is left to merge\n", args.vocab_size);
    return 0;
}

int encode(const TokenizeArguments& args) {
    set_threads(args.threads);
    const auto tokenizer = open_tokenizer(args.tokenizer);
    const std::vector<std::int32_t> ids = tokenizer->encode(read_input(args.file));
    std::string line;
    for (const std::int32_t id : ids) {
        if (!line.empty()) line += ' ';
        fmt::format_to(std::back_inserter(line), "{}", id);
    }
    print(line + "\n");
    return 0;
}

std::vector<std::int32_t> read_ids(std::string_view text) {
    std::vector<std::int32_t> ids;
    for (std::size_t at = 0;;) {
        at = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
        if (at == text.size()) return ids;
        const std::size_t end = std::min(text.find_first_of(" \t\r\n", at), text.size());
        std::int32_t id = -1;
        const auto [stop, error] = std::from_chars(text.data() + at, text.data() + end, id);
        check<BadInput>(error == std::errc() && stop == text.data() + end && id >= 0,
                        "ids are whole numbers with spaces between, got '{}' at byte {}",
                        to_printable(text.substr(at, std::min<std::size_t>(end - at, 20))), at);
        ids.push_back(id);
        at = end;
    }
}

int decode(const TokenizeArguments& args) {
    const auto tokenizer = open_tokenizer(args.tokenizer);
    print(tokenizer->decode(read_ids(read_input(args.file))));
    return 0;
}

}  // namespace

Action add_tokenize(CLI::App& app) {
    auto args = std::make_shared<TokenizeArguments>();
    app.require_subcommand(1);
    CLI::App* const learn = app.add_subcommand("train", "Learn a byte-level BPE tokenizer from text");
    learn->add_option("--data", args->data, "text: a UTF-8 file, a directory, or - for stdin; repeatable")
        ->required()
        ->take_all()
        ->expected(1)
        ->allow_extra_args(false);
    learn->add_option("--vocab-size", args->vocab_size, "tokens to have in the end")->required();
    learn->add_option("--out", args->out, "tokenizer.json to write")->required();
    CLI::App* const to_ids = app.add_subcommand("encode", "Write the ids of a text, with spaces between");
    CLI::App* const to_text = app.add_subcommand("decode", "Write the text of ids, byte for byte");
    for (CLI::App* const command : {to_ids, to_text}) {
        command->add_option("--tokenizer,--model", args->tokenizer, "tokenizer.json, model folder, or folder of a run")
            ->required();
        command->add_option("-f,--file", args->file, "what to read; -: stdin")->capture_default_str();
    }
    for (CLI::App* const command : {learn, to_ids})
        command->add_option("--threads", args->threads, "OpenMP threads; 0: the physical cores")->capture_default_str();
    return [args, learn, to_ids] {
        return learn->parsed() ? train(*args) : to_ids->parsed() ? encode(*args) : decode(*args);
    };
}

}  // namespace inkling::cli
