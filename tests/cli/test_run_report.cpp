// inkling report, and train --serve, as users call them.
#include <netinet/in.h>
#include <sys/socket.h>

#include "tests/cli/program.h"
#include "tests/support/http_client.h"
#include "tests/support/page_data.h"

using namespace inkling::testing;

namespace {

Arguments training(const std::string& out, const std::string& data, const Arguments& changes = {}) {
    return Arguments{"train", "--data", data, "--out", out} + small(Arguments{"--sample-every", "5"} + changes);
}

struct ReportedRun {
    ScratchFolder folder;
    std::string text = folder.write("text.txt", small_text()), path = folder.path("mine");
    ReportedRun() { succeeded(program(training(path, text))); }
    Result report(const Arguments& rest) const { return program(Arguments{"report"} + rest); }
};

}  // namespace

TEST_CASE("report: a page holds the curves, samples, settings and heads of a run", "[cli]") {
    const ReportedRun run;
    const std::string out = run.folder.path("report.html");
    const Result r = succeeded(run.report({run.path, "--out", out}));
    CHECK(r.out.empty());
    CHECK_THAT(r.err, contains("wrote " + out + ": 1 run"));
    const json page = page_data(read_file(out));
    REQUIRE(page["runs"].size() == 1);
    const json& shown = page["runs"][0];
    const auto lines = json_lines(read_file(run.path + "/metrics.jsonl"));
    REQUIRE(shown["metrics"]["step"].size() == lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
        CHECK(shown["metrics"]["step"][i] == lines[i]["step"].get<std::size_t>());
        CHECK(shown["metrics"]["loss"][i] == lines[i]["loss"].get<double>());
    }
    REQUIRE(shown["samples"].size() == 4);  // steps 5, 10, 15, and the best model's at the end
    CHECK(shown["samples"][0]["step"] == 5);
    CHECK(shown["settings"]["n_embd"] == 16);
    CHECK(shown["model"]["n_layer"] == 1);
    CHECK(shown["card"]["parameters"] == shown["model"]["parameters"]);
    CHECK(shown["card"]["stop_reason"] == "max_iters");
    CHECK(shown["card"]["peak_memory_bytes"].get<double>() > 1e6);
    CHECK(shown["tokenizer"]["kind"] == "char");
    CHECK(page["heads"]["heads"] == 2);
    CHECK(page["defaults"]["n_embd"] == 128);

    REQUIRE(run.report({run.path, "--out", out, "--prompt", "the fox"}).code == 0);
    CHECK(page_data(read_file(out))["heads"]["tokens"].size() == 7);
}

TEST_CASE("report: several runs are compared, the best one first", "[cli]") {
    const ReportedRun run;
    const std::string other = run.folder.path("other"), out = run.folder.path("x.html");
    succeeded(program(training(other, run.text, {"--learning-rate", "0.00001"})));
    succeeded(run.report({other, run.path, "--out", out}));
    const json page = page_data(read_file(out));
    REQUIRE(page["runs"].size() == 2);
    CHECK(page["runs"][0]["name"] == "mine");
    CHECK(page["runs"][1]["name"] == "other");
    for (const char* name : {"curve.svg", "curve.PNG"}) {
        REQUIRE(run.report({other, run.path, "--out", run.folder.path(name)}).code == 0);
        CHECK(read_file(run.folder.path(name)).substr(0, 4) == (name[6] == 's' ? "<svg" : "\x89PNG"));
    }
    // two runs with the same name are distinguished
    REQUIRE(run.report({run.path, run.path + "/", "--out", out}).code == 0);
    const json twice = page_data(read_file(out));
    CHECK(twice["runs"][0]["name"] != twice["runs"][1]["name"]);
}

