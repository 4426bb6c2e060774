// The data of a run's page: from complete, half-written and damaged files, and while the run continues.
#include "web/report/run_data.h"

#include "data/tokenizers/char_tokenizer.h"
#include "engine/base/clock.h"
#include "tests/models/chat_folder.h"
#include "tests/web/run_files.h"
#include "web/report/jsonl.h"

// Step i has loss 10 / i, and every tenth a validation loss.
static std::vector<ordered_json> falling(std::size_t n, double factor = 1) {
    std::vector<ordered_json> lines;
    for (std::size_t i = 1; i <= n; ++i) {
        lines.push_back(
            {{"step", i}, {"loss", factor * 10.0 / static_cast<double>(i)}, {"train_s", 0.5 * static_cast<double>(i)}});
        if (i % 10 == 0) lines.back()["val_loss"] = factor * 11.0 / static_cast<double>(i);
    }
    return lines;
}

TEST_CASE("run data: metrics are columns, and a line that is still being written or no JSON waits", "[report]") {
    const RunFiles run("a run");
    run.metrics({{{"step", 1}, {"loss", 2.5}, {"lr", 0.01}},
                 {{"step", 2}, {"loss", nullptr}},  // as NaN is written
                 {{"step", 3}, {"loss", 1.5}, {"val_loss", 1.75}, {"bits_per_byte", 2.5}}});
    const ordered_json data = run_data(run.path);
    check_holds(data, "name", "a run", "/metrics/step", json({1, 2, 3}), "/metrics/loss", json({2.5, nullptr, 1.5}),
                "/metrics/val_loss", json({nullptr, nullptr, 1.75}), "/metrics/lr", json({0.01, nullptr, nullptr}),
                "/settings/batch_size", 4, "tokens_per_step", 32, "model", nullptr, "notes", json::array());
    CHECK(data["floor"].get<double>() == Approx(0.11).margin(0.01));  // the stories: --data is not given
    const RunFiles growing;
    growing.metrics({{{"step", 1}, {"loss", 2.5}}});
    growing.append("metrics.jsonl", "{\"step\": 2, \"loss\": NaN}\n\x01\xff{\n" + std::string(1'000'000, '[') +
                                        "\n{\"step\": 3, \"loss\": 2.25}\n{\"step\": 4, \"lo");
    const ordered_json grown = run_data(growing.path);
    CHECK(grown["metrics"]["step"] == ordered_json({1, 2, 3}));
    CHECK(grown["metrics"]["loss"] == ordered_json({2.5, nullptr, 2.25}));  // NaN, as Python writes it, is no number
    REQUIRE(grown["notes"].size() == 1);
    CHECK_THAT(grown["notes"][0].get<std::string>(), contains("metrics.jsonl: 2 lines are no JSON"));
    growing.append("metrics.jsonl", "ss\": 2.0}\n");
    const ordered_json more = run_data(growing.path, {.cursor = grown["cursor"], .max_points = 100});
    CHECK_ALL(more["metrics"]["step"] == ordered_json({4}), more["notes"].empty());
}

TEST_CASE("run data: a cursor gives what has been added, and all of it when the files are others", "[report]") {
    const RunFiles run;
    run.metrics(falling(5));
    const ordered_json first = run_data(run.path);
    CHECK(first["fresh"] == true);
    const auto since = [&](const ordered_json& before) {
        return run_data(run.path, {.cursor = before["cursor"], .max_points = 100});
    };
    const ordered_json nothing = since(first);
    CHECK_ALL(nothing["fresh"] == false, nothing["metrics"]["step"].empty(), !nothing.contains("settings"));
    run.append("metrics.jsonl", "{\"step\":6,\"loss\":1.0}\n");
    run.append("samples.jsonl", "{\"step\":6,\"prompt\":\"a\",\"text\":\"b\"}\n");
    const ordered_json more = since(nothing);
    CHECK(more["metrics"]["step"] == ordered_json({6}));
    REQUIRE(more["samples"].size() == 1);
    CHECK(more["samples"][0]["text"] == "b");
    fs::create_directory(run.path + "/step-000006");  // what a new checkpoint changes comes with it
    CHECK(since(more).contains("card"));

    run.metrics(falling(3));  // resumed from an earlier step: another file
    const ordered_json anew = since(more);
    CHECK_ALL(anew["fresh"] == true, anew["metrics"]["step"] == ordered_json({1, 2, 3}));
    for (const char* bad : {"x", "1.2.3", "1.2.3.4.5.6", "-1.0.0.0.0", "1.99999999999.0.0.0"})
        CHECK(run_data(run.path, {.cursor = bad, .max_points = 100})["fresh"] == true);
}

