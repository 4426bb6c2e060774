#include "cli/arguments/sampling_flags.h"

#include "cli/common.h"

namespace inkling::cli {

void add_sampling_flags(CLI::App& app, generate::GenerateOptions& options) {
    app.add_option("-n,--max-tokens", options.max_tokens, "maximum number of tokens to write");
    app.add_option("--temperature,--temp", options.temperature, "sampling temperature; 0: greedy; higher: more random");
    app.add_option("--top-k", options.top_k, "sample from the N most likely tokens; 0: off");
    app.add_option("--top-p", options.top_p,
                   "nucleus sampling: smallest set of tokens whose probability reaches X; 1: off");
    app.add_option("--min-p", options.min_p, "drop tokens less than X times as likely as the best one; 0: off");
    app.add_option("--repeat-penalty", options.repeat_penalty,
                   "divide the logits of tokens in the text by X, before all other steps; 1: off");
    app.add_option("--presence-penalty", options.presence_penalty,
                   "subtract X from the logits of tokens already written; 0: off");
    app.add_option("--frequency-penalty", options.frequency_penalty,
                   "subtract X from a logit for each time its token was written; 0: off");
    repeatable(*app.add_option("--stop", options.stop, "end the text before TEXT appears; repeatable"));
    app.add_option("--seed", options.seed, "random seed: the same seed gives the same text")->default_str("random");
}

}  // namespace inkling::cli
