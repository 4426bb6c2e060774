// A nanochat without a soft cap whose tokens' vectors, and what goes into each part of a layer, get a learned share of
// the token before's (token_shift): it learns faster, and no other program runs it.
#include "models/families/family.h"

namespace inkling::models {

Family nanochat_family();

Family inkling_family() {
    Family f = nanochat_family();
    f.name = "inkling", f.model_types = {"inkling"}, f.transformers_class = "InklingForCausalLM";
    f.defaults = [](bool bias) {
        Architecture a = family("nanochat").defaults(bias);
        a.family = "inkling";
        a.token_shift = true;
        a.softcap = 0;
        return a;
    };
    f.names[ParameterName::token_shift] = "model.shift";
    f.names[ParameterName::attention_shift] = "self_attn.shift";
    f.names[ParameterName::mlp_shift] = "mlp.shift";
    return f;
}

}  // namespace inkling::models
