#include "models/language_model.h"

#include "models/gpt.h"
#include "models/nanochat.h"

namespace inkling::models {

template <class T>
LanguageModel<T>::LanguageModel(const GPTConfig& shape) : config(shape) {
    config.validate();
}

template <class T>
void LanguageModel<T>::check_ids(const IdArray& ids) const {
    check(ids.rank() == 2 && ids.dim(1) >= 1 && ids.dim(1) <= config.block_size,
          "{}: ids (B, T) with T from 1 to the context of {} are required, got shape {}", arch_name(config.arch),
          config.block_size, ids.shape());
}

template <class T>
std::unique_ptr<LanguageModel<T>> make_model(const GPTConfig& config) {
    switch (config.arch) {
        case Arch::nanochat:
            return std::make_unique<NanoChat<T>>(config);
        case Arch::gpt2:
            break;
    }
    return std::make_unique<GPT<T>>(config);
}

template class LanguageModel<float>;
template class LanguageModel<double>;
template std::unique_ptr<LanguageModel<float>> make_model(const GPTConfig&);
template std::unique_ptr<LanguageModel<double>> make_model(const GPTConfig&);

}  // namespace inkling::models
