// A server's pages about a folder of runs.
#include "web/live/page_routes.h"

#include "tests/support/http_client.h"
#include "tests/web/run_files.h"

namespace {

void add_run(const ScratchFolder& folder, const std::string& name, double loss) {
    const std::string path = folder.path(name);
    fs::create_directory(path);
    write_file_atomic(path + "/config.toml", to_toml({}));
    write_file_atomic(path + "/metrics.jsonl", json({{"step", 1}, {"loss", loss}, {"val_loss", loss}}).dump() + "\n");
}

struct Pages {
    ScratchFolder folder;
    HttpServer server{{.port = 0}};
    Pages() {
        add_run(folder, "worse", 3), add_run(folder, "a <b> & %41", 2);
        fs::create_directory(folder.path("no run"));
        add_playground(server, folder.path(""));
        server.start();
    }
    Answer get(const std::string& path) const { return testing::get(server.port(), path); }
};

}  // namespace

TEST_CASE("page routes: runs are listed, the best first, and shown, without broken neighbours", "[serve]") {
    const Pages pages;
    const Answer list = pages.get("/runs"), data = pages.get("/api/runs");
    CHECK(list.status == 200);
    CHECK_THAT(list.head, contains("text/html"));
    check_holds(data.json()["runs"], "/0/name", "a <b> & %41", "/1/name", "worse", "/2", nullptr);
    CHECK_ALL(pages.get("/runs/worse").status == 200, pages.get("/api/runs/worse").json()["metrics"]["loss"][0] == 3.0);
    CHECK(pages.get("/api/runs/a%20%3Cb%3E%20%26%20%2541").json()["metrics"]["loss"][0] == 2.0);
    const json first = pages.get("/api/runs/worse").json();
    const json more = pages.get("/api/runs/worse?cursor=" + first["cursor"].get<std::string>()).json();
    CHECK(more["metrics"]["loss"].empty());
    const Answer heads = ask(pages.server.port(), "POST", "/api/runs/worse/heads", "{}");
    CHECK(heads.status == 200);
    CHECK(heads.json()["heads"].is_null());  // no checkpoint
    CHECK_THAT(pages.get("/").body, contains("/pages/play.js"));
    fs::create_symlink("circle", pages.folder.path("circle"));
    fs::create_symlink("nowhere", pages.folder.path("nowhere-link"));
    const std::string closed = pages.folder.path("closed");
    fs::create_directory(closed);
    fs::permissions(closed, fs::perms::none);  // which root passes over
    add_run(pages.folder, "bent", 4);
    fs::remove(pages.folder.path("bent/metrics.jsonl"));
    fs::create_symlink("metrics.jsonl", pages.folder.path("bent/metrics.jsonl"));
    const Answer listed = pages.get("/api/runs");
    fs::permissions(closed, fs::perms::owner_all);
    CHECK_ALL(listed.status == 200, listed.json()["runs"].size() == 2, pages.get("/api/runs/worse").status == 200);
    CHECK(pages.get("/api/runs/circle").status == 404);
}

TEST_CASE("page routes: no path leads out of the folder, and no name becomes markup", "[serve]") {
    const Pages pages;
    for (const char* path : {"/api/runs/none", "/api/runs/", "/api/runs/..", "/api/runs/%2e%2e", "/api/runs/../worse",
                             "/api/runs/worse/../worse", "/api/runs/worse/metrics.jsonl", "/api/runs/no%20run",
                             "/api/runs/%2Fetc", "/pages/", "/pages/run.html"})
        WITH_INFO(path, CHECK(pages.get(path).status == 404));
    CHECK(ask(pages.server.port(), "POST", "/api/runs/worse", "{}").status == 404);
    CHECK(ask(pages.server.port(), "POST", "/api/runs/../heads", "{}").status == 404);
    CHECK(ask(pages.server.port(), "POST", "/api/runs/worse/heads", "no").status == 400);
    const Answer page = pages.get("/runs/%3C%2Fscript%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E");
    CHECK(page.status == 200);  // which finds no run
    CHECK(page.body.find("<script>alert") == std::string::npos);
    HttpServer other({.port = 0});
    CHECK_THROWS_AS(add_playground(other, pages.folder.path("nowhere")), BadInput);
}