TEST_CASE("run data: a long run shows some steps, and the best run comes first", "[report]") {
    const RunFiles run;
    run.metrics(falling(1003));
    const ordered_json data = run_data(run.path, {.cursor = "", .max_points = 50})["metrics"];
    CHECK_ALL(data["step"].size() < 160, data["step"].front() == 1, data["step"].back() == 1003);
    std::size_t evaluations = 0;
    for (const auto& value : data["val_loss"]) evaluations += value.is_number();
    CHECK(evaluations == 100);
    std::vector<ordered_json> runs;
    for (const double factor : {2.0, 0.5, 1.0}) {
        const RunFiles one;
        one.metrics(falling(20, factor));
        runs.push_back(run_data(one.path));
        runs.back()["name"] = factor;
    }
    const RunFiles without;
    without.metrics(falling(5, 1e-6));
    runs.insert(runs.begin(), run_data(without.path));
    web::sort_best_first(runs);
    check_holds(runs, "/0/name", 0.5, "/1/name", 1.0, "/2/name", 2.0, "/3/name", "mine");
}

TEST_CASE("run data: a folder without a run is refused, damage is noted, and of a hole nothing is read", "[report]") {
    const RunFiles run;
    CHECK_THROWS_WITH(run_data(run.path + "/none"), contains("there is no such folder"));
    CHECK_THROWS_AS(run_data(run.path), BadInput);  // no metrics.jsonl
    run.metrics(falling(2));
    run.write("config.toml", "n_layer = \"two\"\n"), run.write("run.json", "[]");
    const ordered_json data = run_data(run.path);
    check_holds(data, "settings", nullptr, "card", nullptr);
    REQUIRE(data["notes"].size() == 2);
    CHECK_THAT(data["notes"][0].get<std::string>(), contains("n_layer"));
    CHECK_THAT(data["notes"][1].get<std::string>(), contains("run.json"));
    const RunFiles sparse;
    sparse.metrics(falling(2));
    fs::resize_file(sparse.path + "/metrics.jsonl", std::uintmax_t{3} << 30);  // 3 GB of NUL bytes, which take no space
    sparse.append("metrics.jsonl", "\n{\"step\": 3, \"loss\": 2}\n");
    const double start = seconds_now();
    const ordered_json holey = run_data(sparse.path);
    CHECK_ALL(seconds_now() - start < 2, holey["metrics"]["step"].empty());
    REQUIRE(holey["notes"].size() == 1);
    CHECK_THAT(holey["notes"][0].get<std::string>(), contains("metrics.jsonl: has a hole"));
}

