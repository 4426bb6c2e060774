#include "data/text/loss_mask.h"

#include <nlohmann/json.hpp>

#include "engine/base/check.h"
#include "formats/json.h"

namespace inkling::data {
namespace {

using formats::at_or_null, formats::quote;
using nlohmann::json;

enum class Says {
    learned,  // 1, true: learned; 0, false: not learned
    masked,   // the reverse
    parts,    // which parts or tokens are learned, or how much
    masked_role,
    accepted,  // false: a bad example
};
struct MaskKey {
    const char* key;
    Says says;
};

// Read by: OpenAI, Mistral, Together, Fireworks (weight); Axolotl (train, training, train_on_turn, *_detail, segments);
// Open Instruct (train); Tinker, verl (trainable); ms-swift, XTuner (loss, loss_scale); verl, LLaMA-Factory
// (loss_mask); slime (step_loss_mask); torchtune (masked); NeMo (mask); transformers, TRL, Megatron (labels, *_masks,
// completion_mask); InstructLab (unmask); TRL, LLaMA-Factory (label, kto_tag). tests/reference/training_lines.json has
// their answers.
constexpr MaskKey mask_keys[] = {
    {"weight", Says::learned},        {"loss_weight", Says::learned},   {"train", Says::learned},
    {"training", Says::learned},      {"train_on_turn", Says::learned}, {"trainable", Says::learned},
    {"loss", Says::learned},          {"loss_mask", Says::learned},     {"step_loss_mask", Says::learned},
    {"masked", Says::masked},         {"mask", Says::masked_role},      {"train_detail", Says::parts},
    {"training_detail", Says::parts}, {"segments", Says::parts},        {"loss_scale", Says::parts},
    {"loss_weights", Says::parts},    {"sample_weight", Says::parts},   {"labels", Says::parts},
    {"assistant_mask", Says::parts},  {"assistant_masks", Says::parts}, {"completion_mask", Says::parts},
    {"unmask", Says::parts},          {"label", Says::accepted},        {"kto_tag", Says::accepted}};

bool is_yes(const json& value) { return value == json(true) || value == 1; }
bool is_no(const json& value) { return value == json(false) || value == 0; }

// Whether all that is learned without the key is learned with it.
bool has_no_effect(Says says, const json& value) {
    switch (says) {
        case Says::learned:
            return is_yes(value) || (value.is_structured() && value.empty());
        case Says::masked:
            return is_no(value);
        case Says::masked_role:
            return value == "user" || value == "User" || is_empty(value);
        case Says::accepted:
            return value != json(false);
        default:
            return is_empty(value) || value == 1;
    }
}

}  // namespace

bool is_empty(const json& value) {
    return value == json(false) || value == json("") || (value.is_structured() && value.empty());
}

void refuse_key(const char* key, const json& value) {
    throw BadInput(fmt::format(
        "\"{}\" changes what is learned, and {} is not read: leave out the line, or the key to learn without it", key,
        quote(value)));
}

std::optional<bool> loss_mask(const json& message) {
    std::optional<bool> learned;
    for (const auto& [key, says] : mask_keys) {
        const json& value = at_or_null(message, key);
        if (value.is_null()) continue;
        if (says == Says::learned || says == Says::masked) {
            check<BadInput>(is_yes(value) || is_no(value), "\"{}\" must be 0 or 1, or false or true, got {}", key,
                            quote(value));
            learned = learned.value_or(true) && is_yes(value) == (says == Says::learned);
        } else if (!has_no_effect(says, value)) {
            refuse_key(key, value);
        }
    }
    return learned;
}

void refuse_loss_masks(const json& object, bool preferences) {
    for (const auto& [key, says] : mask_keys) {
        const json& value = at_or_null(object, key);
        const bool counts = !value.is_null() && (preferences || says != Says::accepted);
        if (counts && !has_no_effect(says, value)) refuse_key(key, value);
    }
}

}  // namespace inkling::data
