#include "serve/text_answer.h"

#include <ctime>
#include <nlohmann/json.hpp>

#include "formats/json.h"
#include "serve/render.h"

namespace inkling::serve {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kCompletionTokens = 16;  // OpenAI's default for completions

// The texts of one request: of each prompt, n.
struct Texts {
    Texts(const TextRequest& asked, std::shared_ptr<const ServedModel> of, std::size_t n,
          const std::function<bool()>& hung_up)
        : request(asked), model(std::move(of)), queue(std::make_shared<TextQueue>(n, hung_up)) {}
    ~Texts() { queue->abandon(); }
    Texts(const Texts&) = delete;
    Texts& operator=(const Texts&) = delete;

    const TextRequest request;
    const std::shared_ptr<const ServedModel> model;
    const std::shared_ptr<TextQueue> queue;
    std::vector<std::shared_ptr<TextJob>> jobs;

    std::size_t count() const { return jobs.size() * request.n; }
    const TextJob& job_of(std::size_t text) const { return *jobs[text / request.n]; }

    ordered_json usage(std::size_t written) const {
        std::size_t read = 0;
        for (const auto& job : jobs) read += job->prompt().prompt_tokens();
        return {{"prompt_tokens", read}, {"completion_tokens", written}, {"total_tokens", read + written}};
    }
};

generate::Writer make_writer(const Texts& texts, const Prompt& prompt, std::size_t tokens) {
    const ServedModel& model = *texts.model;
    generate::GenerateOptions options = texts.request.options;
    options.max_tokens = tokens;
    generate::Writer writer(model.decoder, model.tokenizer.get(), options);
    if (const auto* const text = std::get_if<std::string>(&prompt)) {
        writer.add(*text);
    } else {
        const std::size_t V = std::min(model.decoder->config().vocab_size, model.tokenizer->vocab_size());
        for (const std::int32_t id : std::get<std::vector<std::int32_t>>(prompt)) {
            if (static_cast<std::size_t>(id) >= V)
                throw HttpError(400, fmt::format("prompt: token ids below {} are required, got {}", V, id), "prompt");
        }
        writer.add(std::span(std::get<std::vector<std::int32_t>>(prompt)));
    }
    return writer;
}

// The last of the prompt's tokens, as many as were asked for.
Prompt truncated(const TextRequest& request, const ServedModel& model, const Prompt& prompt) {
    if (request.truncate_prompt == 0) return prompt;
    std::vector<std::int32_t> ids;
    if (const auto* const text = std::get_if<std::string>(&prompt)) {
        if (text->empty()) return prompt;
        ids = model.tokenizer->marks_before();
        model.tokenizer->encode_plain_parts(*text, [&](std::span<const std::int32_t> some, std::size_t) {
            ids.insert(ids.end(), some.begin(), some.end());
        });
    } else {
        ids = std::get<std::vector<std::int32_t>>(prompt);
    }
    const std::size_t most =
        request.truncate_prompt < 0 ? model.context() : static_cast<std::size_t>(request.truncate_prompt);
    if (ids.size() <= std::min(most, model.context())) return prompt;
    ids.erase(ids.begin(), ids.end() - static_cast<std::ptrdiff_t>(std::min(most, model.context())));
    return ids;
}

// A completion goes on beyond the context, as that of `inkling generate`, unless more is asked for than the server
// writes; a chat does not: it would lose its first messages and their marks.
enum class Bound { asked, context };

std::shared_ptr<Texts> begin(const TextRequest& request, std::shared_ptr<const ServedModel> model,
                             std::span<const Prompt> prompts, Bound bound, Scheduler& scheduler,
                             const std::function<bool()>& hung_up) {
    auto texts = std::make_shared<Texts>(request, model, prompts.size() * request.n, hung_up);
    for (const auto& [id, bias] : request.options.logit_bias) {
        if (static_cast<std::size_t>(id) >= model->decoder->config().vocab_size)
            throw HttpError(400, fmt::format("logit_bias: the model has no token {}", id), "logit_bias");
    }
    for (const Prompt& prompt : prompts) {
        const Prompt kept = truncated(request, *model, prompt);
        const std::size_t context = model->context();
        const std::size_t asked =
            request.max_tokens.value_or(bound == Bound::asked ? kCompletionTokens : request.most_tokens);
        generate::Writer writer = make_writer(*texts, kept, std::min(asked, request.most_tokens));
        const std::size_t left = context - std::min(context, writer.prompt_tokens());
        const std::size_t fits = std::min(std::max(kCompletionTokens, left), request.most_tokens);
        if (asked > fits && (bound == Bound::context || asked > request.most_tokens))
            writer = make_writer(*texts, kept, fits);
        if (writer.prompt_tokens() > context)
            throw HttpError(400,
                            fmt::format("the prompt has {} tokens, and the model's context {}: shorten it, or set "
                                        "truncate_prompt_tokens to -1",
                                        writer.prompt_tokens(), context),
                            "prompt", "context_length_exceeded");
        texts->jobs.push_back(std::make_shared<TextJob>(std::move(writer), request.n, texts->jobs.size() * request.n,
                                                        request.stream, texts->queue));
    }
    scheduler.add(texts->jobs);
    return texts;
}

HttpResponse json_answer(const ordered_json& body) { return {.body = formats::json_text(body)}; }

// Events until all texts are finished. `first` and `next` make those of a piece; `last`: of the end, or null.
HttpResponse stream_answer(const std::shared_ptr<Texts>& texts, std::function<ordered_json(const TextPiece&)> next,
                           std::function<ordered_json(std::size_t written)> last) {
    // what fails before the first piece is answered with its own status
    auto first = std::make_shared<std::optional<TextPiece>>(texts->queue->wait());
    HttpResponse response{.type = "text/event-stream"};
    response.stream = [texts, first, next = std::move(next), last = std::move(last)](const HttpSend& send) {
        std::vector<std::size_t> written(texts->count());
        try {
            for (std::optional<TextPiece> piece = std::move(*first); piece; piece = texts->queue->wait()) {
                written[piece->index] = piece->tokens;
                const bool empty = piece->text.empty() && piece->logprobs.empty() && !piece->end_logprobs;
                if (empty && piece->finish == generate::FinishReason::none && piece->tokens > 1) continue;
                std::string events;
                for (const ordered_json& chunk : next(*piece)) events += event(chunk);
                if (!send(events)) return;
            }
            std::size_t all = 0;
            for (const std::size_t n : written) all += n;
            if (texts->request.include_usage && !send(event(last(all)))) return;
            send("data: [DONE]\n\n");
        } catch (const HttpError& e) {
            send("data: " + error_json(e) + "\n\n");
        } catch (const std::exception& e) {
            send("data: " + error_json({500, e.what()}) + "\n\n");
        }
    };
    return response;
}

std::string echoed(const CompletionRequest& request, const Texts& texts, std::size_t text) {
    const Prompt& prompt = request.prompts[text / request.n];
    if (const auto* const s = std::get_if<std::string>(&prompt)) return *s;
    return generate::to_valid_utf8(texts.model->tokenizer->decode(std::get<std::vector<std::int32_t>>(prompt)));
}

ordered_json head(const std::string& id, const char* object, std::int64_t created, const ServedModel& model) {
    return {{"id", id}, {"object", object}, {"created", created}, {"model", model.name}};
}

// What is said so far, up to where the answer begins, or goes on.
std::vector<std::int32_t> chat_prompt(const ChatRequest& request, const ServedModel& model,
                                      const std::function<bool()>& hung_up) {
    std::span<const models::ChatMessage> messages = request.messages;
    if (request.continue_final) messages = messages.first(messages.size() - 1);
    std::vector<std::int32_t> ids =
        model.chat->encode(messages, *model.tokenizer, {.variables = request.variables, .stop = hung_up});
    if (request.continue_final)
        model.tokenizer->encode_plain_parts(
            request.messages.back().content,
            [&](std::span<const std::int32_t> some, std::size_t) { ids.insert(ids.end(), some.begin(), some.end()); },
            false);
    return ids;
}

}  // namespace

