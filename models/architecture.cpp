#include "models/architecture.h"

#include <cstdint>

#include "engine/base/check.h"

namespace inkling::models {

void Architecture::validate() const {
    static constexpr std::size_t max = std::size_t{1} << 30;
    const auto in_range = [](const char* flag, std::size_t value) {
        check(static_cast<std::int64_t>(value) >= 1, "{} must be at least 1, got {}", flag,
              static_cast<std::int64_t>(value));
        check(value <= max, "{} must be at most {}, got {}", flag, max, value);
    };
    in_range("--n-layer", n_layer);
    in_range("--n-head", n_head);
    in_range("--n-embd", n_embd);
    in_range("--block-size", block_size);
    in_range("the vocabulary", vocab_size);
    if (n_inner) in_range("the feed-forward width", n_inner);
    check(head_dim > 0 || n_embd % n_head == 0,
          "--n-embd must be divisible by --n-head, got {} and {}: change one of them", n_embd, n_head);
    in_range("the width of a head", head_size());
    check(dropout >= 0 && dropout < 1, "--dropout must be at least 0 and below 1, got {}", dropout);
    check(!norm_bias || (norm_gain && norm == NormKind::layer),
          "only layer norms with a gain have a bias: norm_bias needs norm_gain, and NormKind::layer");
    check(norm_epsilon > 0, "the norms' epsilon must be above 0, got {}", norm_epsilon);
    check(!packed_qkv || kv_heads() == n_head, "--n-kv-head is not for --arch {}, got {} of {} heads: leave it out",
          family, n_kv_head, n_head);
    check(n_head % kv_heads() == 0, "--n-head must be divisible by --n-kv-head, got {} and {}: change one of them",
          n_head, n_kv_head);
    check(rotary_part > 0 && rotary_part <= 1,
          "the part of a head that is rotated must be above 0 and at most 1, got {}", rotary_part);
    check(positions != Positions::rotary || (rotary_size() % 2 == 0 && rotary_size() >= 2),
          "rotary positions need heads of even width, got {}: change --n-embd or --n-head", rotary_size());
    check(rope.factor >= 1 && rope.factor < 1e30, "the factor of rotary positions must be at least 1, got {}",
          rope.factor);
    check(rope.scaling != RopeScaling::llama3 || (rope.low > 0 && rope.high > rope.low && rope.original > 0),
          "rope_type llama3 needs a high_freq_factor above a low_freq_factor above 0, got {} and {}", rope.high,
          rope.low);
    check(rope_theta > 0 && rope_theta < 1e30, "rope_theta must be above 0, got {}", rope_theta);
    check(local_rope_theta >= 0 && local_rope_theta < 1e30, "the rope_theta of local layers must be above 0, got {}",
          local_rope_theta);
    check(softcap >= 0 && softcap < 1e30, "the softcap must be at least 0, got {}", softcap);
}

}  // namespace inkling::models
