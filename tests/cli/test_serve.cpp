// inkling serve, as a user starts and stops it.
#include <fstream>
#include <set>

#include "tests/cli/program.h"
#include "tests/support/http_client.h"
#include "web/http/http.h"

using namespace inkling::testing;

TEST_CASE("serve: the text of inkling generate, with keys, until a signal", "[cli]") {
    const ScratchFolder folder;
    const std::string keys = folder.write("keys", "# of the house\n\nsecret-1\r\nsecret-2\n");
    const std::string model = tests_path("reference/greedy_gpt2");
    const Result generated =
        succeeded(program({"generate", "--model", model, "--prompt", "One day ", "--no-prompt", "-n", "50", "--seed",
                           "8", "--temperature", "1", "--presence-penalty", "0.5", "--frequency-penalty", "0.25"}));
    for (const auto& [number, code] : {std::pair{SIGINT, 130}, std::pair{SIGTERM, 143}}) {
        const int port = free_port();
        Process server({"serve", "--model", model, "--model", "other=" + tests_path("reference/greedy_llama"), "--port",
                        std::to_string(port), "--api-key-file", keys});
        wait_for(port, "/health");
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
        CHECK(models[0]["id"] == "greedy_gpt2");
        CHECK(models[1]["id"] == "other");
        Wire running(port);  // what runs is finished
        const json longer = {
            {"prompt", "One day "}, {"max_tokens", 2000}, {"stream", true}, {"logit_bias", {{"0", -100}}}};
        running.send(request_text("POST", "/v1/completions", longer.dump(), "Authorization: Bearer secret-2\r\n"));
        CHECK(running.until("data: ").size() > 0);
        server.signal(number);
        CHECK(running.rest().find("data: [DONE]") != std::string::npos);
        const Result r = ended_with(code, server.wait());
        CHECK(r.out.empty());
        CHECK_THAT(r.err, contains("http://127.0.0.1:" + std::to_string(port)));
        CHECK_THAT(r.err, !contains("secret"));
    }
}

TEST_CASE("serve: a model, and beside it its adapters by name", "[cli]") {
    const ScratchFolder folder;
    const std::string base = tests_path("reference/llama_tiny"), adapter = tests_path("reference/adapters/llama"),
                      other = folder.path("other");
    fs::copy(adapter, other);
    auto config = json::parse(read_file(adapter + "/adapter_config.json"));
    config["lora_alpha"] = config["lora_alpha"].get<double>() * -4;  // it pushes the other way
    std::ofstream(other + "/adapter_config.json") << config;
    const auto generated = [](const Arguments& model) {
        return program(Arguments{"generate", "--no-prompt", "-p", "a", "-n", "8", "--temperature", "0"} + model).out;
    };
    const int port = free_port();
    Process server({"serve", "--model", base, "--adapter", "plus=" + adapter, "--adapter", "minus=" + other, "--port",
                    std::to_string(port)});
    wait_for(port, "/health");
    CHECK(get(port, "/v1/models").json()["data"].size() == 3);
    const auto served = [&](const std::string& model) {
        const json asked = {{"model", model}, {"prompt", "a"}, {"max_tokens", 8}, {"temperature", 0}};
        return post(port, "/v1/completions", asked).json()["choices"][0]["text"].get<std::string>() + "\n";
    };
    CHECK(served("llama_tiny") == generated({"--model", base}));
    CHECK(served("plus") == generated({"--model", base, "--adapter", adapter}));
    CHECK(served("minus") == generated({"--model", base, "--adapter", other}));
    CHECK(std::set<std::string>{served("llama_tiny"), served("plus"), served("minus")}.size() == 3);
    server.signal(SIGTERM);
    CHECK(server.wait().code == 143);
    const Arguments serve = {"serve", "--model", base, "--port", "0"};
    check_fails(call(serve + Arguments{"--adapter", adapter, "--adapter", other}), 2, "each of several needs a name");
    check_fails(call(serve + Arguments{"--adapter", "a=" + adapter, "--adapter", "a=" + other}), 2,
                "two models are called a");
    check_fails(call(serve + Arguments{"--adapter", "a=" + base}), 3, "is no adapter");
}

TEST_CASE("serve: a second signal ends what runs", "[cli]") {
    const int port = free_port();
    Process server({"serve", "--model", tests_path("reference/greedy_gpt2"), "--port", std::to_string(port),
                    "--max-tokens", "100000000"});
    wait_for(port, "/health");
    Wire running(port);
    const json endless = {{"prompt", "a"}, {"max_tokens", 100000000}, {"stream", true}, {"logit_bias", {{"0", -100}}}};
    running.send(request_text("POST", "/v1/completions", endless.dump()));
    CHECK(running.until("data: ").size() > 0);
    server.signal(SIGTERM);
    for (Answer a; a.status != 503; std::this_thread::sleep_for(std::chrono::milliseconds(2))) {
        a = get(port, "/health");
        REQUIRE((a.status == 200 || a.status == 503));
    }
    server.signal(SIGTERM);
    CHECK(server.wait(60).code == 143);
}

TEST_CASE("serve: models that cannot be served", "[cli]") {
    const ScratchFolder folder;
    const std::string model = tests_path("reference/greedy_gpt2");
    check_fails(call({"serve", "--model", model, "--host", "0.0.0.0"}), 2, "--api-key-file");
    check_fails(call({"serve", "--model", model, "--port", "65536"}), 2, "--port");
    check_fails(call({"serve", "--model", model, "--port", "0", "--parallel", "0"}), 2, "--parallel");
    check_fails(call({"serve", "--model", folder.path("none"), "--port", "0"}), 3, "there is no such model folder");
    check_fails(call({"serve", "--model", model, "--port", "0", "--api-key-file", folder.path("none")}), 3, "none");
    check_fails(call({"serve", "--model", model, "--port", "0", "--api-key-file", folder.write("empty", "\n#\n")}), 3,
                "has none");
    check_fails(call({"serve", "--model", model, "--port", "0", "--api-key-file", folder.write("tab", "a\tb\n")}), 3,
                "tab: line 1: the key has a control character");
    check_fails(call({"serve", "--model", model, "--allow-host", "a:80"}), 2, "--allow-host: ");
    check_fails(call({"serve", "--model", model, "--allow-origin", "*"}), 2, "--allow-origin: ");
    check_fails(call({"train", "--allow-host", "a", "--out", folder.path("run")}), 2, "--serve");
    const inkling::web::HttpServer taken({.port = 0});
    check_fails(program({"serve", "--model", model, "--port", std::to_string(taken.port())}), 1,
                "Address already in use: choose another address or port");
    check_fails(call({"serve", "--model", model, "--model", model, "--port", "0"}), 2,
                "two models are called greedy_gpt2");
}