TEST_CASE("report: a run without a checkpoint, of an older version or half written is shown as far as it goes",
          "[cli]") {
    const ReportedRun run;
    const std::string out = run.folder.path("x.html");
    for (const char* name : {"run.json", "samples.jsonl", "latest", "best"}) fs::remove(run.path + "/" + name);
    for (const auto& checkpoint : {"step-000010", "step-000020"}) fs::remove_all(run.path + "/" + checkpoint);
    std::FILE* const file = std::fopen((run.path + "/metrics.jsonl").c_str(), "a");
    std::fputs("{\"step\": 21, \"lo", file);
    std::fclose(file);
    const Result r = succeeded(run.report({run.path, "--out", out}));
    CHECK(r.err.find("warning") == std::string::npos);
    const json page = page_data(read_file(out));
    CHECK(page["heads"].is_null());
    CHECK(page["runs"][0]["model"].is_null());
    CHECK(page["runs"][0]["metrics"]["step"].back() == 20);
}

TEST_CASE("report: what cannot be shown is refused in one line, and nothing is written", "[cli]") {
    const ReportedRun run;
    const std::string out = run.folder.path("x.html");
    const auto fails = [&](const Arguments& rest, int code, const std::string& text) {
        check_fails(run.report(rest), code, text);
        CHECK_FALSE(fs::exists(out));
    };
    fails({run.folder.path("none"), "--out", out}, 3, "none: there is no such folder");
    fails({run.folder.path(""), "--out", out}, 3, "holds no run");
    fails({run.text, "--out", out}, 3, "this is a file: the folder of a run is required");
    fails({run.path}, 2, "--out");
    fails({"--out", out}, 2, "");
    fails({run.path, "--out", run.folder.path("x.pdf")}, 2, "FILE.html, FILE.svg or FILE.png");
    fails({run.path, "--out", run.folder.path("x.svg"), "--prompt", "x"}, 2, "--prompt is for FILE.html");
    fails({run.path, "--out", out, "--prompt", std::string(99, 'x')}, 3, "99 tokens");
    fails({run.path, "--out", out, "--prompt", "\xff"}, 3, "UTF-8");
    fails({run.path, "--out", run.folder.path("none/x.html")}, 1, "none/x.html");
    inkling::formats::write_file_atomic(run.path + "/metrics.jsonl", "");
    fails({run.path, "--out", out}, 3, "holds no step yet");
    inkling::formats::write_file_atomic(run.path + "/metrics.jsonl", "{\"step\":1,\"loss\":null}\n");
    fails({run.path, "--out", run.folder.path("x.svg")}, 3, "no loss of these runs can be drawn");
}

TEST_CASE("train --serve: whatever a page asks for, the model is the same to the last bit", "[cli]") {
    const ScratchFolder folder;
    const std::string text = folder.write("text.txt", small_text());
    const Arguments changes = {"--max-iters", "3000", "--eval-every", "1000", "--dropout",      "0.1",
                               "--ema",       "0.99", "--log-every",  "500",  "--sample-every", "0"};
    succeeded(program(training(folder.path("plain"), text, changes)));
    const int port = free_port();
    Process served(training(folder.path("served"), text, changes) + Arguments{"--serve", std::to_string(port)});
    wait_for(port, "/");
    std::size_t samples = 0, heads = 0, steps = 0;
    for (;;) {
        const Answer data = try_ask(port, "GET", "/api/run");
        if (data.status == 0) break;
        if (data.status == 200) {
            const json run = data.json();
            steps = std::max<std::size_t>(steps, run["metrics"]["step"].size());
            if (run["ended"] == true) break;
        }
        const Answer sample = try_ask(port, "POST", "/api/sample", R"({"prompt":"the quick"})");
        if (sample.status == 200) {
            ++samples;
            CHECK(sample.json()["prompt"] == "the quick");
            CHECK(sample.json()["text"].get<std::string>().size() > 20);
        }
        const Answer shown = try_ask(port, "POST", "/api/heads", R"({"prompt":"the fox"})");
        heads += shown.status == 200 && shown.json()["heads"]["heads"] == 2;
    }
    const Result r = succeeded(served.wait());
    CHECK_THAT(r.err, contains("see it learn: http://127.0.0.1:" + std::to_string(port) + "/"));
    CHECK(samples > 0);
    CHECK(heads > 0);
    CHECK(steps > 0);
    for (const char* name : {"model.safetensors", "tokenizer.json", "config.json"})
        CHECK(read_file(folder.path(std::string("served/step-003000/") + name)) ==
              read_file(folder.path(std::string("plain/step-003000/") + name)));
    CHECK(read_file(folder.path("served/config.toml")).find("serve =") == std::string::npos);
}

