#include "web/api/completions.h"

#include <ctime>
#include <nlohmann/json.hpp>
#include <numeric>

#include "web/api/openai_json.h"

namespace inkling::web {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kCompletionTokens = 16;  // OpenAI's default for completions

generate::Sequence make_sequence(const TextRequest& request, const ServedModel& model, const Prompt& prompt) {
    generate::Sequence sequence(model.inference, model.tokenizer.get(), request.options);
    if (const auto* const text = std::get_if<std::string>(&prompt)) {
        sequence.add(*text);
        return sequence;
    }
    const auto& ids = std::get<std::vector<std::int32_t>>(prompt);
    const std::size_t V = std::min(model.inference->config().vocab_size, model.tokenizer->vocab_size());
    for (const std::int32_t id : ids)
        if (static_cast<std::size_t>(id) >= V)
            throw HttpError(400, fmt::format("prompt: expected token ids below {}, got {}", V, id), "prompt");
    sequence.add(std::span(ids));
    return sequence;
}

// Keeps the prompt's last tokens, as many as the request asks for.
Prompt truncated(const TextRequest& request, const ServedModel& model, const Prompt& prompt) {
    if (request.truncate_prompt == 0) return prompt;
    std::vector<std::int32_t> ids;
    if (const auto* const text = std::get_if<std::string>(&prompt)) {
        if (text->empty()) return prompt;
        const std::vector<std::int32_t> plain = model.tokenizer->encode_plain(*text);
        ids = model.tokenizer->tokens_before();
        ids.insert(ids.end(), plain.begin(), plain.end());
    } else {
        ids = std::get<std::vector<std::int32_t>>(prompt);
    }
    const std::size_t most =
        request.truncate_prompt < 0 ? model.context() : static_cast<std::size_t>(request.truncate_prompt);
    if (ids.size() <= std::min(most, model.context())) return prompt;
    ids.erase(ids.begin(), ids.end() - static_cast<std::ptrdiff_t>(std::min(most, model.context())));
    return ids;
}

// A completion continues beyond the context, as in `inkling generate`, unless the request asks for more tokens than the
// server's limit. A chat does not, because it would lose its first messages and their special tokens.
enum class Bound { asked, context };

using Stream = std::shared_ptr<ChoiceStream>;  // the last copy abandons the choices

Stream begin(const TextRequest& request, const ServedModel& model, std::span<const Prompt> prompts, Bound bound,
             Scheduler& scheduler, const std::function<bool()>& hung_up) {
    const auto stream = std::make_shared<ChoiceStream>(request.n, request.stream, hung_up);
    for (const auto& [id, bias] : request.options.logit_bias) {
        if (static_cast<std::size_t>(id) >= model.inference->config().vocab_size)
            throw HttpError(400, fmt::format("logit_bias: the model has no token {}", id), "logit_bias");
    }
    for (const Prompt& prompt : prompts) {
        generate::Sequence sequence = make_sequence(request, model, truncated(request, model, prompt));
        const std::size_t context = model.context(), most = request.most_tokens;
        const std::size_t asked = request.max_tokens.value_or(bound == Bound::asked ? kCompletionTokens : most);
        const std::size_t left = context - std::min(context, sequence.prompt_tokens());
        const bool bounded = bound == Bound::context || asked > most;
        sequence.limit(std::min({asked, most, bounded ? std::max(kCompletionTokens, left) : most}));
        if (sequence.prompt_tokens() > context)
            throw HttpError(400,
                            fmt::format("the prompt has {} tokens, and the model's context {}: shorten it, or set "
                                        "truncate_prompt_tokens to -1",
                                        sequence.prompt_tokens(), context),
                            "prompt", "context_length_exceeded");
        stream->add_prompt(std::move(sequence));
    }
    scheduler.add(stream);
    return {stream.get(), [stream](ChoiceStream* all) { all->abandon(); }};
}

std::string echoed(const CompletionRequest& request, const ServedModel& model, std::size_t text) {
    const Prompt& prompt = request.prompts[text / request.n];
    if (const auto* const s = std::get_if<std::string>(&prompt)) return *s;
    return generate::to_valid_utf8(model.tokenizer->decode(std::get<std::vector<std::int32_t>>(prompt)));
}

ordered_json base_of(const char* id, const char* object, const ServedModel& model) {
    return {{"id", random_id(id)}, {"object", object}, {"created", std::time(nullptr)}, {"model", model.name}};
}

ordered_json usage_of(const ChoiceStream& stream, std::size_t written) {
    const std::size_t read = stream.prompt_tokens();
    return {{"prompt_tokens", read}, {"completion_tokens", written}, {"total_tokens", read + written}};
}

// Maps a piece to the choices of an answer. Each piece of a stream becomes an event; a whole text has one piece.
using ToChoices = std::function<std::vector<ordered_json>(const ChoicePiece&)>;

HttpResponse whole_answer(const Stream& stream, const TextRequest& request, ordered_json body,
                          const ToChoices& choices) {
    std::vector<ordered_json> all(stream->choices());
    std::size_t written = 0;
    while (const auto piece = stream->wait()) {
        all[piece->index] = choices(*piece).front();
        written += piece->tokens;
    }
    body["choices"] = all;
    body["usage"] = usage_of(*stream, written);
    body["seed"] = request.options.seed;
    return json_response(body);
}

void send_events(ChoiceStream& stream, std::optional<ChoicePiece> piece, bool usage, ordered_json body,
                 const ToChoices& choices, const HttpSend& send) {
    std::vector<std::size_t> written(stream.choices());
    for (; piece; piece = stream.wait()) {
        written[piece->index] = piece->tokens;
        const bool empty = piece->text.empty() && piece->logprobs.empty() && !piece->end_logprobs;
        if (empty && piece->finish == generate::FinishReason::none && piece->tokens > 1) continue;
        std::string events;
        for (const ordered_json& choice : choices(*piece)) {
            body["choices"] = ordered_json::array({choice});
            events += event(body);
        }
        if (!send(events)) return;
    }
    body["choices"] = ordered_json::array();
    body["usage"] = usage_of(stream, std::accumulate(written.begin(), written.end(), std::size_t{0}));
    send((usage ? event(body) : "") + "data: [DONE]\n\n");
}

HttpResponse answer(const Stream& stream, const TextRequest& request, const ordered_json& base,
                    const ToChoices& choices) {
    if (!request.stream) return whole_answer(stream, request, base, choices);
    // a failure before the first piece gets its own status
    return {.type = "text/event-stream",
            .stream = [=, first = stream->wait(), usage = request.include_usage](const HttpSend& send) {
                try {
                    send_events(*stream, first, usage, base, choices, send);
                } catch (const HttpError& e) {
                    send("data: " + error_json(e) + "\n\n");
                } catch (const std::exception& e) {
                    send("data: " + error_json({500, e.what()}) + "\n\n");
                }
            }};
}

// The conversation so far, up to where the answer begins or continues.
std::vector<std::int32_t> chat_prompt(const ChatRequest& request, const ServedModel& model,
                                      const std::function<bool()>& hung_up) {
    std::span<const data::ChatMessage> messages = request.messages;
    if (request.continue_final) messages = messages.first(messages.size() - 1);
    std::vector<std::int32_t> ids;
    try {
        ids = model.chat->encode(messages, *model.tokenizer, {.variables = request.variables, .stop = hung_up});
    } catch (const BadInput& e) {
        for (std::size_t i = 0; i < messages.size(); ++i) {
            if (!messages[i].more.contains("content")) continue;  // it has only null there
            const std::string field = fmt::format("messages[{}].content", i);
            throw HttpError(400, field + ": null: the model's chat template needs a text, such as \"\"", field);
        }
        throw HttpError(400, e.what(), "messages");
    }
    if (!request.continue_final) return ids;
    const std::vector<std::int32_t> begun = model.tokenizer->encode_plain(request.messages.back().content, false);
    ids.insert(ids.end(), begun.begin(), begun.end());
    return ids;
}

}  // namespace