HttpResponse answer_completion(const CompletionRequest& request, std::shared_ptr<const ServedModel> model,
                               Scheduler& scheduler, const std::function<bool()>& hung_up) {
    const auto texts = begin(request, model, request.prompts, Bound::asked, scheduler, hung_up);
    const ordered_json base = head(random_id("cmpl-"), "text_completion", std::time(nullptr), *model);
    const bool top = request.options.logprobs.value_or(0) > 0;
    struct State {
        bool begun = false;
        CompletionLogprobs logprobs;
    };
    auto states = std::make_shared<std::vector<State>>(texts->count(), State{false, {*model->tokenizer, top}});
    const auto choice_of = [=](TextPiece piece) {
        State& state = (*states)[piece.index];
        if (!state.begun && request.echo) {
            piece.text = echoed(request, *texts, piece.index) + piece.text;
            const generate::Writer& prompt = texts->job_of(piece.index).prompt();
            if (request.options.logprobs) state.logprobs.add_prompt(prompt.tokens(), prompt.prompt_logprobs());
        }
        state.begun = true;
        state.logprobs.add(piece);
        return ordered_json{{"text", piece.text},
                            {"index", piece.index},
                            {"logprobs", request.options.logprobs ? state.logprobs.take() : ordered_json()},
                            {"finish_reason", finish_json(piece.finish)}};
    };
    if (request.stream) {
        const auto chunk = [=](const TextPiece& piece) {
            ordered_json body = base;
            body["choices"] = ordered_json::array({choice_of(piece)});
            return ordered_json::array({body});
        };
        return stream_answer(texts, chunk, [=](std::size_t written) {
            ordered_json body = base;
            body["choices"] = ordered_json::array();
            body["usage"] = texts->usage(written);
            return body;
        });
    }
    std::vector<ordered_json> choices(texts->count());
    std::size_t written = 0;
    while (const auto piece = texts->queue->wait()) {
        choices[piece->index] = choice_of(*piece);
        written += piece->tokens;
    }
    ordered_json body = base;
    body["choices"] = choices;
    body["usage"] = texts->usage(written);
    body["seed"] = request.options.seed;
    return json_answer(body);
}

