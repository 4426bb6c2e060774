// A nanochat without a soft cap whose tokens' vectors, and what goes into each part of a layer, get a learned share of
// the token before's (token_shift): it learns faster, and no other program runs it.
#include <nlohmann/json.hpp>

#include "models/families/config_reader.h"
#include "models/families/family.h"

namespace inkling::models {

Family nanochat_family();

namespace shifted {

Architecture shifting(Architecture a) {
    a.family = "inkling";
    a.token_shift = true;
    return a;
}

Architecture defaults(bool bias) {
    Architecture a = shifting(family("nanochat").defaults(bias));
    a.softcap = 0;
    return a;
}

nlohmann::json to_json(const Architecture& a) {
    nlohmann::json j = family("nanochat").to_json(a);
    j["architectures"] = {"InklingForCausalLM"};
    return j;
}

Architecture from_json(const ConfigReader& in) { return shifting(family("nanochat").from_json(in)); }

}  // namespace shifted

Family inkling_family() {
    using namespace shifted;
    Family f = nanochat_family();
    f.name = "inkling", f.model_types = {"inkling"};
    f.defaults = defaults, f.to_json = to_json, f.from_json = from_json;
    f.names.insert(f.names.end(), {{Part::token_shift, "model.shift"},
                                   {Part::attention_shift, "self_attn.shift"},
                                   {Part::mlp_shift, "mlp.shift"}});
    return f;
}

}  // namespace inkling::models
