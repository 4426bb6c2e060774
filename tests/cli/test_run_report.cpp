// inkling report, and train --serve, as users call them.
#include "tests/cli/program.h"
#include "tests/support/http_client.h"
#include "tests/support/markup.h"
#include "tests/support/page_data.h"

namespace {

// A run with samples, "mine".
struct ReportedRun : TrainFolder {
    ReportedRun() {
        out = path("mine");
        execute(train(small("--sample-every 5")));
    }
};

template <class... Pieces>
json report(const std::string& page, const Pieces&... runs) {
    execute("report --out", page, runs...);
    return page_data(read_file(page));
}

const Arguments kEndlessSamples = small("--max-iters 100000000 --sample-every 5");

}  // namespace

TEST_CASE("report: a page holds the curves, samples, settings and heads of a run, or compares several", "[cli]") {
    const ReportedRun run;
    const std::string out = run.path("report.html");
    const Result r = execute("report", run.out, "--out", out);
    CHECK(r.out.empty());
    check_has(r.err, "wrote " + out + ": 1 run");
    const json page = page_data(read_file(out));
    REQUIRE(page["runs"].size() == 1);
    const json& shown = page["runs"][0];
    const auto lines = lines_in(run.out + "/metrics.jsonl");
    REQUIRE(shown["metrics"]["step"].size() == lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
        CHECK(shown["metrics"]["step"][i] == lines[i]["step"].get<std::size_t>());
        CHECK(shown["metrics"]["loss"][i] == lines[i]["loss"].get<double>());
    }
    REQUIRE(shown["samples"].size() == 4);  // steps 5, 10, 15, and the best model's at the end
    check_holds(shown, "/samples/0/step", 5, "/settings/n_embd", 16, "/model/n_layer", 1, "/card/parameters",
                shown["model"]["parameters"], "/card/stop_reason", "max_iters", "/tokenizer/kind", "char");
    CHECK(shown["card"]["peak_memory_bytes"].get<double>() > 1e6);
    check_holds(page, "/heads/heads", 2, "/defaults/n_embd", 128);
    CHECK(report(out, run.out, "--prompt 'the fox'")["heads"]["tokens"].size() == 7);
    // the report compares several runs, sorted by loss; two runs of one name get different names
    const std::string other = run.path("other");
    execute(run.train(small("--learning-rate 0.00001"), "--out", other));
    check_holds(report(out, other, run.out)["runs"], "/0/name", "mine", "/1/name", "other", "/2", nullptr);
    const json twice = report(out, run.out, run.out + "/")["runs"];
    CHECK(twice[0]["name"] != twice[1]["name"]);
}

TEST_CASE("report: a run without a checkpoint or half written is shown, what cannot be is refused", "[cli]") {
    const ReportedRun run;
    for (const char* name : {"run.json", "samples.jsonl", "latest", "best", "step-000010", "step-000020"})
        fs::remove_all(run.out + "/" + name);
    run.write("mine/metrics.jsonl", read_file(run.out + "/metrics.jsonl") + "{\"step\": 21, \"lo");
    const std::string out = run.path("x.html");
    check_lacks(execute("report", run.out, "--out", out).err, "warning");
    const json page = page_data(read_file(out));
    check_holds(page, "heads", nullptr, "/runs/0/model", nullptr);
    CHECK(page["runs"][0]["metrics"]["step"].back() == 20);
    const ReportedRun whole;
    const std::string none = whole.path("x.html");
    const auto fails = [&](int code, const std::string& text, const auto&... rest) {
        check_fails(program("report", rest...), code, text);
        CHECK_FALSE(fs::exists(none));
    };
    const Arguments into = words("--out", none), shown = words(whole.out, into);
    fails(3, "none: there is no such folder", whole.path("none"), into), fails(3, "holds no run", whole.path(), into);
    fails(3, "this is a file: the folder of a run is required", whole.text, into), fails(2, "--out", whole.out);
    fails(2, "", into);
    for (const char* name : {"x.pdf", "x.svg", "x.png", "x"})
        fails(2, "FILE.html is required", whole.out, "--out", whole.path(name));
    fails(3, "99 tokens", shown, "--prompt", std::string(99, 'x')), fails(3, "UTF-8", shown, "--prompt \xff");
    fails(1, "none/x.html", whole.out, "--out", whole.path("none/x.html"));
    whole.write("mine/metrics.jsonl", "");
    fails(3, "holds no step yet", shown);
}

