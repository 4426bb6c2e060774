// inkling serve, as a user starts and stops it.
#include "tests/cli/program.h"
#include "tests/support/http_client.h"

namespace {

const std::string kServed = tests_path("reference/greedy_gpt2");

struct Server {
    int port = free_port();
    Process process;

    template <class... Pieces>
    explicit Server(const Pieces&... flags) : process(words("serve --port", std::to_string(port), flags...)) {
        wait_for(port, "/health");
    }
    // Streams this many tokens; returns once the text has begun.
    void stream(Wire& wire, int tokens, const std::string& headers = "") const {
        const json asked = {{"prompt", "a"}, {"max_tokens", tokens}, {"stream", true}, {"logit_bias", {{"0", -100}}}};
        wire.send(request_text("POST", "/v1/completions", asked.dump(), headers));
        CHECK(wire.until("data: ").size() > 0);
    }
};

}  // namespace

TEST_CASE("serve: the text of inkling generate, with keys, until a signal", "[cli]") {
    const ScratchFolder folder;
    const std::string keys = folder.write("keys", "# of the house\n\nsecret-1\r\nsecret-2\n");
    const Result generated = execute("generate --model", kServed,
                                     "--prompt 'One day ' --no-prompt -n 50 --seed 8 --temperature 1 "
                                     "--presence-penalty 0.5 --frequency-penalty 0.25");
    for (const auto& [number, code] : {std::pair{SIGINT, 130}, std::pair{SIGTERM, 143}}) {
        Server server("--model", kServed, "--model", "other=" + tests_path("reference/greedy_llama"), "--api-key-file",
                      keys);
        const int port = server.port;
        const json asked = {{"prompt", "One day "},
                            {"max_tokens", 50},
                            {"seed", 8},
                            {"presence_penalty", 0.5},
                            {"frequency_penalty", 0.25}};
        CHECK(ask(port, "POST", "/v1/completions", asked.dump()).status == 401);
        const Answer a = ask(port, "POST", "/v1/completions", asked.dump(), "Authorization: Bearer secret-1\r\n");
        REQUIRE(a.status == 200);
        CHECK(a.json()["choices"][0]["text"].get<std::string>() + "\n" == generated.out);
        const auto models = get(port, "/v1/models", "Authorization: Bearer secret-2\r\n").json()["data"];
        check_holds(models, "/0/id", "greedy_gpt2", "/1/id", "other");
        Wire running(port);  // what runs is finished
        server.stream(running, 2000, "Authorization: Bearer secret-2\r\n");
        server.process.signal(number);
        check_has(running.rest(), "data: [DONE]");
        const Result r = ended_with(code, server.process.wait());
        CHECK(r.out.empty());
        check_has(r.err, "http://127.0.0.1:" + std::to_string(port));
        check_lacks(r.err, "secret");
    }
}

TEST_CASE("serve: a model, and beside it its adapters by name", "[cli]") {
    const ScratchFolder folder;
    const std::string base = tests_path("reference/llama_tiny"), adapter = tests_path("reference/adapters/llama"),
                      other = folder.path("other");
    fs::copy(adapter, other);
    auto config = json_in(adapter + "/adapter_config.json");
    config["lora_alpha"] = config["lora_alpha"].get<double>() * -4;  // it pushes the other way
    std::ofstream(other + "/adapter_config.json") << config;
    const auto generated = [](const auto&... model) {
        return program("generate --no-prompt -p a -n 8 --temperature 0", model...).out;
    };
    Server server("--model", base, "--adapter", "plus=" + adapter, "--adapter", "minus=" + other);
    CHECK(get(server.port, "/v1/models").json()["data"].size() == 3);
    const auto served = [&](const std::string& model) {
        const json asked = {{"model", model}, {"prompt", "a"}, {"max_tokens", 8}, {"temperature", 0}};
        return post(server.port, "/v1/completions", asked).json()["choices"][0]["text"].get<std::string>() + "\n";
    };
    CHECK(served("llama_tiny") == generated("--model", base));
    CHECK(served("plus") == generated("--model", base, "--adapter", adapter));
    CHECK(served("minus") == generated("--model", base, "--adapter", other));
    CHECK(std::set<std::string>{served("llama_tiny"), served("plus"), served("minus")}.size() == 3);
    server.process.signal(SIGTERM);
    CHECK(server.process.wait().code == 143);
    const Arguments serve = words("serve --model", base, "--port 0");
    check_fails(call(serve + words("--adapter", adapter, "--adapter", other)), 2, "several adapters need names");
    check_fails(call(serve + words("--adapter", "a=" + adapter, "--adapter", "a=" + other)), 2,
                "two models are called a");
    check_fails(call(serve + words("--adapter", "a=" + base)), 3, "not an adapter");
}

TEST_CASE("serve: a second signal ends what runs", "[cli]") {
    Server server("--max-tokens 100000000 --model", kServed);
    Wire running(server.port);
    server.stream(running, 100000000);
    server.process.signal(SIGTERM);
    wait_until([&] { return get(server.port, "/health").status == 503; });
    server.process.signal(SIGTERM);
    CHECK(server.process.wait(60).code == 143);
}

TEST_CASE("serve: models that cannot be served", "[cli]") {
    const ScratchFolder folder;
    const inkling::web::HttpServer taken({.port = 0});
    const Arguments serve = words("serve --port 0 --model", kServed), keys = serve + "--api-key-file";
    const std::tuple<Arguments, int, std::string> cases[] = {
        {serve + "--host 0.0.0.0", 2, "--api-key-file"},
        {serve + "--port 65536", 2, "--port"},
        {serve + "--parallel 0", 2, "--parallel"},
        {serve + "--max-body 0", 2, "--max-body"},
        {serve + "--max-connections 0", 2, "--max-connections"},
        {serve + "--max-tokens 0", 2, "--max-tokens"},
        {words("serve --port 0 --model", folder.path("none")), 3, "there is no such model folder"},
        {keys + folder.path("none"), 3, "none"},
        {keys + folder.write("empty", "\n#\n"), 3, "has none"},
        {keys + folder.write("tab", "a\tb\n"), 3, "tab: line 1: the key has a control character"},
        {serve + "--allow-host a:80", 2, "--allow-host: "},
        {serve + "--allow-origin *", 2, "--allow-origin: "},
        {words("train --allow-host a --out", folder.path("run")), 2, "--serve"},
        {serve + "--port" + std::to_string(taken.port()), 1, "Address already in use: choose another address or port"},
        {serve + "--model" + kServed, 2, "two models are called greedy_gpt2"}};
    for (const auto& [command, code, message] : cases) check_fails(program(command), code, message);
}
