// inkling generate: everything beside the text itself.
#include <atomic>

#include "tests/cli/program.h"
#include "tests/models/folders.h"

using namespace inkling::testing;

namespace {

Arguments generate(const Arguments& more) {
    return Arguments{"generate", "--model", small_run(), "--seed", "1337"} + more;
}

std::vector<ordered_json> objects(const Arguments& arguments, const std::string& in = "/dev/null") {
    return json_lines(program(arguments, "", in));
}

std::string text_of(const Arguments& more) { return objects(generate(more + Arguments{"--json"})).at(0)["text"]; }

}  // namespace

TEST_CASE("generate: a text is the same alone, in a batch and with any number of threads", "[cli]") {
    const Arguments flags = {"-p", "the", "-n", "30", "--seed", "3", "--json", "--top-p", "0.95", "--repeat-penalty",
                             "1.1"};
    const auto many = objects(generate(flags + Arguments{"--num-samples", "20"}));
    REQUIRE(many.size() == 20);
    const auto few = objects(generate(flags + Arguments{"--num-samples", "3", "--threads", "2"}));
    for (std::size_t i = 0; i < 3; ++i) CHECK(few[i]["text"] == many[i]["text"]);
    CHECK(objects(generate(flags)).at(0)["text"] == many[0]["text"]);
    CHECK(many[18]["text"] != many[17]["text"]);
}

TEST_CASE("generate: ends before a stop text", "[cli]") {
    const Arguments flags = {"-p", "the quick", "-n", "60", "--temperature", "0.5"};
    const std::string whole = text_of(flags);
    const std::string stop = whole.substr(20, 3), other = whole.substr(40, 2);
    const std::size_t at = std::min(whole.find(stop), whole.find(other));
    const auto ended = objects(generate(flags + Arguments{"--json", "--stop", stop, "--stop", other})).at(0);
    CHECK(ended["text"] == whole.substr(0, at));
    CHECK(ended["stop_reason"] == "stop");
    CHECK(ended["tokens"] < 60);
    CHECK(program(generate(flags + Arguments{"--stop", stop, "--stop", other, "--no-prompt"})).out ==
          whole.substr(0, at) + "\n");
    check_fails(call(generate({"--stop", ""})), 2, "stop text");
}

TEST_CASE("generate: log-probabilities of each token on request", "[cli]") {
    const auto j = objects(generate({"-p", "the", "-n", "5", "--json", "--logprobs", "3"})).at(0);
    REQUIRE(j["logprobs"].size() == 5);
    std::string text;
    for (const auto& token : j["logprobs"]) {
        text += token["text"].get<std::string>();
        REQUIRE(token["top"].size() == 3);
        CHECK(token["logprob"] <= token["top"][0]["logprob"]);
        CHECK(token["top"][2]["logprob"] <= token["top"][1]["logprob"]);
        CHECK(token["top"][0]["logprob"] <= 0);
        CHECK(token["id"].is_number());
    }
    CHECK(text == j["text"].get<std::string>());
    check_fails(call(generate({"-p", "the", "--logprobs", "3"})), 2, "--json");
}

TEST_CASE("generate: weights in bfloat16 and in 8 bits", "[cli]") {
    const Arguments flags = {"-p", "the quick brown", "-n", "20"};
    for (const Arguments& type : {Arguments{"--precision", "bf16"}, Arguments{"--quantize", "q8_0"}})
        CHECK(text_of(flags + type).size() == 20);
    check_fails(call(generate({"--quantize", "q4"})), 2, "q4");
    check_fails(call(generate({"--quantize", "q8_0", "--precision", "bf16"})), 2, "--precision");
}

TEST_CASE("generate: prompts that are empty, too long, unknown or not text", "[cli]") {
    const ScratchFolder folder;
    CHECK(program(generate({"-n", "7"})).out.size() == 8);
    const auto empty = objects(generate({"-n", "7", "-f", folder.write("empty", ""), "--json"})).at(0);
    CHECK((empty["prompt_tokens"] == 0 && empty["tokens"] == 7));
    const Result longer = succeeded(program(generate({"-f", folder.write("text", small_text()), "-n", "9"})));
    CHECK(longer.out.size() == small_text().size() + 9 + 1);
    CHECK_THAT(longer.err, contains("the model sees the last 8"));
    check_fails(call(generate({"-p", "caf\xC3\xA9", "--strict-vocabulary"})), 3);
    check_fails(call(generate({"-p", "\xFF"})), 3, "not UTF-8");
    check_fails(call(generate({"-f", folder.path("none")})), 3, "none");
    CHECK(objects(generate({"-p", "fox", "-n", "0", "--json"})).at(0)["stop_reason"] == "length");
}

