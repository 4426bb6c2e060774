#include "models/files/chat_tokens.h"

#include <algorithm>

#include "data/tokenizers/bpe/bpe_tokenizer.h"
#include "engine/base/check.h"

namespace inkling::models {
namespace {

constexpr const char* kMarks[] = {"<|im_start|>", "<|im_end|>"};

std::int32_t id_of(const data::BpeSpec& spec, const std::string& mark) {
    for (const data::AddedToken& token : spec.added)
        if (token.special && token.content == mark) return token.id;
    return -1;
}

// A table (V, C) with `rows` rows. Those from `used` on are the mean of those before.
Tensor<float> grow(const Weight<float>& table, std::size_t used, std::size_t rows) {
    const ConstArray<float> old = table.values();
    const std::size_t C = old.dim(1);
    Array<float> values({rows, C});
    std::copy_n(old.data(), std::min(used, rows) * C, values.data());
    std::vector<double> mean(C);
    for (std::size_t i = 0; i < used; ++i)
        for (std::size_t j = 0; j < C; ++j) mean[j] += static_cast<double>(old.data()[i * C + j]);
    for (std::size_t i = used; i < rows; ++i)
        for (std::size_t j = 0; j < C; ++j)
            values.data()[i * C + j] = static_cast<float>(mean[j] / static_cast<double>(used));
    return Tensor<float>(values, table.tensor().requires_grad());
}

}  // namespace

const char* const kChatMl =
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + "
    "'\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

void add_chat_tokens(LoadedModel& loaded) {
    const auto* const bpe = dynamic_cast<const data::BpeTokenizer*>(loaded.tokenizer.get());
    check<BadInput>(bpe != nullptr,
                    "a tokenizer of kind {} has no tokens for the marks of conversations: train with --tokenizer bpe",
                    name_of(loaded.tokenizer->kind()));
    data::BpeSpec spec = bpe->spec();
    const std::size_t used = bpe->vocab_size();
    std::size_t size = used;
    for (const char* const mark : kMarks)
        if (id_of(spec, mark) < 0) spec.added.push_back({.content = mark, .id = static_cast<std::int32_t>(size++)});
    auto tokenizer = std::make_unique<data::BpeTokenizer>(spec);
    tokenizer->origin = bpe->origin;
    tokenizer->unknown = bpe->unknown;
    tokenizer->named = bpe->named;
    tokenizer->chat = data::ChatSource{kChatMl, {{"eos_token", kMarks[1]}}};
    loaded.tokenizer = std::move(tokenizer);
    if (!loaded.model) return;
    Architecture& config = loaded.model->config;
    std::vector<std::int32_t>& ends = config.end_tokens;
    if (const auto end = loaded.tokenizer->end_of_text(); end && ends.empty()) ends.push_back(*end);
    if (const std::int32_t end = id_of(spec, kMarks[1]); !std::count(ends.begin(), ends.end(), end))
        ends.insert(ends.begin(), end);
    if (size == used) return;
    config.vocab_size = std::max(config.vocab_size, size);
    for (const ParameterName name : {ParameterName::token_table, ParameterName::head}) {
        Weight<float>& table = loaded.model->outer[name].weight;
        if (table.defined()) table = grow(table, used, config.vocab_size);
    }
}

}  // namespace inkling::models
