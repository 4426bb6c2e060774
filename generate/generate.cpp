#include "generate/generate.h"

#include <algorithm>

#include "engine/random.h"

namespace inkling::models {

constexpr std::size_t kRoom = 256;  // tokens

void GenerateOptions::fit(const data::Tokenizer& tokenizer) {
    vocab_size = tokenizer.vocab_size();
    end_of_text = tokenizer.end_of_text();
}

Generator::Generator(std::shared_ptr<const Decoder> decoder, GenerateOptions options)
    : decoder_(std::move(decoder)), options_(options), cache_(decoder_->config()) {
    options_.validate();
    const std::size_t T = decoder_->config().block_size;
    check(options_.context_shift <= T, "--context-shift must be at most the context of {}, got {}", T,
          options_.context_shift);
}

Generator::Generator(const Transformer<float>& model, GenerateOptions options)
    : Generator(std::make_shared<Decoder>(model), options) {}

void Generator::add(std::span<const std::int32_t> tokens) {
    text_.insert(text_.end(), tokens.begin(), tokens.end());
    if (!tokens.empty()) fresh_ = at_end_ = false;
}

// All but the last token are read; with a new window, or much to read, that one, too.
void Generator::read() {
    check(!text_.empty(), "generate: a prompt of at least one token is required");
    if (fresh_) return;
    const std::size_t T = decoder_->config().block_size, n = text_.size();
    if (n - begin_ > T) {
        const std::size_t half = std::max<std::size_t>(1, T / 2);
        const std::size_t shift = options_.context_shift ? options_.context_shift : half;
        const bool unread = begin_ + cache_.length() + 1 < n;  // what was added need not make room for more
        begin_ = unread ? n - T : n - (T + 1 - shift);
        cache_.set_length(0);
    }
    // room for what comes, so that it need not be copied to a larger place while the text is written
    cache_.reserve(std::min(T, text_.size() - begin_ + std::min(options_.max_tokens - made_, kRoom)));
    const std::span<const std::int32_t> rest = std::span(text_).subspan(begin_ + cache_.length());
    if (rest.size() == 1 && cache_.length() > 0) return;
    logits_.resize(decoder_->config().vocab_size);
    decoder_->read(cache_, rest, logits_);
    fresh_ = true;
}

void Generator::draw() {
    const double lot = random_uniform({options_.seed, options_.sample}, made_);
    const std::size_t known = options_.vocab_size ? std::min(options_.vocab_size, logits_.size()) : logits_.size();
    const std::int32_t token = sample_token(std::span(logits_).first(known), options_, lot, text_);
    at_end_ = token == options_.end_of_text;
    if (at_end_) return;
    text_.push_back(token);
    fresh_ = false;
    ++made_;
}

void Generator::advance(std::span<Generator* const> texts) {
    std::vector<KvCache*> caches;
    std::vector<std::int32_t> tokens;
    std::vector<Generator*> stepping;
    for (Generator* const g : texts) {
        if (g->ended()) continue;
        g->read();
        if (g->fresh_) continue;
        check(stepping.empty() || g->decoder_ == stepping[0]->decoder_, "generate: texts of one decoder are required");
        stepping.push_back(g);
        caches.push_back(&g->cache_);
        tokens.push_back(g->text_.back());
    }
    if (!stepping.empty()) {
        const auto& decoder = *stepping[0]->decoder_;
        const std::size_t V = decoder.config().vocab_size;
        std::vector<float> logits(stepping.size() * V);
        decoder.step(caches, tokens, logits);
        for (std::size_t b = 0; b < stepping.size(); ++b) {
            const auto row = logits.begin() + static_cast<std::ptrdiff_t>(b * V);
            stepping[b]->logits_.assign(row, row + static_cast<std::ptrdiff_t>(V));
            stepping[b]->fresh_ = true;
        }
    }
    for (Generator* const g : texts)
        if (!g->ended()) g->draw();
}

std::optional<std::int32_t> Generator::next() {
    if (ended()) return std::nullopt;
    Generator* const self = this;
    advance(std::span(&self, 1));
    if (at_end_) return std::nullopt;
    return text_.back();
}

Generator Generator::another(std::uint64_t sample) const {
    Generator copy = *this;
    copy.cache_ = cache_.clone();
    copy.options_.sample = sample;
    return copy;
}

std::vector<std::int32_t> generate(const Transformer<float>& model, std::span<const std::int32_t> prompt,
                                   const GenerateOptions& options, const std::function<bool(std::int32_t)>& on_token) {
    check(!prompt.empty(), "generate: a prompt of at least one token is required");
    check(!model.training(), "generate: the model must be in evaluation mode: call eval()");
    Generator text(model, options);
    text.add(prompt);
    while (const auto token = text.next()) {
        if (on_token && !on_token(*token)) break;
    }
    const auto made = text.tokens().subspan(prompt.size());
    return {made.begin(), made.end()};
}

}  // namespace inkling::models
