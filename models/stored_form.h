// How the parameters of each family lie in the weight files of transformers, where that is not as they are here.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/gpt_config.h"

namespace inkling::models {

struct StoredForm {
    Arch arch = Arch::gpt2;
    std::string prefix;                                      // that some files leave out of every name; "": none do
    std::vector<std::pair<std::string, std::size_t>> zeros;  // vectors of zeros that a file has and the model has not
    std::string copy, original;  // a name under which a file may hold a parameter once more; "": none

    bool turned(const std::string& name) const;   // stored (in, out)
    bool ignored(const std::string& name) const;  // no weight at all
};

StoredForm stored_form(const GPTConfig& config);

}  // namespace inkling::models
