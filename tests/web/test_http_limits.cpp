// Clients that are slow, that never read or never end, and the server's shutdown.
#include <sys/resource.h>

#include <future>

#include "tests/web/echo_server.h"

TEST_CASE("http: limits of time", "[serve]") {
    const EchoServer server({.port = 0, .max_body = 1000, .header_time = 1, .idle_time = 1});
    SECTION("headers") {
        Wire wire(server.port());
        std::atomic<bool> open = true;
        std::thread drip([&] {
            wire.send("GET /open HTTP/1.1\r\n");
            while (open && wire.send("A: b\r\n")) std::this_thread::sleep_for(std::chrono::milliseconds(20));
        });
        CHECK(wire.answer().status == 408);
        open = false;
        drip.join();
    }
    SECTION("a body") {
        CHECK(server.raw("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc").status == 408);
    }
    SECTION("nothing at all") {
        Wire wire(server.port());
        CHECK(wire.rest().empty());
        Wire again(server.port());
        again.send(request_text("GET", "/open", ""));
        CHECK_ALL(again.answer().status == 200, again.rest().empty());
    }
    SECTION("a body in chunks") {
        std::string chunks = "POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
        for (int i = 0; i < 300; ++i) chunks += "4\r\nabcd\r\n";
        CHECK(server.raw(chunks + "0\r\n\r\n").status == 413);
        CHECK(server
                  .raw("POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" +
                       std::string(100000, '0'))
                  .status == 400);
    }
}

TEST_CASE("http: connections beyond the limit are all refused at once, until others end", "[serve]") {
    const EchoServer server({.port = 0, .max_connections = 2, .header_time = 3600, .idle_time = 3600});
    Wire one(server.port()), two(server.port());
    one.send("GET"), two.send("GET");
    wait_until([&] { return server.http.connections() >= 2; });
    std::vector<std::unique_ptr<Wire>> others;  // none of which reads or ends
    for (int i = 0; i < 100; ++i) others.push_back(std::make_unique<Wire>(server.port()));
    check_refused(get(server.port(), "/open"), 503, "too_many_connections");
    for (const auto& wire : others) CHECK(wire->answer().status == 503);
    one.close(), two.close();
    wait_until([&] { return server.http.connections() == 0; });
    CHECK(get(server.port(), "/open").status == 200);
}

TEST_CASE("http: thousands of connections, of which none has a thread", "[serve]") {
    constexpr std::size_t kClients = 1500;
    const auto threads = [] { return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}); };
    rlimit before{};
    REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
    if (before.rlim_max < 2 * kClients + 100) SKIP_TEST("the system allows too few open files");
    const rlimit more{std::max<rlim_t>(before.rlim_cur, 2 * kClients + 100), before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &more) == 0);
    {
        const EchoServer server({.port = 0, .max_connections = kClients});
        const auto at_first = threads();
        std::vector<std::unique_ptr<Wire>> clients;
        for (std::size_t i = 0; i < kClients; ++i) {
            clients.push_back(std::make_unique<Wire>(server.port()));
            clients.back()->send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\na");
        }
        wait_until([&] { return server.http.connections() >= kClients; });
        CHECK_ALL(threads() == at_first, get(server.port(), "/open").status == 503);
        for (const auto& client : clients) client->send("b");
        for (const auto& client : clients) CHECK(client->answer().body == "ab");
    }
    REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
}

