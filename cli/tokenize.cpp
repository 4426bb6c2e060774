// inkling tokenize: converts text to ids and back, and trains tokenizers
#include <charconv>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/arguments/model_argument.h"
#include "cli/arguments/output_file.h"
#include "cli/arguments/prompt.h"
#include "cli/common.h"
#include "cli/log.h"
#include "cli/usage/flag_values.h"
#include "cli/usage/wrong_usage.h"
#include "data/chat/chat_template.h"
#include "data/dataset.h"
#include "data/text/text_source.h"
#include "data/token_view.h"
#include "data/tokenizers/bpe/bpe_train.h"
#include "data/tokenizers/json/tokenizer_json.h"
#include "engine/base/names.h"
#include "formats/files/file.h"
#include "formats/named.h"
#include "models/files/folder.h"

namespace inkling::cli {
namespace {

constexpr std::size_t kBlock = 1 << 16;  // bytes or ids written at once

struct TokenizeArguments {
    DataArguments text;
    std::size_t vocab_size = 0, threads = 0;
    OutputFile out;
    std::string tokenizer, file;
    std::string pre_tokenizer = name_of(data::SplitStyle::gpt2);
    std::string loss_on = name_of(data::LossOn::completions);
    bool strict = false, special_tokens = false, plain = false, prompts = false;
};

void require_file(const TokenizeArguments& args, const char* what) {
    check<Usage>(!args.file.empty(), "{} is required: give -f FILE, or -f - for standard input", what);
}

// The name of the source in messages.
std::string source_of(const TokenizeArguments& args) { return args.file == "-" ? "standard input" : args.file; }

int learn(const TokenizeArguments& args) {
    check<Usage>(args.vocab_size >= data::smallest_bpe_vocab,
                 "--vocab-size must be at least {}: {} and the 256 bytes; got {}", data::smallest_bpe_vocab,
                 data::end_of_text_token, args.vocab_size);
    const std::filesystem::path folder = std::filesystem::path(args.out.path).parent_path();
    check<Usage>(!formats::is_there(args.out.path) || !models::holds_model(folder) || args.out.overwrite,
                 "--out {}: it belongs to the model in its folder: choose another name, or replace it with --overwrite",
                 args.out.path);
    args.out.check("{\n  \"version\"", "a tokenizer.json");
    set_threads(args.threads);
    const data::Corpus corpus = read_data(args.text);
    args.out.check_inputs({corpus.sources.begin(), corpus.sources.end()});
    const data::BpeTokenizer tokenizer(
        data::train_bpe(corpus.documents, args.vocab_size, *find_named<data::SplitStyle>(args.pre_tokenizer)));
    formats::write_file_atomic(args.out.path, tokenizer.to_json());
    const std::size_t size = tokenizer.vocab_size();
    spdlog::info("vocabulary {}, learned from {} bytes of text, written to {}", size, corpus.bytes(), args.out.path);
    if (size < args.vocab_size) spdlog::info("smaller than {}: no pair in the text is left to merge", args.vocab_size);
    return 0;
}

int encode(const TokenizeArguments& args) {
    if (args.text.data.empty()) require_file(args, "a text");
    set_threads(args.threads);
    const auto tokenizer = models::open_tokenizer(args.tokenizer);
    tokenizer->take_unknown(args.strict);
    warn_of_tokenizer(*tokenizer);
    data::Corpus texts;
    if (args.file.empty()) {
        texts = read_data(args.text);
    } else {  // the file's bytes, unchanged
        data::Text text = data::open_text(args.file);
        texts.begin_source(std::move(text.owner), source_of(args));
        texts.add_document(text.bytes);
    }
    data::Dataset dataset;
    data::GrowingIds plain(tokenizer->vocab_size());
    if (args.plain) {
        if (args.special_tokens) plain.append(tokenizer->tokens_before());
        formats::named(source_of(args), [&] {
            for (const std::string_view text : texts.documents)
                tokenizer->encode_plain_parts(text, [&](auto ids, std::size_t) { plain.append(ids); });
        });
        if (args.special_tokens) plain.append(tokenizer->tokens_after());
    } else {
        dataset = data::make_dataset(texts, *tokenizer, {.special_tokens = args.special_tokens});
    }
    say_replaced(*tokenizer);
    std::string line;
    const char* space = "";
    (args.plain ? plain.ids() : dataset.ids).visit([&](auto ids) {
        for (const auto id : ids) {
            line.append(std::exchange(space, " ")).append(fmt::format_int(id).c_str());
            if (line.size() < kBlock) continue;
            print(line);
            line.clear();
        }
    });
    print(line + "\n");
    return 0;
}

// The ids up to where the last answer begins, or the next one of a conversation that ends with a question.
std::vector<std::int32_t> prompt_of(const data::Example& example, const data::Tokenizer& tokenizer,
                                    const data::ChatTemplate* chat) {
    if (example.shape == data::ExampleShape::messages) {
        check<BadInput>(chat != nullptr, "--prompts: a conversation needs a model with a chat template");
        const bool answered = example.parts.back().role == "assistant";
        return chat->encode(std::span(example.parts).first(example.parts.size() - answered), tokenizer);
    }
    check<BadInput>(example.shape == data::ExampleShape::completion,
                    "--prompts is for conversations, and for prompts with a completion");
    auto [ids, learn] = data::encode_example(example, tokenizer, chat, data::LossOn::completions);
    ids.erase(ids.begin() + (std::find(learn.begin(), learn.end(), 1) - learn.begin()), ids.end());
    return ids;
}

// Prints each example as `train` encodes it, one JSON object per line: `ids`, and `learn`, 1 for each learned id; or
// its prompt alone.
int encode_records(const TokenizeArguments& args) {
    const auto tokenizer = models::open_tokenizer(args.tokenizer);
    tokenizer->take_unknown(args.strict);
    warn_of_tokenizer(*tokenizer);
    const data::Corpus corpus = read_data(args.text);
    check<BadInput>(corpus.examples != nullptr,
                    "{}: documents in lines are required: .jsonl with \"messages\", \"prompt\" "
                    "and \"completion\", or \"text\"",
                    corpus.name());
    std::optional<data::ChatTemplate> chat;
    if (tokenizer->chat) chat = data::ChatTemplate::of(*tokenizer);
    const auto loss_on = *find_named<data::LossOn>(args.loss_on);
    for (const data::Example& example : *corpus.examples) {
        formats::named(corpus.place_of(example), [&] {
            nlohmann::ordered_json line;
            const data::ChatTemplate* const form = chat ? &*chat : nullptr;
            if (args.prompts) {
                line = {{"ids", prompt_of(example, *tokenizer, form)}};
            } else {
                const auto [ids, learn] = data::encode_example(example, *tokenizer, form, loss_on);
                line = {{"ids", ids}, {"learn", learn}};
            }
            print(line.dump() + "\n");
        });
    }
    say_replaced(*tokenizer);
    return 0;
}

// Reads whole numbers below the vocabulary size, separated by white space.
data::GrowingIds read_ids(std::string_view text, std::size_t vocab_size) {
    data::GrowingIds ids(vocab_size);
    for (std::size_t at = 0;;) {
        at = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
        if (at == text.size()) return ids;
        const std::size_t end = std::min(text.find_first_of(" \t\r\n", at), text.size());
        std::int32_t id = -1;
        const auto [stop, error] = std::from_chars(text.data() + at, text.data() + end, id);
        const auto shown = [&] { return shown_name(text.substr(at, std::min<std::size_t>(end - at, 20))); };
        if (error != std::errc() || stop != text.data() + end || id < 0)
            throw BadInput(
                fmt::format("ids must be whole numbers separated by spaces, got '{}' at byte {}", shown(), at));
        if (static_cast<std::size_t>(id) >= vocab_size)
            throw BadInput(fmt::format("token ids must be in [0, {}), got {} at byte {}", vocab_size, shown(), at));
        ids.append(std::span(&id, 1));
        at = end;
    }
}

int decode(const TokenizeArguments& args) {
    require_file(args, "a file of ids");
    const auto tokenizer = models::open_tokenizer(args.tokenizer);
    const data::Text text = data::open_text(args.file);
    const data::GrowingIds all =
        formats::named(source_of(args), [&] { return read_ids(text.bytes, tokenizer->vocab_size()); });
    std::vector<std::int32_t> block;
    for (data::TokenView ids = all.ids(); !ids.empty(); ids = ids.subspan(block.size())) {
        const bool begins = block.empty();
        block.resize(std::min(ids.size(), kBlock));
        ids.first(block.size()).copy_to(block.data());
        print(begins ? tokenizer->decode(block) : tokenizer->decode_more(block));
    }
    return 0;
}

}  // namespace

Action add_tokenize(CLI::App& app) {
    auto args = std::make_shared<TokenizeArguments>();
    app.require_subcommand(1);
    CLI::App* const train = app.add_subcommand("train", "Learn a byte-level BPE tokenizer from text");
    add_data_flags(*train, args->text)->required();
    train->add_option("--vocab-size", args->vocab_size, "vocabulary size")->required();
    add_output_flags(*train, args->out, "--out", "tokenizer.json to write")->required();
    train
        ->add_option("--pre-tokenizer", args->pre_tokenizer,
                     "how text is split into words: gpt2, llama3, qwen2 or nanochat")
        ->check(refuse_other_than(names_of<data::SplitStyle>()));
    CLI::App* const to_ids = app.add_subcommand("encode", "Print the ids of a text, separated by spaces");
    CLI::App* const to_text = app.add_subcommand("decode", "Print the text of ids, byte for byte");
    CLI::App* const lines = app.add_subcommand(
        "documents", "Print documents as train encodes them, as JSON: token ids, and which ids it learns");
    lines->add_option("--tokenizer,--model", args->tokenizer, "tokenizer.json, folder of a model or run, or GGUF file")
        ->required();
    add_data_flags(*lines, args->text)->required();
    lines->add_option("--loss-on", args->loss_on, "tokens to learn: completions or all")
        ->check(refuse_other_than(names_of<data::LossOn>()));
    lines->add_flag("--prompts", args->prompts, "print only ids, up to the last answer or the completion");
    for (CLI::App* const command : {to_ids, to_text}) {
        command
            ->add_option("--tokenizer,--model", args->tokenizer,
                         "tokenizer.json, folder of a model or run, or GGUF file")
            ->required();
        CLI::Option* const file =
            offer(*command->add_option("-f,--file", args->file, "file to read; -: stdin"), {kFiles});
        if (command == to_ids) add_data_flags(*command, args->text)->excludes(file);
    }
    for (CLI::App* const command : {to_ids, to_text, lines}) offer(*command->get_option("--tokenizer"), {kFiles});
    for (CLI::App* const command : {to_ids, lines}) command->add_flag("--strict-vocabulary", args->strict, kStrictHelp);
    to_ids->add_flag("--marks", args->special_tokens, "add the tokens that surround a text, such as <s>");
    to_ids->add_flag("--plain", args->plain, "read special tokens, such as <|endoftext|>, as plain text")
        ->needs(to_ids->get_option("--file"));
    for (CLI::App* const command : {train, to_ids})
        command->add_option("--threads", args->threads, "maximum number of threads; 0: one for each physical core");
    return [args, train, to_ids, lines] {
        if (lines->parsed()) return encode_records(*args);
        return train->parsed() ? learn(*args) : to_ids->parsed() ? encode(*args) : decode(*args);
    };
}

}  // namespace inkling::cli
