#include "data/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>
#include <typeinfo>

#include "engine/check.h"
#include "tests/skip.h"

using namespace inkling;
using namespace inkling::data;
namespace fs = std::filesystem;

namespace {

struct Folder {
    fs::path path;
    Folder() {
        std::string name = (fs::temp_directory_path() / "inkling-file-XXXXXX").string();
        path = ::mkdtemp(name.data());
    }
    ~Folder() { fs::remove_all(path); }
    std::ptrdiff_t entries() const { return std::distance(fs::directory_iterator(path), fs::directory_iterator()); }
};

// Writes past `bytes` fail with "File too large", as a full disk would, short writes first.
struct FileSizeLimit {
    rlimit before{};
    void (*handler)(int);
    explicit FileSizeLimit(rlim_t bytes) : handler(std::signal(SIGXFSZ, SIG_IGN)) {
        ::getrlimit(RLIMIT_FSIZE, &before);
        const rlimit now{bytes, before.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &now);
    }
    ~FileSizeLimit() {
        ::setrlimit(RLIMIT_FSIZE, &before);
        std::signal(SIGXFSZ, handler);
    }
};

// The message of the E, and no other, that `call` throws; "" when it throws none.
template <class E, class Call>
std::string refusal(Call call) {
    try {
        call();
    } catch (const Error& e) {
        return typeid(e) == typeid(E) ? e.what() : fmt::format("another error: {}", e.what());
    }
    return "";
}

std::string pattern(std::size_t size) {
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 131 % 251);
    return text;
}

}  // namespace

TEST_CASE("file: what is written is read back, byte for byte", "[data]") {
    const Folder dir;
    for (const std::size_t size : {0, 1, 4095, 4096, 65537, 1000000}) {
        const std::string text = pattern(size);
        write_file_atomic(dir.path / "a\nb c.bin", text);
        CHECK(read_file(dir.path / "a\nb c.bin") == text);
        const MappedFile mapped(dir.path / "a\nb c.bin");
        CHECK(std::string(reinterpret_cast<const char*>(mapped.data()), mapped.size()) == text);
    }
    CHECK(dir.entries() == 1);
}

TEST_CASE("file: reading names what cannot be read, and why", "[data]") {
    const Folder dir;
    const fs::path missing = dir.path / "no.txt";
    CHECK(refusal<BadInput>([&] { read_file(missing); }) ==
          fmt::format("cannot read {}: No such file or directory", missing.string()));
    CHECK_THAT(refusal<BadInput>([&] { read_file(dir.path); }), ContainsSubstring("Is a directory"));
    CHECK_THAT(refusal<BadInput>([&] { MappedFile{missing}; }), ContainsSubstring("No such file"));
    CHECK_THAT(refusal<BadInput>([&] { MappedFile{dir.path}; }), ContainsSubstring("Is a directory"));
    if (::geteuid() != 0) {  // root reads everything
        write_file_atomic(dir.path / "secret", "x");
        fs::permissions(dir.path / "secret", fs::perms::none);
        CHECK_THAT(refusal<BadInput>([&] { read_file(dir.path / "secret"); }), ContainsSubstring("Permission denied"));
    }
}

TEST_CASE("file: files without a size beforehand are read to their end", "[data]") {
    CHECK_THAT(read_file("/proc/self/status"), ContainsSubstring("Pid:"));

    const Folder dir;
    const fs::path fifo = dir.path / "fifo";
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    const std::string text = pattern(200000);
    const auto feed = [&] { std::ofstream(fifo, std::ios::binary) << text; };
    std::thread first(feed);
    CHECK(read_file(fifo) == text);
    first.join();
    std::thread second(feed);
    const MappedFile mapped(fifo);
    second.join();
    CHECK(std::string(reinterpret_cast<const char*>(mapped.data()), mapped.size()) == text);
}