TEST_CASE("train --serve: the page, its parts, a bad request, and a stop that saves", "[cli]") {
    const TrainFolder folder;
    const int port = free_port();
    Process served(folder.train(kEndlessSamples, "--serve", "localhost:" + std::to_string(port)));
    wait_for(port, "/");
    const Answer page = get(port, "/");
    CHECK(page.status == 200);
    check_has(page.body, "/pages/run.js");
    check_has(page.head, "script-src 'self'", "nosniff", "frame-ancestors 'none'");
    for (const char* part :
         {"/pages/run.js", "/pages/chart.js", "/pages/heads.js", "/pages/run.css", "/pages/icon.svg"})
        CHECK(get(port, part).status == 200);
    for (const char* none : {"/pages/../run", "/api/nothing"}) CHECK(get(port, none).status == 404);
    CHECK(get(port, "/api/stop").status == 405);
    for (const char* bad : {"[]", R"({"prompt":7})"}) CHECK(ask(port, "POST", "/api/sample", bad).status == 400);
    CHECK(post(port, "/api/heads", {{"prompt", std::string(99, 'x')}}).status == 400);
    CHECK(ask(port, "POST", "/api/stop", "{}").status == 200);
    check_has(ended_with(130, served.wait()).err, "live view: http://localhost:" + std::to_string(port) + "\n",
              "continue with --resume auto");  // as Ctrl-C
    check_lacks(read_file(folder.out + "/config.toml"), "serve =");
    CHECK(fs::exists(folder.out + "/latest/model.safetensors"));
}

TEST_CASE("train --serve: an address that cannot be had, or away from loopback without a key", "[cli]") {
    const TrainFolder folder;
    for (const char* bad : {"x", "99999", "-1", ":80", "localhost:", "a:b:1", "127.0.0.1:8o"})
        check_fails(call(folder.train(kSmall, std::string("--serve=") + bad)), 2, "--serve");
    const inkling::web::HttpServer taken({.port = 0});
    const std::string port = std::to_string(taken.port());
    check_fails(program(folder.train(kSmall, "--serve", port)), 1, "127.0.0.1:" + port);
    CHECK_FALSE(fs::exists(folder.out));
    const int free = free_port();
    const std::string everywhere = "0.0.0.0:" + std::to_string(free), keys = folder.write("keys", "secret\n");
    for (const std::string& address : {everywhere, std::string("[::]:0"), std::string("192.168.1.5:0")})
        check_has(ended_with(2, call(folder.train(kSmall, "--serve", address))).err, "--api-key-file", "--insecure");
    for (const char* flag : {"--insecure", "--allow-host=a", "--api-key-file=keys"})
        check_fails(call(folder.train(kSmall, flag)), 2, "is for --serve");
    CHECK_FALSE(fs::exists(folder.out));
    for (const bool with_key : {false, true}) {
        const std::string key = with_key ? "Authorization: Bearer secret\r\n" : "";
        Process served(folder.train(kEndlessSamples, "--overwrite --serve", everywhere,
                                    with_key ? words("--api-key-file", keys) : words("--insecure")));
        wait_for(free, "/");
        CHECK(get(free, "/").status == 200);  // the page, which asks for the key
        if (with_key)
            for (const char* header : {"", "Authorization: Bearer other\r\n", "X-Api-Key: \r\n"})
                CHECK(get(free, "/api/run", header).status == 401);
        CHECK(get(free, "/api/run", key).status == 200);
        for (const char* path : {"/api/stop", "/api/sample", "/api/heads"})
            CHECK(ask(free, "POST", path, "{}", key).status == 404);
        served.signal(SIGTERM);
        const Result r = ended_with(143, served.wait());
        check_has(r.err, "http://127.0.0.1:" + std::to_string(free) + " and this machine's other addresses");
        check_lacks(r.err, "0.0.0.0", "secret");
    }
}

TEST_CASE("report: pictures and pages of runs with any names are well-formed", "[cli]") {
    const ScratchFolder folder;
    Arguments runs;
    for (const std::string name :
         {"d\u00e9j\u00e0 vu d\u00e9j\u00e0 vu d\u00e9j\u00e0",
          "\u65e5\u672c\u8a9e\u65e5\u672c\u8a9e\u65e5\u672c\u8a9e",
          "\U0001F600\U0001F600\U0001F600\U0001F600\U0001F600\U0001F600", "a <b> & \"c\" 'd' \x01\x1b[1m",
          "\xff\xfe latin caf\xe9 and more of it", "x\uFFFF\uFFFE"}) {
        runs.push_back(folder.path(name));
        copy_run(small_run(), runs.back());
    }
    execute("report", runs, "--out", folder.path("c.html"));
    CHECK(formats::find_invalid_utf8(read_file(folder.path("c.html"))) == std::string::npos);
    for (const std::string& run : runs) {
        execute("attention --model", run, "--prompt", std::string("<b>&\u00e9"), "--out", folder.path("a.svg"));
        CHECK(xml_fault(read_file(folder.path("a.svg"))) == "");
    }
}
