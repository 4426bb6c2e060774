#include "generate/sequence.h"

#include <algorithm>
#include <utility>

#include "engine/base/clock.h"
#include "engine/base/parallel.h"
#include "engine/base/random.h"
#include "engine/process/adaptive_threads.h"
#include "generate/prompt.h"

namespace inkling::generate {
namespace {

constexpr std::size_t kReserved = 256;         // tokens
constexpr std::size_t kSampleGrain = 100'000;  // logits to choose from that are worth a thread

std::shared_ptr<const models::InferenceModel> make_inference_model(const models::Transformer<float>& model) {
    check(!model.training(), "generate: the model must be in evaluation mode: call eval()");
    return std::make_shared<models::InferenceModel>(model);
}

}  // namespace

void GenerateOptions::validate() const {
    SamplingOptions::validate();
    StopTexts{stop};
}

const char* name(FinishReason reason) {
    constexpr const char* kNames[] = {"none", "length", "stop", "end_of_text", "interrupted"};
    return kNames[static_cast<std::size_t>(reason)];
}

Sequence::Sequence(std::shared_ptr<const models::InferenceModel> model, const data::Tokenizer* tokenizer,
                   GenerateOptions options)
    : model_(std::move(model)),
      tokenizer_(tokenizer),
      options_(std::move(options)),
      cache_(model_->config(), model_->cache_type),
      sampler_(options_),
      stop_(options_.stop) {
    const std::size_t T = model_->config().block_size;
    check(options_.context_shift <= T, "--context-shift must be at most the context of {}, got {}", T,
          options_.context_shift);
    check(tokenizer_ || options_.stop.empty(), "generate: stop texts need a tokenizer");
    begin_turn();
}

Sequence::Sequence(const models::Transformer<float>& model, const data::Tokenizer* tokenizer, GenerateOptions options)
    : Sequence(make_inference_model(model), tokenizer, std::move(options)) {}

void Sequence::begin_turn() {
    prompt_tokens_ = generated_ = 0;
    prompt_seconds_ = seconds_ = 0;
    stop_ = StopTexts(options_.stop);
    logprobs_.clear();
    prompt_logprobs_.clear();
    end_logprobs_.reset();
    limit(options_.max_tokens);
}

void Sequence::append(std::span<const std::int32_t> tokens, std::size_t count) {
    if (generated_ > 0) finish();
    if (finished()) begin_turn();
    tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
    prompt_tokens_ += count;
    if (!tokens.empty()) has_logits_ = false;
}

void Sequence::add(std::span<const std::int32_t> tokens) { append(tokens, tokens.size()); }

void Sequence::add(std::string_view text) {
    check(tokenizer_, "generate: adding text needs a tokenizer");
    if (!text.empty()) {
        const Prompt prompt =
            encode_prompt(*tokenizer_, model_->config().block_size, text, tokens_.empty(), options_.special_tokens);
        append(prompt.ids, prompt.tokens);
    } else if (tokens_.empty() || finish_reason_ == FinishReason::end_of_text) {
        append(beginning(*tokenizer_, model_->config()), 0);
    } else {
        append({}, 0);
    }
}

void Sequence::limit(std::size_t max_tokens) {
    options_.max_tokens = max_tokens;
    finish_reason_ = max_tokens > 0 ? FinishReason::none : FinishReason::length;
}

void Sequence::prefill() {
    while (prefill_piece()) {
    }
}

bool Sequence::prefill_piece() {
    const double start = seconds_now();
    const bool more = read_piece();
    prompt_seconds_ += seconds_now() - start;
    return more;
}

// Reads the next piece of the tokens that the cache lacks; false: only the last may be left, which a step reads.
bool Sequence::read_piece() {
    check(!tokens_.empty(), "generate: a prompt of at least one token is required");
    if (has_logits_) return false;
    const std::size_t T = model_->config().block_size, n = tokens_.size();
    if (n - begin_ > T) {
        const std::size_t half = std::max<std::size_t>(1, T / 2);
        const std::size_t shift = options_.context_shift ? options_.context_shift : half;
        const bool unread = begin_ + cache_.length() + 1 < n;  // what was added need not make room for more
        begin_ = unread ? n - T : n - (T + 1 - shift);
        cache_.clear();
    }
    // room for what comes, so that it need not be copied to a larger place while the text is written
    cache_.reserve(std::min(T, n - begin_ + std::min(options_.max_tokens - generated_, kReserved)));
    const std::size_t held = cache_.length();
    const std::span<const std::int32_t> rest = tokens().subspan(begin_ + held);
    const std::span<const std::int32_t> piece = rest.first(std::min(rest.size(), kPromptPiece));
    const std::size_t end = begin_ + held + piece.size();
    const bool logprobs = options_.prompt_logprobs && generated_ == 0 && prompt_logprobs_.size() + 1 < n;
    std::vector<TokenLogprobs> known;  // kept once all of `rest` is processed
    const auto predict = [&](std::size_t token, std::span<const float> row) {
        if (token < end) known[token - 1] = token_logprobs(row, tokens_[token], *options_.logprobs);
    };
    if (logprobs) {
        check(options_.logprobs && begin_ == 0 && (held == 0 || held == prompt_logprobs_.size() + 1),
              "generate: log-probabilities of a prompt need all of it in the context of {} tokens", T);
        known = prompt_logprobs_;
        known.resize(end - 1);
        if (held > 0) predict(held, logits_);
    }
    if (rest.size() == 1 && held > 0) {
        if (logprobs) prompt_logprobs_ = std::move(known);
        return false;
    }
    logits_.resize(model_->config().vocab_size);
    const AdaptiveThreads threads(Work::prompt, static_cast<double>(piece.size()));
    models::InferenceModel::EachLogits each;
    if (logprobs) each = [&](std::size_t i, std::span<const float> row) { predict(held + i + 1, row); };
    model_->prefill(cache_, piece, logits_, each);
    if (logprobs) prompt_logprobs_ = std::move(known);
    has_logits_ = end == n;
    return !has_logits_;
}

void Sequence::sample_next() {
    const double uniform = random_uniform({options_.seed, options_.sample}, sampled_);
    const std::size_t V = tokenizer_ ? std::min(tokenizer_->vocab_size(), logits_.size()) : logits_.size();
    const std::int32_t token = sampler_.sample(std::span(logits_).first(V), uniform, tokens_, generated_);
    const auto is_in = [&](const std::vector<std::int32_t>& ends) {
        return std::count(ends.begin(), ends.end(), token);
    };
    if ((tokenizer_ && token == tokenizer_->end_of_text()) || is_in(model_->config().end_tokens) ||
        is_in(options_.end_tokens)) {
        if (options_.logprobs) end_logprobs_ = token_logprobs(logits_, token, *options_.logprobs);
        return finish(FinishReason::end_of_text);
    }
    tokens_.push_back(token);
    has_logits_ = false;
    ++sampled_;
    ++generated_;
    if (options_.logprobs) logprobs_.push_back(token_logprobs(logits_, token, *options_.logprobs));
    if (tokenizer_) pending_text_ += stop_.push(characters_.push(decode_token(token)));
    if (stop_.found()) {
        finish(FinishReason::stop);
    } else if (generated_ >= options_.max_tokens) {
        finish(FinishReason::length);
    }
}

// A token after nothing but marks begins the text.
std::string Sequence::decode_token(std::int32_t token) const {
    const std::span ids(&token, 1);
    const bool begins =
        generated_ == 1 && prompt_tokens_ == 0 && tokens_.size() == 1 + tokenizer_->tokens_before().size();
    return begins ? tokenizer_->decode(ids) : tokenizer_->decode_more(ids);
}

void Sequence::finish(FinishReason reason) {
    if (finished()) return;
    finish_reason_ = reason;
    pending_text_ += stop_.push(characters_.finish()) + stop_.finish();
}

std::string Sequence::next() {
    Sequence* const self = this;
    step(std::span(&self, 1));
    return take();
}

std::string Sequence::write() {
    std::string text = take();
    while (!finished()) text += next();
    return text;
}

std::string Sequence::take() { return std::exchange(pending_text_, ""); }

Sequence Sequence::fork(std::uint64_t sample) const& {
    Sequence copy = *this;
    copy.options_.sample = sample;
    return copy;
}

Sequence Sequence::fork(std::uint64_t sample) && {
    models::KvCache cache = std::move(cache_);
    Sequence copy = *this;
    copy.cache_ = std::move(cache);
    copy.options_.sample = sample;
    return copy;
}

void step(std::span<Sequence* const> sequences) {
    const double start = seconds_now();
    std::vector<Sequence*> running, stepping;
    std::vector<models::KvCache*> caches;
    std::vector<std::int32_t> tokens;
    for (Sequence* const w : sequences) {
        if (w->failed_) std::rethrow_exception(w->failed_);
        if (w->finished()) continue;
        check(std::find(running.begin(), running.end(), w) == running.end(),
              "generate: a text takes part in a step once: use fork() for a second one");
        running.push_back(w);
        while (w->read_piece()) {
        }
        if (w->has_logits_) continue;
        check(w->model_ == running[0]->model_, "generate: texts of one model are required");
        stepping.push_back(w);
        caches.push_back(&w->cache_);
        tokens.push_back(w->tokens_.back());
        w->logits_.resize(w->model_->config().vocab_size);  // now: nothing may fail after the model's step
    }
    if (!stepping.empty()) {
        const models::InferenceModel& model = *stepping[0]->model_;
        const std::size_t V = model.config().vocab_size;
        std::vector<float> logits(stepping.size() * V);
        const AdaptiveThreads threads(Work::token, static_cast<double>(stepping.size()));
        model.step(caches, tokens, logits);
        for (std::size_t b = 0; b < stepping.size(); ++b) {
            std::copy_n(logits.begin() + static_cast<std::ptrdiff_t>(b * V), V, stepping[b]->logits_.begin());
            stepping[b]->has_logits_ = true;
        }
    }
    const double now = seconds_now();
    for (Sequence* const w : running) (w->generated_ == 0 ? w->prompt_seconds_ : w->seconds_) += now - start;
    if (running.empty()) return;
    const std::size_t grain = std::max<std::size_t>(1, kSampleGrain / running[0]->model_->config().vocab_size);
    parallel_for(running.size(), grain, [&](std::size_t begin, std::size_t end) {
        for (Sequence* const w : std::span(running).subspan(begin, end - begin)) {
            try {
                w->sample_next();
            } catch (...) {
                w->failed_ = std::current_exception();
                throw;
            }
        }
    });
}

}  // namespace inkling::generate