TEST_CASE("train --serve: the page, its parts, a bad request, and a stop that saves", "[cli]") {
    const ScratchFolder folder;
    const std::string text = folder.write("text.txt", small_text());
    const int port = free_port();
    Process served(training(folder.path("run"), text, {"--max-iters", "100000000"}) +
                   Arguments{"--serve", "localhost:" + std::to_string(port)});
    wait_for(port, "/");
    const Answer page = get(port, "/");
    CHECK(page.status == 200);
    CHECK_THAT(page.body, contains("/pages/run.js"));
    CHECK_THAT(page.head, contains("script-src 'self'", "nosniff", "frame-ancestors 'none'"));
    for (const char* part :
         {"/pages/run.js", "/pages/chart.js", "/pages/heads.js", "/pages/run.css", "/pages/icon.svg"})
        CHECK(get(port, part).status == 200);
    CHECK(get(port, "/pages/../run").status == 404);
    CHECK(get(port, "/api/nothing").status == 404);
    CHECK(get(port, "/api/stop").status == 405);
    CHECK(ask(port, "POST", "/api/sample", "[]").status == 400);
    CHECK(ask(port, "POST", "/api/sample", R"({"prompt":7})").status == 400);
    CHECK(ask(port, "POST", "/api/heads", json({{"prompt", std::string(99, 'x')}}).dump()).status == 400);
    CHECK(ask(port, "POST", "/api/stop", "{}").status == 200);
    const Result r = ended_with(130, served.wait());  // as Ctrl-C
    CHECK_THAT(r.err, contains("continue with --resume auto"));
    CHECK(fs::exists(folder.path("run/latest/model.safetensors")));
}

TEST_CASE("train --serve: an address that cannot be had is said before anything is trained", "[cli]") {
    const ScratchFolder folder;
    const std::string text = folder.write("text.txt", small_text()), out = folder.path("run");
    for (const char* bad : {"x", "99999", "-1", ":80", "localhost:", "a:b:1", "127.0.0.1:8o"})
        check_fails(call(training(out, text) + Arguments{std::string("--serve=") + bad}), 2, "--serve");
    const int taken = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(bind(taken, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(listen(taken, 1) == 0);
    REQUIRE(getsockname(taken, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    const std::string port = std::to_string(ntohs(address.sin_port));
    check_fails(program(training(out, text) + Arguments{"--serve", port}), 1, "127.0.0.1:" + port);
    close(taken);
    CHECK_FALSE(fs::exists(out));
}

TEST_CASE("train --serve: away from loopback a run can be watched and nothing else", "[cli]") {
    const ScratchFolder folder;
    const std::string text = folder.write("text.txt", small_text());
    const int port = free_port();
    Process served(training(folder.path("run"), text, {"--max-iters", "100000000"}) +
                   Arguments{"--serve", "0.0.0.0:" + std::to_string(port)});
    wait_for(port, "/");
    CHECK(get(port, "/").status == 200);
    CHECK(get(port, "/api/run").status == 200);
    for (const char* path : {"/api/stop", "/api/sample", "/api/heads"})
        CHECK(ask(port, "POST", path, "{}").status == 404);
    served.signal(SIGTERM);
    CHECK(served.wait().code == 143);
}