// Limits the address space, since the limit of threads does not apply to root.
TEST_CASE("http: a thread that cannot start is a refusal, and nothing ends", "[serve]") {
    if (kSanitized || kEmulated) SKIP_TEST("the address space is not its own");
    HttpServer http({.port = 0});
    std::atomic<bool> finish = false;
    std::atomic<std::size_t> running = 0;
    http.route("GET", "/waits", [&](const HttpRequest&) {
        ++running;
        while (!finish) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return HttpResponse{.body = "{}"};
    });
    http.start();
    const std::string request = request_text("GET", "/waits", "");
    std::vector<std::unique_ptr<Wire>> busy;  // with the stacks that the system library keeps for later threads
    for (int i = 0; i < 20; ++i) {
        busy.push_back(std::make_unique<Wire>(http.port()));
        busy.back()->send(request);
    }
    wait_until([&] { return running == busy.size(); });
    rlimit before{};
    REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
    const rlimit none{1 << 20, before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_AS, &none) == 0);
    Wire refused(http.port());
    refused.send(request);
    const std::string answer = refused.until("\r\n");
    REQUIRE(setrlimit(RLIMIT_AS, &before) == 0);
    CHECK(answer == "HTTP/1.1 503 Service Unavailable\r\n");
    finish = true;
    for (const auto& wire : busy) CHECK(wire->answer().status == 200);
    CHECK(get(http.port(), "/waits").status == 200);
}

TEST_CASE("http: a client that does not read is given up, one that hangs up is noticed", "[serve]") {
    HttpServer http({.port = 0, .idle_time = 0.3});
    std::promise<bool> sent, gone;
    http.route("GET", "/endless", [&](const HttpRequest&) {
        HttpResponse r;
        r.stream = [&](const HttpSend& send) {
            while (send(std::string(100000, 'a'))) continue;
            sent.set_value(true);
        };
        return r;
    });
    http.route("GET", "/waits", [&](const HttpRequest& r) {
        while (!r.hung_up()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        gone.set_value(true);
        return HttpResponse{};
    });
    http.start();
    Wire slow(http.port());
    slow.send(request_text("GET", "/endless", ""));
    CHECK(sent.get_future().get());
    {
        Wire wire(http.port());
        wire.send(request_text("GET", "/waits", ""));
    }
    CHECK(gone.get_future().get());
}

TEST_CASE("http: stopping lets what runs end, and answers others", "[serve]") {
    HttpServer http({.port = 0});
    std::promise<void> begun, finish;
    http.route("GET", "/slow", [&](const HttpRequest&) {
        begun.set_value();
        finish.get_future().wait();
        return HttpResponse{.body = "done"};
    });
    http.route("GET", "/open", [&](const HttpRequest&) { return HttpResponse{}; });
    http.start();
    Wire idle(http.port()), busy(http.port());
    busy.send(request_text("GET", "/slow", ""));
    begun.get_future().wait();
    std::thread stop([&] { http.stop(3600); });
    CHECK(idle.rest().empty());  // closed at once
    check_refused(get(http.port(), "/open"), 503, "shutting_down");
    finish.set_value();
    const Answer done = busy.answer();
    CHECK_ALL(done.body == "done", busy.rest().empty());
    stop.join();
}

TEST_CASE("http: the end waits for no client", "[serve]") {
    HttpServer http({.port = 0, .header_time = 3600, .idle_time = 3600});
    http.route("POST", "/echo", [](const HttpRequest& r) { return HttpResponse{.body = r.body}; });
    std::promise<void> streaming;
    http.route("GET", "/endless", [&, first = true](const HttpRequest&) mutable {
        HttpResponse r;
        r.stream = [&streaming, &first](const HttpSend& send) {
            while (send(std::string(1 << 20, 'a')))
                if (std::exchange(first, false)) streaming.set_value();
        };
        return r;
    });
    std::atomic<bool> given_up = false;
    std::promise<void> waiting;
    http.route("GET", "/waits", [&](const HttpRequest&) {
        waiting.set_value();
        while (!given_up) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return HttpResponse{.status = 503, .body = "given up"};
    });
    http.start();
    Wire idle(http.port()), head(http.port()), body(http.port()), chunks(http.port()), never_reads(http.port()),
        waits(http.port());
    head.send("POST /echo HTT"), body.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc");
    chunks.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab");
    never_reads.send(request_text("GET", "/endless", "")), waits.send(request_text("GET", "/waits", ""));
    streaming.get_future().wait();
    waiting.get_future().wait();
    wait_until([&] { return http.connections() >= 6; });
    http.stop(0.3, [&] { given_up = true; });
    CHECK_ALL(waits.answer().body == "given up", http.connections() == 0);
}