TEST_CASE("file: signals do not interrupt reading", "[data]") {
    const Folder dir;
    const fs::path fifo = dir.path / "fifo";
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    struct sigaction quiet = {}, before = {};
    quiet.sa_handler = [](int) {};  // without SA_RESTART: system calls return EINTR
    ::sigaction(SIGUSR1, &quiet, &before);
    std::string text;
    std::thread reader([&] { text = read_file(fifo); });
    const auto disturb = [&] {
        for (int i = 0; i < 20; ++i) {
            ::pthread_kill(reader.native_handle(), SIGUSR1);
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    };
    disturb();  // while it waits in open
    std::ofstream out(fifo);
    disturb();  // while it waits in read
    out << "whole" << std::flush;
    out.close();
    reader.join();
    ::sigaction(SIGUSR1, &before, nullptr);
    CHECK(text == "whole");
}

TEST_CASE("file: a copy of a mapped file shares its bytes and outlives it", "[data]") {
    const Folder dir;
    write_file_atomic(dir.path / "a", "mapped");
    MappedFile copy;
    CHECK(copy.size() == 0);
    {
        const MappedFile mapped(dir.path / "a");
        copy = mapped;
        CHECK(copy.data() == mapped.data());
    }
    fs::remove(dir.path / "a");
    CHECK(static_cast<char>(copy.bytes()[5]) == 'd');
}

TEST_CASE("file: what cannot be written whole leaves the old file and nothing else", "[data]") {
    const Folder dir;
    const fs::path path = dir.path / "weights";
    write_file_atomic(path, "old");
    const std::string text = pattern(65536);
    for (rlim_t limit = 0; limit < text.size(); limit += limit < 100 || limit > 65400 ? 1 : 97) {
        std::string message;
        {
            const FileSizeLimit full(limit);
            message = refusal<Error>([&] { write_file_atomic(path, text); });
        }
        CHECK(message == fmt::format("cannot write {}: File too large", path.string()));
        CHECK(read_file(path) == "old");
        CHECK(dir.entries() == 1);
    }
    write_file_atomic(path, text);
    CHECK(read_file(path) == text);
}

TEST_CASE("file: a full device, a directory and a missing one are named as such", "[data]") {
    const Folder dir;
    CHECK(refusal<Error>([] { write_file_atomic("/dev/full", "x"); }) ==
          "cannot write /dev/full: No space left on device");
    CHECK_THAT(refusal<Error>([&] { write_file_atomic(dir.path, "x"); }), ContainsSubstring("Is a directory"));
    CHECK_THAT(refusal<Error>([&] { write_file_atomic(dir.path / "", "x"); }), ContainsSubstring("Is a directory"));
    CHECK_THAT(refusal<Error>([&] { write_file_atomic(dir.path / "no" / "a", "x"); }),
               ContainsSubstring("No such file"));
    CHECK_THAT(refusal<Error>([&] { sync_directory(dir.path / "no"); }), ContainsSubstring("No such file"));
    CHECK_THAT(refusal<Error>([&] { write_file_atomic(dir.path / std::string(256, 'n'), "x"); }),
               ContainsSubstring("File name too long"));
    write_file_atomic(dir.path / "file", "x");
    CHECK_THAT(refusal<Error>([&] { write_file_atomic(dir.path / "file" / "a", "x"); }),
               ContainsSubstring("Not a directory"));
    if (::geteuid() != 0) {  // root writes everywhere
        fs::permissions(dir.path, fs::perms::owner_read | fs::perms::owner_exec);
        CHECK_THAT(refusal<Error>([&] { write_file_atomic(dir.path / "b", "x"); }),
                   ContainsSubstring("Permission denied"));
        fs::permissions(dir.path, fs::perms::owner_all);
    }
    CHECK(dir.entries() == 1);
}

TEST_CASE("file: devices and pipes are written to, not replaced", "[data]") {
    write_file_atomic("/dev/null", "x");
    CHECK(fs::is_character_file("/dev/null"));

    const Folder dir;
    const fs::path fifo = dir.path / "fifo";
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    std::string text;
    std::thread reader([&] { text = read_file(fifo); });
    write_file_atomic(fifo, "through");
    reader.join();
    CHECK(text == "through");
    CHECK(fs::is_fifo(fifo));
}

TEST_CASE("file: a link stays, the file that it names is replaced, with its permissions", "[data]") {
    const Folder dir;
    fs::create_directory(dir.path / "store");
    const fs::path target = dir.path / "store" / "real";
    write_file_atomic(target, "old");
    ::chmod(target.c_str(), 0640);
    fs::create_symlink("store/real", dir.path / "link");
    write_file_atomic(dir.path / "link", "new");
    CHECK(fs::is_symlink(dir.path / "link"));
    CHECK(read_file(target) == "new");
    CHECK(static_cast<unsigned>(fs::status(target).permissions()) == 0640u);
}

TEST_CASE("file: a link to another file system is followed, and the file is written beside its old self", "[data]") {
    const Folder dir;
    struct stat here = {}, there = {};
    if (::stat(dir.path.c_str(), &here) != 0 || ::stat("/dev/shm", &there) != 0 || here.st_dev == there.st_dev)
        SKIP_TEST("/dev/shm is no file system of its own");
    const fs::path target = fs::path("/dev/shm") / dir.path.filename();
    write_file_atomic(target, "old");
    fs::create_symlink(target, dir.path / "link");
    write_file_atomic(dir.path / "link", "new");  // a rename from here to there would fail
    CHECK(fs::is_symlink(dir.path / "link"));
    CHECK(read_file(target) == "new");
    CHECK(dir.entries() == 1);
    fs::remove(target);
}

TEST_CASE("file: names of 255 bytes can be written", "[data]") {
    const Folder dir;
    write_file_atomic(dir.path / std::string(255, 'n'), "x");
    CHECK(read_file(dir.path / std::string(255, 'n')) == "x");
}

TEST_CASE("file: a writer shows its file only when it commits", "[data]") {
    const Folder dir;
    const fs::path path = dir.path / "a";
    {
        FileWriter file(path);
        file.write("half", 4);
        CHECK_FALSE(fs::exists(path));
        CHECK(dir.entries() == 1);  // the temporary file, beside it
    }
    CHECK(dir.entries() == 0);

    FileWriter file(path);
    file.write("ab", 2);
    file.write(nullptr, 0);
    file.write("cd", 2);
    file.commit();
    CHECK(read_file(path) == "abcd");
    CHECK_THAT(refusal<Error>([&] { file.write("e", 1); }), ContainsSubstring("cannot write"));
    CHECK(read_file(path) == "abcd");
}

TEST_CASE("file: a name that a dead process left is passed over", "[data]") {
    const Folder dir;
    const fs::path path = dir.path / "a";
    fs::path temp;
    unsigned next = 0;
    {
        const FileWriter probe(path);
        temp = fs::directory_iterator(dir.path)->path();
        next = static_cast<unsigned>(std::stoul(temp.extension().string().substr(1))) + 1;
    }
    const fs::path stale = temp.replace_extension(std::to_string(next));
    std::ofstream(stale) << "stale";
    write_file_atomic(path, "new");
    CHECK(read_file(path) == "new");
    CHECK(read_file(stale) == "stale");
}

TEST_CASE("file: two writers of one file do not mix", "[data]") {
    const Folder dir;
    const fs::path path = dir.path / "a";
    const auto write_many = [&](char c) {
        for (int i = 0; i < 50; ++i) write_file_atomic(path, std::string(10000, c));
    };
    std::thread other(write_many, 'x');
    write_many('y');
    other.join();
    const std::string text = read_file(path);
    CHECK(text == std::string(10000, text[0]));
    CHECK(dir.entries() == 1);
}
