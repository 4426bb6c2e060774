// How `inkling train --help` is arranged.
#pragma once

#include "cli/usage/help.h"

namespace inkling::cli {

inline constexpr FlagGroup kTrainFlags[] = {
    {"Text", "data tokenizer vocab-size val-fraction",
     "exclude text-field text-column lossy skip-bad-lines loss-on chat-template pre-tokenizer byte-fallback "
     "strict-vocabulary "
     "sampler"},
    {"Model", "arch n-layer n-head n-embd block-size dropout", "n-kv-head n-inner head-dim rope-theta softcap bias"},
    {"Time", "max-time max-iters eval-every patience",
     "eval-iters eval-on-start replan replan-step planned-iters save-every sample-every log-every"},
    {"Optimizer", "optimizer learning-rate batch-size weight-decay",
     "gradient-accumulation-steps shards min-lr schedule warmup-iters lr-decay-iters decay-fraction grad-clip beta1 "
     "beta2 "
     "momentum nesterov ns-steps muon-split-heads muon-scale embedding-lr head-lr vector-lr ema skip-spikes"},
    {"Adapters", "lora-rank init-adapter", "lora-alpha lora-dropout lora-targets rs-lora base-precision"},
    {"Run",
     "out resume overwrite init-from recipe config seed threads sample-prompt serve allow-host dry-run json quiet help "
     "help-all",
     "precision checkpoint-activations broadcast-data processes force"},
};

}  // namespace inkling::cli
