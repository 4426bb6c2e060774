// inkling eval
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "cli/common.h"
#include "data/corpus.h"
#include "data/encoded_corpus.h"
#include "models/folder.h"
#include "train/evaluate.h"

namespace inkling::cli {
namespace {

struct Arguments {
    std::string model;
    std::vector<std::string> data;
    std::size_t threads = 0;
    bool json = false;
};

int evaluate_model(const Arguments& args) {
    set_threads(args.threads);
    const auto [model, tokenizer] = models::load_model(models::find_model(args.model));
    const data::Corpus corpus = data::read_corpus(args.data);
    if (const std::string note = corpus.skipped_note(); !note.empty()) std::fprintf(stderr, "%s\n", note.c_str());
    const data::EncodedCorpus encoded = data::encode_corpus(*tokenizer, corpus.documents);
    const std::span<const std::int32_t> tokens = encoded.ids;
    const std::atomic<int>& signal = catch_signals();
    const double loss = train::evaluate(*model, tokens, [&] { return signal != 0; });
    if (signal != 0) return 128 + signal;
    const std::size_t predicted = tokens.size() - 1;  // every token but the first
    const std::size_t bytes = encoded.bytes - tokenizer->decode(tokens.first(1)).size();
    const double bits_per_byte = loss * static_cast<double>(predicted) / std::numbers::ln2 / static_cast<double>(bytes);
    if (args.json) {
        const nlohmann::ordered_json line = {
            {"loss", loss}, {"perplexity", std::exp(loss)}, {"bits_per_byte", bits_per_byte}, {"tokens", predicted}};
        print(line.dump() + "\n");
    } else {
        print(fmt::format(
            "loss           {:.4f} nats a token\nperplexity     {:.3f}\nbits per byte  {:.4f}\ntokens         {}\n",
            loss, std::exp(loss), bits_per_byte, predicted));
    }
    return 0;
}

}  // namespace

Action add_eval(CLI::App& app) {
    auto args = std::make_shared<Arguments>();
    app.add_option("--model", args->model, "model folder, or the folder of a run")->required();
    app.add_option("--data", args->data, "text: a UTF-8 file, a directory, or - for stdin; repeatable")
        ->required()
        ->take_all()
        ->expected(1)
        ->allow_extra_args(false);
    app.add_option("--threads", args->threads, "OpenMP threads; 0: the physical cores")->capture_default_str();
    app.add_flag("--json", args->json, "print one JSON object");
    return [args] { return evaluate_model(*args); };
}

}  // namespace inkling::cli