HttpResponse answer_completion(const CompletionRequest& request, std::shared_ptr<const ServedModel> model,
                               Scheduler& scheduler, const std::function<bool()>& hung_up) {
    const Stream stream = begin(request, *model, request.prompts, Bound::asked, scheduler, hung_up);
    struct State {
        bool begun = false;
        CompletionLogprobs logprobs;
    };
    const bool top = request.options.logprobs.value_or(0) > 0;
    auto states = std::make_shared<std::vector<State>>(stream->choices(), State{false, {*model->tokenizer, top}});
    const auto choices = [=](const ChoicePiece& piece) {
        State& state = (*states)[piece.index];
        std::string text = piece.text;
        if (!std::exchange(state.begun, true) && request.echo) {
            text = echoed(request, *model, piece.index) + text;
            const generate::Sequence& prompt = stream->prompt_of(piece.index);
            if (request.options.logprobs) state.logprobs.add_prompt(prompt.tokens(), prompt.prompt_logprobs());
        }
        state.logprobs.add(piece);
        return std::vector{ordered_json{{"text", text},
                                        {"index", piece.index},
                                        {"logprobs", request.options.logprobs ? state.logprobs.take() : ordered_json()},
                                        {"finish_reason", finish_json(piece.finish)}}};
    };
    return answer(stream, request, base_of("cmpl-", "text_completion", *model), choices);
}