TEST_CASE("generate: senseless choices are usage errors", "[cli]") {
    for (const char* flags : {"--top-p 0", "--top-p 1.1", "--min-p -1", "--repeat-penalty 0", "--temperature -1",
                              "--temperature nan", "--context-shift 9", "--top-k -1"})
        check_fails(call(generate(words(flags))), 2, words(flags)[0]);
}

TEST_CASE("generate: ends quietly when nobody reads", "[cli]") {
    const std::string command = std::string("'") + kProgram + "' generate --model '" + small_run() +
                                "' -p 'the quick' -n 100000000 2>/dev/null | head -n 1 | wc -l";
    FILE* const pipe = popen(("timeout 20 sh -c \"" + command + "\"").c_str(), "r");
    REQUIRE(pipe != nullptr);
    char line[64] = {};
    CHECK(std::fgets(line, sizeof line, pipe) != nullptr);
    CHECK(pclose(pipe) == 0);
    CHECK(std::string(line) == "1\n");
}

TEST_CASE("generate: --interactive continues each line of stdin, and knows /help and /quit", "[cli]") {
    const ScratchFolder folder;
    const std::string in = folder.write("lines", "the quick\nfox\n\n/new\nthe quick\n");
    const Arguments flags = {"--interactive", "-n", "6", "--temperature", "0"};
    const auto texts = objects(generate(flags + Arguments{"--json"}), in);
    REQUIRE(texts.size() == 4);
    CHECK((texts[0]["prompt"] == "the quick" && texts[2]["prompt"] == ""));
    for (const auto& j : texts) CHECK((j["tokens"] == 6 && j["stop_reason"] == "length"));
    CHECK(texts[3]["text"] == texts[0]["text"]);
    // each line is added to the text so far
    const auto greedy = [](const std::string& prompt) {
        return text_of({"-p", prompt, "-n", "6", "--temperature", "0"});
    };
    CHECK(texts[0]["text"] == greedy("the quick"));
    const Result plain = succeeded(program(generate(flags), "", in));
    CHECK(plain.out.starts_with("the quick" + texts[0]["text"].get<std::string>() + "\nfox"));
    CHECK(program(generate(flags + Arguments{"-p", "the quick"})).out ==
          "the quick" + texts[0]["text"].get<std::string>() + "\n");
    // an unreadable line does not end the program
    const Result bad = succeeded(program(generate(flags + Arguments{"--strict-vocabulary"}), "",
                                         folder.write("bad", "caf\xC3\xA9\nthe quick\n")));
    CHECK(bad.out == "the quick" + texts[0]["text"].get<std::string>() + "\n");
    CHECK_THAT(bad.err, contains("inkling: "));
    check_fails(call(generate({"--interactive", "--num-samples", "2"})), 2, "--num-samples");
    const Arguments help_flags = {"--interactive", "-n", "2", "--json"};  // --interactive knows /help and /quit
    const Result r = program(generate(help_flags), "", folder.write("lines", "/help\nfox\n/quit\nfox\n"));
    CHECK(json_lines(r).size() == 1);
    CHECK_THAT(r.err, contains("/new", "/quit", "Ctrl-C", "Ctrl-D"));
}

TEST_CASE("generate: without --seed another text each time, which the seed that is told repeats", "[cli]") {
    const Arguments command = {"generate", "--model", small_run(), "-p", "the", "-n", "40"};
    const Result one = program(command), other = program(command);
    CHECK(one.out != other.out);
    REQUIRE(one.err.starts_with("seed "));
    const std::string seed = one.err.substr(5, one.err.find('\n') - 5);
    CHECK(program(command + Arguments{"--seed", seed}).out == one.out);
    const auto a = objects(command + Arguments{"--json"}).at(0), b = objects(command + Arguments{"--json"}).at(0);
    CHECK((a["seed"] != b["seed"] && a["text"] != b["text"]));
    CHECK(objects(command + Arguments{"--json", "--seed", a["seed"].dump()}).at(0)["text"] == a["text"]);
}

TEST_CASE("generate: a model folder that is replaced all the time is read whole", "[cli]") {
    const ModelFolder a, b(false);
    const ScratchFolder folder;
    const fs::path link = folder.path("best"), next = folder.path("next");
    fs::create_directory_symlink(a.path(), link);
    std::atomic<bool> done = false;
    std::thread replacing([&] {
        for (std::size_t i = 0; !done; ++i) {
            fs::create_directory_symlink(i % 2 ? a.path() : b.path(), next);
            fs::rename(next, link);
            std::this_thread::sleep_for(std::chrono::microseconds(300));
        }
    });
    const auto with = [](const fs::path& model) {
        return program({"generate", "--model", model, "-p", "abc", "-n", "8", "--temperature", "0"});
    };
    const std::string of_a = with(a.path()).out, of_b = with(b.path()).out;
    for (int i = 0; i < 20; ++i) {
        const Result r = succeeded(with(folder.path()));
        CHECK((r.out == of_a || r.out == of_b));
    }
    done = true;
    replacing.join();
}
