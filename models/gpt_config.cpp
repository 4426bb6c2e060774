#include "models/gpt_config.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "engine/check.h"

namespace inkling::models {

std::string arch_name(Arch arch) { return arch_names()[static_cast<std::size_t>(arch)]; }

std::vector<std::string> arch_names() { return {"gpt2", "nanochat"}; }

Arch arch_from_name(const std::string& name) {
    const auto names = arch_names();
    const auto found = std::find(names.begin(), names.end(), name);
    check(found != names.end(), "--arch must be one of gpt2, nanochat, got '{}'", name);
    return static_cast<Arch>(found - names.begin());
}

void GPTConfig::validate() const {
    constexpr std::size_t most = std::size_t{1} << 30;
    const auto in_range = [](const char* flag, std::size_t value) {
        check(value >= 1 && value <= most, "{} must be at least 1, got {}", flag, static_cast<std::int64_t>(value));
    };
    in_range("--n-layer", n_layer);
    in_range("--n-head", n_head);
    in_range("--n-embd", n_embd);
    in_range("--block-size", block_size);
    in_range("the vocabulary", vocab_size);
    check(n_embd % n_head == 0, "--n-embd must be divisible by --n-head, got {} and {}: change one of them", n_embd,
          n_head);
    check(dropout >= 0 && dropout < 1, "--dropout must be at least 0 and below 1, got {}", dropout);
    check(layer_norm_epsilon > 0, "layer_norm_epsilon must be above 0, got {}", layer_norm_epsilon);
    if (arch == Arch::gpt2) {
        check(kv_heads() == n_head, "--n-kv-head is for --arch nanochat, got {} of {} heads: leave it out", n_kv_head,
              n_head);
        return;
    }
    in_range("the feed-forward width", inner());
    check(n_head % kv_heads() == 0, "--n-head must be divisible by --n-kv-head, got {} and {}: change one of them",
          n_head, n_kv_head);
    check(head_size() % 2 == 0,
          "rotary positions need heads of even width, got --n-embd {} and --n-head {}: change one of them", n_embd,
          n_head);
    check(rope_theta > 0 && rope_theta < 1e30, "rope_theta must be above 0, got {}", rope_theta);
    check(softcap >= 0 && softcap < 1e30, "the softcap must be at least 0, got {}", softcap);
}

std::size_t GPTConfig::parameter_count() const {
    using Wide = unsigned __int128;  // sizes of up to 2^30 each, which a lying config.json may have, take 95 bits
    const Wide C = n_embd, b = bias;
    Wide all = 0;
    if (arch == Arch::gpt2) {
        const Wide block = 12 * C * C + 2 * C + b * (11 * C);  // 4 C^2 attention, 8 C^2 mlp, two norms
        all = (Wide{vocab_size} + block_size) * C + n_layer * block + C + b * C;
    } else {
        const Wide kv = Wide{kv_heads()} * head_size();
        all = 2 * Wide{vocab_size} * C + n_layer * (2 * C * (C + kv) + 2 * C * Wide{inner()} + b * (2 * C + 2 * kv));
    }
    return static_cast<std::size_t>(std::min<Wide>(all, std::numeric_limits<std::size_t>::max()));
}

}  // namespace inkling::models
