// A nanochat without a soft cap whose tokens' vectors, and what goes into each part of a layer, get a learned share of
// the token before's (token_shift): it learns faster, and no other program runs it.
#include <nlohmann/json.hpp>

#include "models/families/config_reader.h"
#include "models/families/family.h"

namespace inkling::models {

Family nanochat_family();

static Architecture shifting(Architecture nanochat) {
    nanochat.family = "inkling";
    nanochat.token_shift = true;
    return nanochat;
}

Family inkling_family() {
    Family f = nanochat_family();
    f.name = "inkling", f.model_types = {"inkling"};
    f.defaults = [](bool bias) {
        Architecture a = shifting(family("nanochat").defaults(bias));
        a.softcap = 0;
        return a;
    };
    f.to_json = [](const Architecture& a) {
        nlohmann::json j = family("nanochat").to_json(a);
        j["architectures"] = {"InklingForCausalLM"};
        return j;
    };
    f.from_json = [](const ConfigReader& in) { return shifting(family("nanochat").from_json(in)); };
    f.names.insert(f.names.end(), {{ParameterName::token_shift, "model.shift"},
                                   {ParameterName::attention_shift, "self_attn.shift"},
                                   {ParameterName::mlp_shift, "mlp.shift"}});
    return f;
}

}  // namespace inkling::models
