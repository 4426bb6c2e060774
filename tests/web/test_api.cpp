// The server's other paths, its queue, and clients that leave.
#include "tests/web/served.h"

static double metric(int port, const std::string& name) {
    const std::string text = get(port, "/metrics").body;
    const std::size_t at = text.find("\n" + name + " ");
    INFO(name << " in\n" << text);
    REQUIRE(at != std::string::npos);
    return std::stod(text.substr(at + name.size() + 2));
}

// A text that does not end within the time that a test has, from a server that allows it.
constexpr std::int64_t kEndless = 100'000'000;
const json kLong = {{"prompt", "One day "}, {"max_tokens", kEndless}, {"stream", true}, {"logit_bias", {{"0", -100}}}};

TEST_CASE("api: health and models", "[serve]") {
    web::Api api(kSmallServer);
    api.start();
    const int port = api.http().port();
    for (const char* path : {"/health", "/v1/models", "/v1/models/stories"})
        WITH_INFO(path, CHECK(get(port, path).status == 503));
    check_refused(post(port, "/v1/completions", {{"prompt", "a"}}), 503, "loading");
    api.add_model(web::load_served_model("stories", tests_path("reference/greedy_gpt2"), WeightType::fp32));
    CHECK_THROWS_WITH(
        api.add_model(web::load_served_model("stories", tests_path("reference/greedy_gpt2"), WeightType::fp32)),
        contains("two models are called stories"));
    api.add_model(web::load_served_model("org/letters", tests_path("reference/greedy_llama"), WeightType::bf16));
    api.ready();
    CHECK(get(port, "/health").json() == json{{"status", "ok"}});
    const json models = get(port, "/v1/models").json();
    REQUIRE(models["data"].size() == 2);
    check_holds(models, "object", "list", "/data/0/id", "stories", "/data/0/max_model_len", 96, "/data/0/chat", false);
    CHECK(get(port, "/v1/models/org/letters").json()["id"] == "org/letters");
    check_refused(get(port, "/v1/models/other"), 404, "model_not_found");
    CHECK(post(port, "/v1/completions", {{"prompt", "One"}, {"model", "gpt-4"}}).error() ==
          "there is no model gpt-4: this server has stories, org/letters");
    CHECK(post(port, "/v1/completions", {{"prompt", "One"}, {"model", "org/letters"}}).json()["model"] ==
          "org/letters");
    const Answer bad = post(port, "/v1/completions", {{"prompt", "\u6f22"}, {"model", "org/letters"}});
    CHECK(bad.status == 400);  // a character that the vocabulary lacks
}

TEST_CASE("api: tokens and texts, as llama.cpp's server", "[serve]") {
    const ChatFolder folder;
    Served served(kSmallServer, folder.scratch.path());
    const int port = served.port();
    const std::string text = "Rosa \u20ac<|im_end|>";
    const json ids = post(port, "/tokenize", {{"content", text}}).json()["tokens"];
    CHECK_ALL(ids.back() == 812, post(port, "/detokenize", {{"tokens", ids}}).json()["content"] == text);
    const json plain =
        post(port, "/tokenize", {{"content", text}, {"parse_special", false}, {"add_special", true}}).json()["tokens"];
    CHECK(plain.back() != 812);
    const json pieces = post(port, "/tokenize", {{"content", text}, {"with_pieces", true}}).json()["tokens"];
    std::string joined;
    bool bytes = false;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        CHECK(pieces[i]["id"] == ids[i]);
        if (pieces[i]["piece"].is_string()) joined += pieces[i]["piece"].get<std::string>();
        if (!pieces[i]["piece"].is_array()) continue;
        bytes = true;
        for (const json& byte : pieces[i]["piece"]) joined += static_cast<char>(byte.get<int>());
    }
    CHECK_ALL(joined == text, bytes);
    const std::tuple<std::string, std::string, json> refused[] = {
        {"/tokenize", "content", json::object()},         {"/tokenize", "content", {{"content", 5}}},
        {"/tokenize", "x", {{"content", "a"}, {"x", 1}}}, {"/detokenize", "tokens", json::object()},
        {"/detokenize", "tokens", {{"tokens", "a"}}},     {"/detokenize", "tokens", {{"tokens", {-1}}}},
        {"/detokenize", "tokens", {{"tokens", {813}}}},   {"/detokenize", "x", {{"tokens", {1}}, {"x", 1}}}};
    for (const auto& [path, param, body] : refused)
        WITH_INFO(path << " " << body, check_refused(post(port, path, body), 400, param));
}

TEST_CASE("api: the queue, and those who leave", "[serve]") {
    Served served({.http = {.port = 0}, .scheduler = {.parallel = 2, .queue = 1}, .max_tokens = kEndless});
    const int port = served.port();
    const web::Metrics& metrics = served.api.metrics();
    auto one = std::make_unique<Wire>(port), two = std::make_unique<Wire>(port), three = std::make_unique<Wire>(port);
    for (Wire* wire : {one.get(), two.get()}) {
        wire->send(request_text("POST", "/v1/completions", kLong.dump()));
        CHECK(wire->answer(true).status == 200);
    }
    three->send(request_text("POST", "/v1/completions", kLong.dump()));
    wait_until([&] { return metrics.waiting() == 1; });
    const Answer full = served.complete({{"prompt", "a"}});
    check_refused(full, 429, "queue_full");
    CHECK_ALL(full.json()["error"]["type"] == "rate_limit_error", full.has_header("Retry-After: 1"));
    check_refused(served.complete({{"prompt", "a"}, {"n", 3}}), 400, "n");
    check_refused(served.complete({{"prompt", {"a", "b", "c", "d"}}}), 400, "prompt");
    CHECK(metric(port, "inkling_texts_running") == 2);
    one->close();  // the next has its place
    CHECK_ALL(three->answer(true).status == 200, metrics.waiting() == 0);
    two->close(), three->close();
    wait_until([&] { return metrics.running() == 0; });
    CHECK(metric(port, "inkling_abandoned_texts_total") == 3);
    CHECK_ALL(metric(port, "inkling_generated_tokens_total") < 3 * kEndless, served.text({{"prompt", "a"}}).size() > 0);
}