TEST_CASE("run data: a value of another type is left out and noted, and the rest is shown", "[report]") {
    const RunFiles run;
    run.metrics(falling(2));
    const ordered_json good = {{"inkling", "1.0"},
                               {"parameters", 12},
                               {"val_loss_before", 4.5},
                               {"threads", 2},
                               {"machine", {{"cpu", "a CPU"}, {"cores", 2}, {"memory_bytes", 1000}}},
                               {"started", "today"},
                               {"ended", nullptr},
                               {"stop_reason", nullptr}};
    run.write("run.json", good.dump());
    CHECK_ALL(json(run_data(run.path)["card"]) == json(good), run_data(run.path)["notes"].empty());
    const std::vector<ordered_json> of_no_type = {true, ordered_json::array({1}), {{"a", 1}}};
    for (const auto& [key, value] : good.items()) {
        std::vector<ordered_json> others = of_no_type;
        others.push_back(value.is_number() ? ordered_json("4.5") : ordered_json(4.5));
        for (const ordered_json& other : others) {
            if (key == "machine" && other.is_object()) continue;
            INFO(key << ": " << other);
            ordered_json damaged = good, expected = good;
            damaged[key] = other;
            expected.erase(key);
            run.write("run.json", damaged.dump());
            const ordered_json data = run_data(run.path);
            CHECK(json(data["card"]) == json(expected));
            REQUIRE(data["notes"].size() == 1);
            CHECK_THAT(data["notes"][0].get<std::string>(), contains("run.json: " + key + " must be "));
        }
    }
    ordered_json damaged = good;
    damaged["machine"]["cores"] = "two";
    run.write("run.json", damaged.dump());
    run.write("samples.jsonl", R"({"step": 1, "prompt": 5, "text": "a"})"
                               "\n"
                               R"({"step": 2, "prompt": "b", "text": ["c"]})"
                               "\n");
    const ordered_json data = run_data(run.path);
    CHECK(json(data["card"]["machine"]) == json{{"cpu", "a CPU"}, {"memory_bytes", 1000}});
    CHECK(json(data["samples"]) == json::array({{{"step", 1}, {"text", "a"}}, {{"step", 2}, {"prompt", "b"}}}));
    CHECK(data["notes"].size() == 3);
}

TEST_CASE("run data: heads are shown of how the last sample begins, in whole characters", "[report]") {
    const std::string text = "\n\nOnce there was a fröhlicher fox. " + std::string(500, 'x');
    const auto tokenizer = data::CharTokenizer::from_text(text);
    ordered_json run = {
        {"samples", {{{"prompt", 5}, {"text", "z"}}, {{"prompt", "\n\nOnce "}, {"text", text.substr(7)}}}}};
    const std::string prompt = web::usual_prompt(run, tokenizer, 64);
    CHECK_ALL(prompt.starts_with("Once there was"), tokenizer.encode(prompt).size() <= 32);
    CHECK(tokenizer.encode(web::usual_prompt(run, tokenizer, 8)).size() <= 8);
    CHECK(web::usual_prompt({{"samples", ordered_json::array()}}, tokenizer, 64) == "");
    // the template's own system message is left out
    const std::string system = "<|im_start|>system\nBe brief<|im_end|>\n",
                      question = "<|im_start|>user\nhello<|im_end|>\n";
    const ChatFolder brief("{{'<|im_start|>system\nBe brief<|im_end|>\n'}}" + std::string(kChatMl), 512);
    const auto briefed = models::open_tokenizer(brief.scratch.path());
    run = {{"samples", {{{"prompt", system + question}, {"text", "a"}}}}};
    CHECK(web::usual_prompt(run, *briefed, 64).starts_with("<|im_start|>user\nhello"));
    run = {{"samples", {{{"prompt", question}, {"text", "a"}}}}};
    CHECK(web::usual_prompt(run, *briefed, 64).starts_with(question));
    // a special token is never cut
    const ChatFolder model(kChatMl, 512);
    const auto chat = models::open_tokenizer(model.scratch.path());
    std::string talk;
    for (int i = 0; i < 20; ++i) talk += "<|im_start|>user\nhello<|im_end|>\n";
    run = {{"samples", {{{"prompt", talk}, {"text", ""}}}}};
    for (std::size_t context = 1; context < 12; ++context) {
        const std::string some = web::usual_prompt(run, *chat, context);
        INFO(some);
        CHECK_ALL(!some.empty(), talk.starts_with(some));
        const std::size_t open = some.rfind('<');
        CHECK((open == std::string::npos || some.find('>', open) != std::string::npos));
    }
}
