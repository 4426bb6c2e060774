#include "data/text/text_source.h"

#include <pthread.h>

#include <csignal>

static std::string make_fifo(const ScratchFolder& folder) {
    const std::string path = folder.path("fifo");
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    return path;
}

TEST_CASE("text source: files and FIFOs are read to their end, whatever signals come", "[data]") {
    const ScratchFolder folder;
    CHECK(open_text(folder.write("a", "caf\xC3\xA9\n")).bytes == "caf\xC3\xA9\n");
    CHECK(open_text(folder.write("empty", "")).bytes.empty());
    const std::string fifo = make_fifo(folder), text(200'000, 'x');
    std::thread writer([&] { std::ofstream(fifo, std::ios::binary) << text; });
    const Text read = open_text(fifo), copy = read;
    writer.join();
    CHECK(copy.bytes == text);
    const ScratchFolder other;
    const std::string slow = make_fifo(other);
    struct sigaction quiet = {}, before = {};
    quiet.sa_handler = [](int) {};  // without SA_RESTART: system calls return EINTR
    ::sigaction(SIGUSR1, &quiet, &before);
    std::string came;
    std::thread reader([&] { came = read_stream(open_stream(slow)).bytes; });
    const auto disturb = [&] {
        for (int i = 0; i < 20; ++i) {
            ::pthread_kill(reader.native_handle(), SIGUSR1);
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    };
    disturb();  // while it waits in open
    std::ofstream out(slow);
    disturb();  // while it waits in read
    out << "whole" << std::flush;
    out.close();
    reader.join();
    ::sigaction(SIGUSR1, &before, nullptr);
    CHECK(came == "whole");
}

TEST_CASE("text source: a large stream goes through a file that nobody finds", "[data]") {
    const ScratchFolder folder;
    const char* const old = std::getenv("TMPDIR");
    const std::string before = old ? old : "";
    ::setenv("TMPDIR", folder.path().c_str(), 1);
    std::size_t left = 70'000'000, most_files = 0;
    const Text text = read_stream([&](char* to, std::size_t most) {
        const std::size_t n = std::min(left, most);
        for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<char>('a' + (left - i) % 26);
        left -= n;
        most_files = std::max(most_files, static_cast<std::size_t>(std::distance(fs::directory_iterator(folder.path()),
                                                                                 fs::directory_iterator())));
        return n;
    });
    ::setenv("TMPDIR", folder.path("none").c_str(), 1);
    CHECK_THROWS_WITH(read_stream([](char* to, std::size_t most) {
                          std::fill_n(to, most, 'x');
                          return most;
                      }),
                      contains("cannot write " + folder.path("none")));
    before.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", before.c_str(), 1);
    CHECK(most_files == 0);
    REQUIRE(text.bytes.size() == 70'000'000);
    bool same = true;
    for (std::size_t i = 0; i < text.bytes.size(); ++i)
        same = same && text.bytes[i] == static_cast<char>('a' + (70'000'000 - i) % 26);
    CHECK(same);
}