TEST_CASE("api: limits of tokens, of which more than the server writes are as many as fit the context", "[serve]") {
    Served served({.http = {.port = 0}, .max_tokens = 20});
    CHECK(served.complete({{"prompt", "a"}, {"max_tokens", 20}}).status == 200);
    // the stories end with token 0, which is suppressed
    const auto tokens = [&](const json& n) {
        const json asked = {{"prompt", "One day "}, {"max_tokens", n}, {"logit_bias", {{"0", -100}}}};
        const json a = served.complete(asked).json();
        CHECK(a["choices"][0]["finish_reason"] == "length");
        return a["usage"]["completion_tokens"].get<int>();
    };
    CHECK_ALL(tokens(19) == 19, tokens(21) == 20, tokens(-1) == 20);
    Served small;  // more tokens than the server writes are as many as fit the context
    json asked = {{"prompt", "One day "}, {"max_tokens", 100000}, {"logit_bias", {{"0", -100}}}};
    const auto usage = [&] { return small.complete(asked).json()["usage"]; };
    CHECK(usage()["total_tokens"] == 96);
    asked["max_tokens"] = 200;
    CHECK(usage()["completion_tokens"] == 200);  // as inkling generate
}

TEST_CASE("api: stopping finishes what runs, or ends it with an answer", "[serve]") {
    bool running = false;
    for (int n = 300; !running; n *= 4) {  // a quick machine may have written a short text before this test looks
        Served served({.http = {.port = 0}, .max_tokens = kEndless});
        const int port = served.port();
        Wire wire(port);
        json asked = kLong;
        asked["max_tokens"] = n;
        asked["stream"] = false;
        wire.send(request_text("POST", "/v1/completions", asked.dump()));
        wait_until([&] { return metric(port, "inkling_generated_tokens_total") > 0; });
        running = served.api.metrics().running() == 1;
        served.api.stop(3600);
        const Answer a = wire.answer();
        CHECK_ALL(a.status == 200, a.json()["usage"]["completion_tokens"] == n);
    }
    Served served({.http = {.port = 0}, .max_tokens = kEndless});
    const int port = served.port();
    Wire streaming(port), waiting(port);
    json asked = kLong;
    streaming.send(request_text("POST", "/v1/completions", asked.dump()));
    asked["stream"] = false;
    waiting.send(request_text("POST", "/v1/completions", asked.dump()));
    wait_until([&] { return served.api.metrics().running() == 2; });
    std::string stream;
    std::thread reader([&] { stream = streaming.rest(); });
    served.api.stop(0.2);
    reader.join();
    CHECK_THAT(stream, contains("shutting_down"));
    check_refused(waiting.answer(), 503, "shutting_down");
}

TEST_CASE("api: a client that has closed its side alone gets its answer", "[serve]") {
    Served served({.http = {.port = 0}, .max_tokens = kEndless});
    const json whole = {{"prompt", "One day "}, {"seed", 9}, {"max_tokens", 3000}};
    const std::string text = served.text(whole);
    for (const bool stream : {false, true}) {
        json asked = whole;
        asked["stream"] = stream;
        Wire wire(served.port());
        wire.send(request_text("POST", "/v1/completions", asked.dump()));
        wire.end();
        const Answer a = wire.answer();
        CHECK(a.status == 200);
        CHECK((stream ? streamed_text(a) : a.json()["choices"][0]["text"].get<std::string>()) == text);
    }
    Wire old(served.port());  // HTTP/1.0 has no interim response: it is taken to have gone, and told so
    json asked = kLong;
    asked["stream"] = false;
    const std::string body = asked.dump();
    old.send(fmt::format("POST /v1/completions HTTP/1.0\r\nContent-Length: {}\r\n\r\n{}", body.size(), body));
    old.end();
    const Answer a = old.answer();
    CHECK_ALL(a.head.starts_with("HTTP/1.1 400 Bad Request\r\n"), a.json()["error"]["code"] == "client_gone");
    Wire gone(served.port());  // and one that has gone frees its place
    gone.send(request_text("POST", "/v1/completions", body));
    wait_until([&] { return served.api.metrics().running() == 1; });
    gone.end();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    CHECK(served.api.metrics().running() == 1);
    gone.close();
    wait_until([&] { return served.api.metrics().running() == 0; });
}

TEST_CASE("api: metrics count", "[serve]") {
    Served served;
    const int port = served.port();
    served.text({{"prompt", "One day "}, {"max_tokens", 7}});
    served.complete({{"prompt", 5}});
    get(port, "/nothing");
    wait_until([&] { return get(port, "/metrics").body.find("path=\"\",status=\"404\"} 1") != std::string::npos; });
    CHECK_ALL(metric(port, "inkling_generated_tokens_total") == 7, metric(port, "inkling_prompt_tokens_total") > 0);
    CHECK(metric(port, "inkling_requests_total{path=\"/v1/completions\",status=\"200\"}") == 1);
    CHECK(metric(port, "inkling_requests_total{path=\"/v1/completions\",status=\"400\"}") == 1);
    CHECK(metric(port, "inkling_first_token_seconds_count") == 1);
    CHECK(metric(port, "inkling_request_seconds_bucket{le=\"+Inf\"}") >= 3);
    CHECK(get(port, "/metrics").has_header("Content-Type: text/plain; version=0.0.4; charset=utf-8"));
}
