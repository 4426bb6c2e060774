// Completions over HTTP, against generate/ and against transformers' numbers.
#include <future>

#include "engine/process/threads.h"
#include "tests/models/architectures.h"
#include "tests/web/served.h"
#include "web/api/scheduler.h"

// The text from generate/ itself.
static std::string written(const std::string& prompt, const generate::GenerateOptions& options) {
    const models::LoadedModel loaded = models::load_model(tests_path("reference/greedy_gpt2"));
    generate::Sequence sequence(*loaded.model, loaded.tokenizer.get(), options);
    sequence.add(prompt);
    return sequence.write();
}

static generate::GenerateOptions seeded(std::uint64_t seed, std::size_t max_tokens, double temperature = 1) {
    generate::GenerateOptions options;
    options.seed = seed, options.max_tokens = max_tokens, options.temperature = temperature;
    return options;
}

TEST_CASE("completions: the answer is OpenAI's", "[serve]") {
    Served served;
    const Answer a = served.complete({{"prompt", "One day "}, {"max_tokens", 5}, {"seed", 3}, {"model", "stories"}});
    INFO(a.body);
    REQUIRE(a.status == 200);
    const json body = a.json();
    check_holds(body, "object", "text_completion", "model", "stories", "seed", 3, "/choices/0/finish_reason", "length",
                "/choices/0/logprobs", nullptr, "/usage/completion_tokens", 5, "/usage/total_tokens",
                5 + body["usage"]["prompt_tokens"].get<int>());
    CHECK_ALL(body["id"].get<std::string>().starts_with("cmpl-"), body["created"].get<std::int64_t>() > 1'600'000'000);
    CHECK(body["choices"].size() == 1);
    check_refused(served.complete({{"prompt", "a"}, {"frobnicate", 1}}), 400, "frobnicate");
    CHECK(post(served.port(), "/v1/completions", "text").status == 400);
    CHECK(served.complete({{"prompt", "a"}}).json()["usage"]["completion_tokens"] == 16);
}

TEST_CASE("completions: the text is that of inkling generate, whatever runs beside it", "[serve]") {
    generate::GenerateOptions options = seeded(11, 60, 0.9);
    options.top_k = 40, options.top_p = 0.95, options.min_p = 0.01, options.repeat_penalty = 1.1;
    const json asked = {{"prompt", "One day "}, {"max_tokens", 60}, {"seed", 11},    {"temperature", 0.9},
                        {"top_k", 40},          {"top_p", 0.95},    {"min_p", 0.01}, {"repeat_penalty", 1.1}};
    const std::string alone = written("One day ", options);
    options.sample = 2;
    const std::string third = written("One day ", options);
    for (const std::size_t threads : {1, 2}) {
        INFO(threads << " threads");
        Served served({.http = {.port = 0}, .scheduler = {.parallel = 12, .queue = 100, .threads = threads}});
        CHECK(served.text(asked) == alone);
        std::vector<std::future<void>> others;
        const int port = served.port();
        for (int i = 0; i < 32; ++i)
            others.push_back(std::async(std::launch::async, [port, i] {
                const json other = {{"prompt", std::string(static_cast<std::size_t>(i % 7), 'a') + "b "},
                                    {"max_tokens", 5 + 3 * i},
                                    {"seed", i}};
                if (post(port, "/v1/completions", other).status != 200) throw std::runtime_error("refused");
            }));
        json three = asked;
        three["n"] = 3;
        const json choices = served.complete(three).json()["choices"];
        REQUIRE(choices.size() == 3);
        CHECK_ALL(choices[0]["text"] == alone, choices[2]["text"] == third);
        json stream = asked;
        stream["stream"] = true;
        CHECK(streamed_text(served.complete(stream)) == alone);
        for (auto& other : others) CHECK_NOTHROW(other.get());
        CHECK_ALL(served.api.metrics().running() == 0, served.api.metrics().waiting() == 0);
    }
}

TEST_CASE("completions: prompts as lists, as tokens and as nothing, stop texts and biases", "[serve]") {
    Served served;
    const auto ids = post(served.port(), "/tokenize", {{"content", "One day "}}).json()["tokens"];
    const std::string text = served.text({{"prompt", "One day "}, {"seed", 5}});
    CHECK(served.text({{"prompt", ids}, {"seed", 5}}) == text);
    const json both = served.complete({{"prompt", {"Rosa", "One day "}}, {"seed", 5}, {"n", 2}}).json();
    REQUIRE(both["choices"].size() == 4);
    for (std::size_t i = 0; i < 4; ++i) CHECK(both["choices"][i]["index"] == i);
    CHECK_ALL(both["choices"][2]["text"] == text, both["choices"][0]["text"] != both["choices"][1]["text"]);
    const json lists = served.complete({{"prompt", {ids, {1, 2}}}, {"seed", 5}}).json();
    CHECK(lists["choices"][0]["text"] == text);
    CHECK(served.text({{"prompt", ""}, {"seed", 5}}) == written("", seeded(5, 16)));
    CHECK(served.text({{"seed", 5}}) == written("", seeded(5, 16)));
    check_refused(served.complete({{"prompt", {811}}}), 400, "prompt");
    check_refused(served.complete({{"prompt", "a"}, {"logit_bias", {{"811", 1}}}}), 400, "logit_bias");
    json asked = {{"prompt", "One day "}, {"seed", 1}, {"max_tokens", 60}};
    const std::string whole = served.text(asked), stop = whole.substr(20, 4);
    asked["stop"] = stop;
    for (const bool stream : {false, true}) {
        asked["stream"] = stream;
        const Answer a = served.complete(asked);
        const json last = (stream ? events(a).back() : a.json())["choices"][0];
        CHECK(last["finish_reason"] == "stop");
        CHECK((stream ? streamed_text(a) : last["text"].get<std::string>()) == whole.substr(0, whole.find(stop)));
    }
    const json biased = {{"prompt", "One day "}, {"logprobs", 0}, {"max_tokens", 8}, {"logit_bias", {{"70", 100}}}};
    const json tokens = served.choice(biased)["logprobs"]["tokens"];
    for (const json& token : tokens) CHECK(token == tokens[0]);
}

TEST_CASE("completions: streams", "[serve]") {
    Served served;
    json asked = {
        {"prompt", {"One day ", "Rosa"}}, {"seed", 1}, {"max_tokens", 12}, {"n", 2}, {"echo", true}, {"logprobs", 2}};
    const json whole = served.complete(asked).json();
    asked["stream"] = true;
    asked["stream_options"] = {{"include_usage", true}};
    const Answer a = served.complete(asked);
    CHECK(a.has_header("Content-Type: text/event-stream"));
    std::vector<json> chunks = events(a);
    CHECK_ALL(chunks.back()["usage"] == whole["usage"], chunks.back()["choices"].empty());
    chunks.pop_back();
    CHECK(chunks.size() > 4 * 6);
    std::vector<json> joined(4);
    for (const json& chunk : chunks) {
        CHECK_ALL(chunk["object"] == "text_completion", chunk["id"] == chunks[0]["id"]);
        const json& choice = chunk["choices"][0];
        json& to = joined[choice["index"].get<std::size_t>()];
        if (to.is_null()) {
            to = choice;
            continue;
        }
        CHECK(to["finish_reason"].is_null());
        to["finish_reason"] = choice["finish_reason"];
        to["text"] = to["text"].get<std::string>() + choice["text"].get<std::string>();
        for (const auto& [key, list] : choice["logprobs"].items())
            for (const json& value : list) to["logprobs"][key].push_back(value);
    }
    CHECK(json(joined) == whole["choices"]);
}

TEST_CASE("completions: log-probabilities are transformers'", "[serve]") {
    Served served;
    const json texts = reference("serve.json")["texts"];
    for (const json& r : texts) {
        const auto ids = r["ids"].get<std::vector<std::int32_t>>();
        json asked = {{"prompt", r["text"]}, {"echo", true}, {"logprobs", 3}, {"max_tokens", 1}, {"temperature", 0}};
        const json choice = served.choice(asked);
        CHECK(choice["text"].get<std::string>().starts_with(r["text"].get<std::string>()));
        const json& got = choice["logprobs"];
        const bool ended = choice["finish_reason"] == "stop";
        REQUIRE(got["tokens"].size() == ids.size() + 1);
        CHECK_ALL(got["token_logprobs"][0].is_null(), got["top_logprobs"][0].is_null(), got["text_offset"][0] == 0);
        for (std::size_t i = 1; i <= ids.size(); ++i) {
            INFO(r["text"] << " " << i);
            const json& top = got["top_logprobs"][i];
            double best = -1e9;
            for (const auto& [token, value] : top.items()) best = std::max(best, value.get<double>());
            CHECK(std::abs(best - r["top"][i - 1][0][1].get<double>()) < 1e-4);
            if (i < ids.size())
                CHECK(std::abs(got["token_logprobs"][i].get<double>() - r["logprobs"][i - 1].get<double>()) < 1e-4);
            CHECK_ALL(top.size() >= 3, top.size() <= 4);
        }
        std::string joined;
        for (std::size_t i = 0; i < ids.size(); ++i) {
            CHECK(got["text_offset"][i] == joined.size());
            joined += got["tokens"][i].get<std::string>();
        }
        CHECK(r["text"] == joined);
        asked["max_tokens"] = 0;
        asked["prompt"] = ids;
        const json none = served.choice(asked);
        CHECK_ALL(none["text"] == r["text"], none["finish_reason"] == "length");
        CHECK(none["logprobs"]["tokens"].size() == ids.size());
        CHECK(none["logprobs"]["token_logprobs"].back() == got["token_logprobs"][ids.size() - 1]);
        CHECK((ended || choice["text"].get<std::string>().size() > r["text"].get<std::string>().size()));
    }
}

TEST_CASE("completions: the context", "[serve]") {
    Served served;
    std::string longer;
    for (int i = 0; i < 100; ++i) longer += "One day ";
    check_refused(served.complete({{"prompt", longer}}), 400, "context_length_exceeded");
    CHECK(served.text({{"prompt", longer}, {"truncate_prompt_tokens", -1}, {"seed", 1}}).size() > 0);
    const json ids = post(served.port(), "/tokenize", {{"content", longer}}).json()["tokens"];
    const json last(std::vector<json>(ids.end() - 5, ids.end()));
    CHECK(served.text({{"prompt", longer}, {"truncate_prompt_tokens", 5}, {"seed", 1}}) ==
          served.text({{"prompt", last}, {"seed", 1}}));
    // a text may be longer than the context, as in inkling generate
    CHECK(served.text({{"prompt", "One day "}, {"seed", 1}, {"max_tokens", 300}}) ==
          written("One day ", seeded(1, 300)));
}
