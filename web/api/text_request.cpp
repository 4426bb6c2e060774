#include "web/api/text_request.h"

#include <algorithm>
#include <random>

#include "formats/ascii.h"
#include "formats/json.h"
#include "web/api/request_parts.h"

namespace inkling::web {
namespace {

using nlohmann::json;

// Seeds are below 2^53, so that clients whose numbers are doubles can send a seed back unchanged.
constexpr std::int64_t kMaxSeed = (std::int64_t{1} << 53) - 1;

std::uint64_t random_seed() {
    thread_local std::mt19937_64 numbers(std::random_device{}());
    return numbers() & kMaxSeed;
}

void read_penalties(const Fields& fields, generate::GenerateOptions& options) {
    options.presence_penalty = fields.number("presence_penalty", -2, 2).value_or(0);
    options.frequency_penalty = fields.number("frequency_penalty", -2, 2).value_or(0);
    for (const char* name : {"repeat_penalty", "repetition_penalty"})  // llama.cpp's name, transformers' name
        options.repeat_penalty = fields.number(name, 0.01, 100).value_or(options.repeat_penalty);
    const json* const bias = fields.find("logit_bias");
    if (!bias) return;
    if (!bias->is_object() || bias->size() > 1024)
        fields.refuse("logit_bias", "an object of at most 1024 token ids and numbers is required");
    for (const auto& [key, value] : bias->items()) {
        const std::int32_t id = formats::parse_number<std::int32_t>(key).value_or(-1);
        if (id < 0) fields.refuse("logit_bias", "token ids are required as keys");
        const double x = value.is_number() ? value.get<double>() : 1000;
        if (!(x >= -100 && x <= 100)) fields.refuse("logit_bias", "numbers from -100 to 100 are required");
        options.logit_bias[id] = x;
    }
}

void read_stop(const Fields& fields, generate::GenerateOptions& options) {
    const json* const stop = fields.find("stop");
    if (!stop) return;
    constexpr const char* kRequired = "a text, or a list of at most 4, of at most 1000 bytes each, is required";
    const json list = stop->is_array() ? *stop : json::array({*stop});
    if (list.size() > 4) fields.refuse("stop", kRequired);
    for (const json& one : list) {
        if (!one.is_string() || one.get_ref<const std::string&>().size() > 1000) fields.refuse("stop", kRequired);
        if (one != "") options.stop.push_back(one.get<std::string>());
    }
}

// Fields of requests to vLLM, llama.cpp and transformers that have no effect, or none while others are off. Fields that
// are not known here may be off: Fields::refuse_others().
constexpr const char* kWithoutEffect[] = {"user",
                                          "metadata",
                                          "store",
                                          "service_tier",
                                          "safety_identifier",
                                          "prompt_cache_key",
                                          "cache_prompt",
                                          "prompt_cache_retention",
                                          "parallel_tool_calls",
                                          "request_id",
                                          "priority",
                                          "spaces_between_special_tokens",
                                          "mirostat_tau",
                                          "mirostat_eta",
                                          "xtc_threshold",
                                          "dry_base",
                                          "dry_allowed_length",
                                          "dry_penalty_last_n",
                                          "dry_sequence_breakers",
                                          "dynatemp_exponent"};

void read_neutral(const Fields& fields) {
    for (const char* name : kWithoutEffect) fields.find(name);
    for (const char* name : {"length_penalty", "num_beams", "typical_p", "tfs_z"}) fields.accept(name, {0, 1});
    for (const char* name : {"skip_special_tokens", "do_sample"}) fields.accept(name, {true});
    fields.accept("response_format", {json::object(), {{"type", "text"}}});
}

bool is_off(const json& value) {
    return value.is_structured() ? value.empty() : value == json("") || value == json(false) || value == json(0);
}

}  // namespace

json parse_body(const std::string& body) {
    constexpr int kDepth = 32;
    json object = formats::parse_json(body, "the body", kDepth);
    check<BadInput>(object.is_object(), "the body must be a JSON object");
    return object;
}

void Fields::accept(const std::string& name, const std::vector<json>& values) const {
    const json* const value = find(name);
    if (value && std::find(values.begin(), values.end(), *value) == values.end())
        refuse(name, "not supported by this server; remove it");
}

void Fields::refuse_others() const {
    for (const auto& [name, value] : json_.items())
        if (is_off(value)) find(name);
    JsonObject::refuse_others();
}

void read_common(const Fields& fields, const RequestLimits& limits, TextRequest& request) {
    generate::GenerateOptions& options = request.options;
    request.model = fields.text("model").value_or("");
    request.most_tokens = limits.max_tokens;
    for (const char* name : {"max_tokens", "max_completion_tokens"}) {  // -1: all that fit
        if (const auto n = fields.integer(name, -1)) request.max_tokens = static_cast<std::size_t>(*n);
    }
    options.temperature = fields.number("temperature", 0, 100).value_or(1);
    options.top_p = std::max(1e-9, fields.number("top_p", 0, 1).value_or(1));  // 0: only the likeliest token
    options.min_p = fields.number("min_p", 0, 1).value_or(0);
    options.top_k =
        static_cast<std::size_t>(std::max<std::int64_t>(0, fields.integer("top_k", -1, INT32_MAX).value_or(0)));
    const std::int64_t seed = fields.integer("seed", -1, kMaxSeed).value_or(-1);
    options.seed = seed < 0 ? random_seed() : static_cast<std::uint64_t>(seed);
    read_penalties(fields, options);
    read_stop(fields, options);
    request.n =
        static_cast<std::size_t>(fields.integer("n", 1, static_cast<std::int64_t>(limits.max_texts)).value_or(1));
    request.stream = fields.flag("stream").value_or(false);
    if (const json* const stream_options = fields.find("stream_options")) {
        const Fields inner(*stream_options, "stream_options.");
        request.include_usage = inner.flag("include_usage").value_or(false);
        for (const char* name : {"include_obfuscation", "continuous_usage_stats"}) inner.find(name);
        inner.refuse_others();
        if (!request.stream) fields.refuse("stream_options", "it is for streams alone: set stream");
    }
    request.truncate_prompt = fields.integer("truncate_prompt_tokens", -1, INT32_MAX).value_or(0);
    const auto n = static_cast<std::int64_t>(request.n);
    if (fields.integer("best_of", 1, INT32_MAX).value_or(n) != n)
        fields.refuse("best_of", "not supported by this server; set it to n, or remove it");
    read_neutral(fields);
}

std::vector<std::int32_t> read_ids(const Fields& fields, const std::string& name, const json& list) {
    std::vector<std::int32_t> ids;
    for (const json& id : list) {
        const std::int64_t n = formats::whole_number(id).value_or(-1);
        if (n < 0 || n > INT32_MAX) fields.refuse(name, "token ids must be whole numbers of at least 0");
        ids.push_back(static_cast<std::int32_t>(n));
    }
    return ids;
}

namespace {

std::vector<Prompt> read_prompts(const Fields& fields, const RequestLimits& limits) {
    constexpr const char* kRequired = "a text, a list of texts, token ids, or a list of lists of token ids is required";
    const json* const prompt = fields.find("prompt");
    if (!prompt) return {Prompt("")};
    if (prompt->is_string()) return {Prompt(prompt->get<std::string>())};
    if (!prompt->is_array() || prompt->empty()) fields.refuse("prompt", kRequired);
    const auto all = [&](const auto& fits) { return std::all_of(prompt->begin(), prompt->end(), fits); };
    if (all([](const json& e) { return e.is_number(); })) return {Prompt(read_ids(fields, "prompt", *prompt))};
    if (prompt->size() > limits.max_texts)
        fields.refuse("prompt", fmt::format("expected at most {} prompts, got {}", limits.max_texts, prompt->size()));
    std::vector<Prompt> prompts;
    if (all([](const json& e) { return e.is_string(); })) {
        for (const json& text : *prompt) prompts.push_back(text.get<std::string>());
    } else if (all([](const json& e) { return e.is_array() && !e.empty(); })) {
        for (const json& ids : *prompt) prompts.push_back(read_ids(fields, "prompt", ids));
    } else {
        fields.refuse("prompt", kRequired);
    }
    return prompts;
}

}  // namespace

CompletionRequest parse_completion(const std::string& text, const RequestLimits& limits) {
    const json body = parse_body(text);
    const Fields fields(body);
    CompletionRequest request;
    read_common(fields, limits, request);
    request.prompts = read_prompts(fields, limits);
    request.echo = fields.flag("echo").value_or(false);
    if (const auto n = fields.integer("logprobs", 0, kMaxLogprobs)) {
        request.options.logprobs = static_cast<std::size_t>(*n);
        request.options.prompt_logprobs = request.echo;
    }
    fields.accept("add_special_tokens", {true});
    fields.refuse_others();
    return request;
}

}  // namespace inkling::web