HttpResponse answer_chat(const ChatRequest& asked, std::shared_ptr<const ServedModel> model, Scheduler& scheduler,
                         const std::function<bool()>& hung_up) {
    if (!model->chat) throw HttpError(400, model->no_chat, "messages", "no_chat_template");
    ChatRequest request = asked;
    request.options.end_tokens.push_back(model->chat->end_of_turn());
    const std::vector<Prompt> prompts{chat_prompt(request, *model, hung_up)};
    const Stream stream = begin(request, *model, prompts, Bound::context, scheduler, hung_up);
    const auto choice = [](const ChoicePiece& piece, const char* part, const ordered_json& says,
                           const ordered_json& logprobs, const ordered_json& finish) {
        return ordered_json{{"index", piece.index}, {part, says}, {"logprobs", logprobs}, {"finish_reason", finish}};
    };
    const auto logprobs_of = [model, wanted = request.options.logprobs.has_value()](const ChoicePiece& piece) {
        return wanted ? chat_logprobs(*model->tokenizer, piece.logprobs) : ordered_json();
    };
    if (!request.stream) {
        return answer(stream, request, base_of("chatcmpl-", "chat.completion", *model), [=](const ChoicePiece& piece) {
            const ordered_json message = {{"role", "assistant"}, {"content", piece.text}, {"refusal", nullptr}};
            return std::vector{choice(piece, "message", message, logprobs_of(piece), finish_json(piece.finish))};
        });
    }
    auto begun = std::make_shared<std::vector<bool>>(stream->choices());
    const auto deltas = [=](const ChoicePiece& piece) {
        std::vector<ordered_json> all;
        if (!(*begun)[piece.index])
            all.push_back(choice(piece, "delta", {{"role", "assistant"}, {"content", ""}}, nullptr, nullptr));
        (*begun)[piece.index] = true;
        if (!piece.text.empty() || !piece.logprobs.empty())
            all.push_back(choice(piece, "delta", {{"content", piece.text}}, logprobs_of(piece), nullptr));
        if (piece.finish != generate::FinishReason::none)
            all.push_back(choice(piece, "delta", ordered_json::object(), nullptr, finish_json(piece.finish)));
        return all;
    };
    return answer(stream, request, base_of("chatcmpl-", "chat.completion.chunk", *model), deltas);
}

}  // namespace inkling::web