HttpResponse answer_chat(const ChatRequest& asked, std::shared_ptr<const ServedModel> model, Scheduler& scheduler,
                         const std::function<bool()>& hung_up) {
    if (!model->chat) throw HttpError(400, model->no_chat, "messages", "no_chat_template");
    ChatRequest request = asked;
    request.options.end_tokens.push_back(model->chat->end_of_turn());
    const std::vector<Prompt> prompts{chat_prompt(request, *model, hung_up)};
    const auto texts = begin(request, model, prompts, Bound::context, scheduler, hung_up);
    const std::string id = random_id("chatcmpl-");
    const std::int64_t created = std::time(nullptr);
    const bool logprobs = request.options.logprobs.has_value();
    const auto logprobs_of = [=](const TextPiece& piece) {
        return logprobs ? chat_logprobs(*model->tokenizer, piece.logprobs) : ordered_json();
    };
    if (request.stream) {
        const ordered_json base = head(id, "chat.completion.chunk", created, *model);
        auto begun = std::make_shared<std::vector<bool>>(texts->count());
        const auto chunks = [=](const TextPiece& piece) {
            ordered_json all = ordered_json::array();
            const auto add = [&](const ordered_json& delta, const ordered_json& values, const ordered_json& finish) {
                ordered_json body = base;
                body["choices"] = ordered_json::array(
                    {{{"index", piece.index}, {"delta", delta}, {"logprobs", values}, {"finish_reason", finish}}});
                all.push_back(body);
            };
            if (!(*begun)[piece.index]) add({{"role", "assistant"}, {"content", ""}}, nullptr, nullptr);
            (*begun)[piece.index] = true;
            if (!piece.text.empty() || !piece.logprobs.empty())
                add({{"content", piece.text}}, logprobs_of(piece), nullptr);
            if (piece.finish != generate::FinishReason::none)
                add(ordered_json::object(), nullptr, finish_json(piece.finish));
            return all;
        };
        return stream_answer(texts, chunks, [=](std::size_t written) {
            ordered_json body = base;
            body["choices"] = ordered_json::array();
            body["usage"] = texts->usage(written);
            return body;
        });
    }
    std::vector<ordered_json> choices(texts->count());
    std::size_t written = 0;
    while (const auto piece = texts->queue->wait()) {
        choices[piece->index] = {{"index", piece->index},
                                 {"message", {{"role", "assistant"}, {"content", piece->text}, {"refusal", nullptr}}},
                                 {"logprobs", logprobs_of(*piece)},
                                 {"finish_reason", finish_json(piece->finish)}};
        written += piece->tokens;
    }
    ordered_json body = head(id, "chat.completion", created, *model);
    body["choices"] = choices;
    body["usage"] = texts->usage(written);
    body["seed"] = request.options.seed;
    return json_answer(body);
}

}  // namespace inkling::serve
