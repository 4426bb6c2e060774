#include "cli/arguments/sampling_flags.h"

#include "cli/common.h"

namespace inkling::cli {

void add_sampling_flags(CLI::App& app, generate::GenerateOptions& options) {
    app.add_option("-n,--max-tokens", options.max_tokens, "tokens to write");
    app.add_option("--temperature,--temp", options.temperature, "0: always the likeliest token; higher: wilder");
    app.add_option("--top-k", options.top_k, "choose among the k likeliest tokens; 0: all");
    app.add_option("--top-p", options.top_p, "of those, among the fewest likeliest with total probability p; 1: all");
    app.add_option("--min-p", options.min_p,
                   "of those, among those at least min_p times as likely as the likeliest; 0: all");
    app.add_option("--repeat-penalty", options.repeat_penalty,
                   "makes tokens that are already in the text less likely; comes first, then temperature, top-k, "
                   "top-p, min-p; 1: off");
    app.add_option("--presence-penalty", options.presence_penalty,
                   "subtracted from the logits of tokens that were already written; 0: off");
    app.add_option("--frequency-penalty", options.frequency_penalty,
                   "subtracted for each time that a token was written; 0: off");
    repeatable(*app.add_option("--stop", options.stop, "text to stop before; repeatable"));
    app.add_option("--seed", options.seed, "seed of the random choices: the same seed gives the same text")
        ->default_str("another each time");
}

}  // namespace inkling::cli
