// Opens or makes the tokenizer of a run.

#include <algorithm>
#include <cmath>

#include "data/dataset.h"
#include "data/tokenizers/bpe/bpe_train.h"
#include "data/tokenizers/char_tokenizer.h"
#include "data/tokenizers/id_tokenizer.h"
#include "formats/files/file.h"
#include "models/files/chat_tokens.h"
#include "train/setup/setup.h"

namespace inkling::train {
namespace {

// The first `part` of the texts, by bytes, in whole characters. Byte pairs learned from the validation part would make
// its loss lower than that of other texts.
std::vector<std::string_view> beginning(const std::vector<std::string_view>& texts, double part) {
    std::size_t all = 0;
    for (const std::string_view text : texts) all += text.size();
    auto left = static_cast<std::size_t>(std::ceil(static_cast<double>(all) * part));
    std::vector<std::string_view> first;
    for (const std::string_view text : texts) {
        if (left == 0) break;
        std::size_t end = std::min(left, text.size());
        while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
        first.push_back(text.substr(0, end));
        left -= std::min(left, end);
    }
    return first;
}

// Reads the file or folder that --tokenizer names, or learns characters or byte pairs from the text.
std::unique_ptr<data::Tokenizer> make_tokenizer(const TrainOptions& options, const data::Corpus& corpus) {
    const auto kind = find_named<data::TokenizerKind>(options.tokenizer);
    if (kind == data::TokenizerKind::ids) return std::make_unique<data::IdTokenizer>(options.vocab_size);
    check<BadInput>(!kind || corpus.ids.empty(),
                    "--tokenizer {} is for text, and {} holds token ids: leave it out, or name the tokenizer.json of "
                    "these ids",
                    options.tokenizer, corpus.name());
    if (kind == data::TokenizerKind::characters) {
        std::vector<std::string_view> texts = corpus.documents;
        if (texts.size() > 1) texts.push_back("\n");  // the separator: see encode.h
        return std::make_unique<data::CharTokenizer>(data::CharTokenizer::from_texts(texts, options.byte_fallback));
    }
    if (kind == data::TokenizerKind::byte_pairs) {
        const double part =
            options.data.empty() ? 1 : 1 - options.val_fraction;  // the stories use the same few words in each part
        return std::make_unique<data::BpeTokenizer>(
            data::train_bpe(beginning(corpus.documents, part), options.vocab_size, options.pre_tokenizer));
    }
    check<BadInput>(formats::is_there(options.tokenizer),
                    "--tokenizer {}: there is no such file: char, bpe, a tokenizer.json or a model folder is required",
                    options.tokenizer);
    return models::open_tokenizer(options.tokenizer);
}

}  // namespace

bool open_tokenizer(const data::Corpus& corpus, Config& config, models::LoadedModel& loaded, bool learn) {
    TrainOptions& options = config.options;
    const bool chat = options.chat_template == ChatForm::chatml || data::has_conversations(corpus);
    if (!loaded.tokenizer && !options.init_from.empty()) {
        loaded.tokenizer = models::open_tokenizer(options.init_from);
    } else if (!loaded.tokenizer && !options.teacher.empty() && !config.is_given("tokenizer")) {
        loaded.tokenizer = models::open_tokenizer(options.teacher[0]);
    } else if (!loaded.tokenizer) {
        // conversations need byte pairs, which can have special tokens
        fit_tokenizer(chat ? std::max(corpus.bytes(), kShortText + 1) : corpus.bytes(), config);
        if (!learn && find_named<data::TokenizerKind>(options.tokenizer) == data::TokenizerKind::byte_pairs)
            return false;
        loaded.tokenizer = make_tokenizer(options, corpus);
    }
    if (!chat || loaded.tokenizer->chat) return false;
    check<BadInput>(options.lora_rank == 0,
                    "{}: the model has no chat template, and adapters do not learn the tokens of a new one: write "
                    "lines of \"prompt\" and \"completion\", train without --lora-rank, or choose a model with a chat "
                    "template",
                    options.init_from);
    models::add_chat_tokens(loaded);
    return true;
}

}  // namespace inkling::train
