// Files that are written whole or not at all.
#include <sys/resource.h>

#include <csignal>

#include "formats/files/file.h"
#include "tests/formats/file_folder.h"

namespace {

// Makes writes past `bytes` fail with "File too large", like a full disk: short writes first.
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

}  // namespace

TEST_CASE("file: what cannot be written whole leaves the old file, and is named", "[data]") {
    const Folder dir;
    const fs::path path = dir.path / "weights";
    write_file_atomic(path, "old");
    const std::string text = pattern(65536);
    for (rlim_t limit = 0; limit < text.size(); limit += limit < 100 || limit > 65400 ? 1 : 97) {
        std::string message;
        {
            const FileSizeLimit full(limit);
            message = error_of<Error>([&] { write_file_atomic(path, text); });
        }
        CHECK_ALL(message == fmt::format("cannot write {}: File too large", path.string()), read_file(path) == "old");
        CHECK(dir.entries() == 1);
    }
    write_file_atomic(path, text);
    CHECK(read_file(path) == text);
    CHECK(error_of<Error>([] { write_file_atomic("/dev/full", "x"); }) ==
          "cannot write /dev/full: No space left on device");
    CHECK_THAT(error_of<Error>([&] { write_file_atomic(dir.path, "x"); }), contains("Is a directory"));
    CHECK_THAT(error_of<Error>([&] { write_file_atomic(dir.path / "", "x"); }), contains("Is a directory"));
    CHECK_THAT(error_of<Error>([&] { write_file_atomic(dir.path / "no" / "a", "x"); }), contains("No such file"));
    CHECK_THAT(error_of<Error>([&] { sync_directory(dir.path / "no"); }), contains("No such file"));
    CHECK_THAT(error_of<Error>([&] { write_file_atomic(dir.path / std::string(256, 'n'), "x"); }),
               contains("File name too long"));
    write_file_atomic(dir.path / "file", "x");
    CHECK_THAT(error_of<Error>([&] { write_file_atomic(dir.path / "file" / "a", "x"); }), contains("Not a directory"));
    if (::geteuid() != 0) {  // root writes everywhere
        fs::permissions(dir.path, fs::perms::owner_read | fs::perms::owner_exec);
        CHECK_THAT(error_of<Error>([&] { write_file_atomic(dir.path / "b", "x"); }), contains("Permission denied"));
        fs::permissions(dir.path, fs::perms::owner_all);
    }
    CHECK(dir.entries() == 2);
}

TEST_CASE("file: devices and pipes are written to, not replaced", "[data]") {
    write_file_atomic("/dev/null", "x");
    CHECK(fs::is_character_file("/dev/null"));

    const Folder dir;
    const fs::path fifo = dir.path / "fifo";
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    std::string text;
    std::thread reader([&] { std::getline(std::ifstream(fifo), text); });
    write_file_atomic(fifo, "through");
    reader.join();
    CHECK_ALL(text == "through", fs::is_fifo(fifo));
}

TEST_CASE("file: a link stays, or gives way, and a file on another file system is beside its old self", "[data]") {
    const Folder dir;
    fs::create_directory(dir.path / "store");
    const fs::path target = dir.path / "store" / "real";
    write_file_atomic(target, "old");
    ::chmod(target.c_str(), 0640);
    fs::create_symlink("store/real", dir.path / "link");
    write_file_atomic(dir.path / "link", "new");
    CHECK_ALL(fs::is_symlink(dir.path / "link"), read_file(target) == "new");
    CHECK(static_cast<unsigned>(fs::status(target).permissions()) == 0640u);
    const fs::path user = dir.path / "user", at = dir.path / "file";
    write_file_atomic(user, "mine");
    const std::vector<std::function<void()>> kinds = {
        [&] { fs::create_symlink(user, at); }, [&] { fs::create_symlink(dir.path / "none", at); },
        [&] { fs::create_symlink("/dev/null", at); }, [&] { REQUIRE(::mkfifo(at.c_str(), 0600) == 0); },
        [&] { write_file_atomic(at, "old"), ::chmod(at.c_str(), 0640); }};
    for (const auto& make : kinds) {
        make();
        write_file_atomic(at, "new", Links::replaced);
        CHECK_ALL(fs::is_regular_file(fs::symlink_status(at)), read_file(at) == "new", read_file(user) == "mine");
        CHECK_FALSE(fs::exists(dir.path / "none"));
        if (&make == &kinds.back()) CHECK(static_cast<unsigned>(fs::status(at).permissions()) == 0640u);
        fs::remove(at);
    }
    fs::path other;
    for (const char* const place : {"/dev/shm", "/var/tmp"}) {
        struct stat here = {}, there = {};
        if (::stat(dir.path.c_str(), &here) == 0 && ::stat(place, &there) == 0 && here.st_dev != there.st_dev)
            other = place;
    }
    if (other.empty()) SKIP_TEST("/dev/shm and /var/tmp are on one file system");
    const Folder beside;
    const fs::path far = other / beside.path.filename();
    write_file_atomic(far, "old");
    fs::create_symlink(far, beside.path / "link");
    write_file_atomic(beside.path / "link", "new");  // a rename from here to there would fail
    CHECK_ALL(fs::is_symlink(beside.path / "link"), read_file(far) == "new", beside.entries() == 1);
    fs::remove(far);
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
    file.write("ab", 2), file.write(nullptr, 0), file.write("cd", 2);
    file.commit();
    CHECK(read_file(path) == "abcd");
    CHECK_THAT(error_of<Error>([&] { file.write("e", 1); }), contains("cannot write"));
    CHECK(read_file(path) == "abcd");
}

TEST_CASE("file: a name that a dead process left is passed over, and two writers do not mix", "[data]") {
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
    CHECK_ALL(read_file(path) == "new", read_file(stale) == "stale");
    const auto write_many = [&](char c) {
        for (int i = 0; i < 50; ++i) write_file_atomic(path, std::string(10000, c));
    };
    std::thread other(write_many, 'x');
    write_many('y');
    other.join();
    const std::string text = read_file(path);
    CHECK_ALL(text == std::string(10000, text[0]), dir.entries() == 2);
}
