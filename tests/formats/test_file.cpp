#include "formats/files/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>

#include "tests/skip.h"
#include "tests/support/error_of.h"
#include "tests/support/scratch_folder.h"

using namespace inkling;
using namespace inkling::formats;
using namespace inkling::testing;

namespace {

struct Folder {
    ScratchFolder scratch;
    fs::path path = scratch.path();
    std::ptrdiff_t entries() const { return std::distance(fs::directory_iterator(path), fs::directory_iterator()); }
};

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

std::string pattern(std::size_t size) {
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 131 % 251);
    return text;
}

}  // namespace

TEST_CASE("file: written bytes are read back, a name of 255 bytes too, and files without a size", "[data]") {
    const Folder dir;
    for (const std::size_t size : {0, 1, 4095, 4096, 65537, 1000000}) {
        const std::string text = pattern(size);
        write_file_atomic(dir.path / "a\nb c.bin", text);
        CHECK(read_file(dir.path / "a\nb c.bin") == text);
        const MappedFile mapped(dir.path / "a\nb c.bin");
        CHECK(std::string(reinterpret_cast<const char*>(mapped.data()), mapped.size()) == text);
    }
    CHECK(dir.entries() == 1);
    CHECK_THAT(read_file("/proc/self/status"), contains("Pid:"));
    const MappedFile status("/proc/self/status");  // files without a size beforehand are read to their end
    CHECK(status.size() > 100);
    write_file_atomic(dir.path / std::string(255, 'n'), "x");  // names of 255 bytes can be written
    CHECK(read_file(dir.path / std::string(255, 'n')) == "x");
}

TEST_CASE("file: reading names what cannot be read, and why", "[data]") {
    const Folder dir;
    const fs::path missing = dir.path / "no.txt";
    CHECK(error_of([&] { read_file(missing); }) ==
          fmt::format("cannot read {}: No such file or directory", missing.string()));
    CHECK_THAT(error_of([&] { read_file(dir.path); }), contains("Is a directory"));
    CHECK_THAT(error_of([&] { MappedFile{missing}; }), contains("No such file"));
    CHECK_THAT(error_of([&] { MappedFile{dir.path}; }), contains("Is a directory"));
    if (::geteuid() != 0) {  // root reads everything
        write_file_atomic(dir.path / "secret", "x");
        fs::permissions(dir.path / "secret", fs::perms::none);
        CHECK_THAT(error_of([&] { read_file(dir.path / "secret"); }), contains("Permission denied"));
    }
}

TEST_CASE("file: anything but a regular file is refused by name, without waiting", "[data]") {
    const Folder dir;
    const fs::path fifo = dir.path / "fifo", socket = dir.path / "socket", link = dir.path / "link";
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);  // nobody writes to it: opening it would wait for ever
    REQUIRE(::mknod(socket.c_str(), S_IFSOCK | 0600, 0) == 0);
    fs::create_symlink("/dev/zero", link);
    for (const auto& [path, kind] : {std::pair{fifo, "a FIFO"},
                                     {socket, "a socket"},
                                     {fs::path("/dev/zero"), "a device"},
                                     {fs::path("/dev/null"), "a device"},
                                     {link, "a device"}}) {
        const std::string expected = fmt::format("cannot read {}: it is {}: name a regular file", path.string(), kind);
        for (const FileKind of : {FileKind::json, FileKind::toml, FileKind::prompt, FileKind::any})
            CHECK(error_of([&, &path = path] { read_file(path, of); }) == expected);
        CHECK(error_of([&path = path] { MappedFile{path}; }) == expected);
    }
}

TEST_CASE("file: each kind has a largest size, which is refused before it is read", "[data]") {
    const Folder dir;
    const fs::path path = dir.path / "large";
    for (const FileKind kind : {FileKind::json, FileKind::merges, FileKind::toml, FileKind::prompt, FileKind::any}) {
        const std::uint64_t limit = kind.limit;
        CHECK(limit >= 1 << 20);
        CHECK(limit <= 1 << 30);
        std::ofstream(path, std::ios::binary) << "x";
        fs::resize_file(path, std::uintmax_t{1} << 40);  // without taking place on the disk
        CHECK(error_of([&] { read_file(path, kind); }) ==
              fmt::format("cannot read {}: it has 1099511627776 bytes: the limit for {} is {} MB", path.string(),
                          kind.name, limit >> 20));
        fs::resize_file(path, limit + 1);
        CHECK_THAT(error_of([&] { read_file(path, kind); }), contains("the limit for"));
        if (limit > 64 << 20) continue;
        fs::resize_file(path, limit);
        CHECK(read_file(path, kind).size() == limit);
    }
    CHECK(FileKind::json.limit == 64 << 20);
    CHECK(MappedFile(path).size() > 1 << 30);  // those that are mapped may be larger than memory
}

TEST_CASE("file: a name with a NUL byte is refused, not cut", "[data]") {
    const Folder dir;
    write_file_atomic(dir.path / "a", "another file");
    const fs::path name = dir.path / std::string("a\0b", 3);
    for (const std::string& message : {error_of([&] { read_file(name); }), error_of([&] { MappedFile{name}; }),
                                       error_of([&] { is_there(name); }), error_of([&] { is_folder(name); })})
        CHECK(message ==
              fmt::format("cannot read {}...: its name has a NUL byte: rename it", (dir.path / "a").string()));
    CHECK_THAT(error_of<Error>([&] { write_file_atomic(name, "x"); }), contains("its name has a NUL byte"));
    CHECK(read_file(dir.path / "a") == "another file");
}

TEST_CASE("file: what is there, holes in it, and what cannot be told", "[data]") {
    const Folder dir;
    write_file_atomic(dir.path / "file", "x");
    CHECK(is_there(dir.path));
    CHECK(is_folder(dir.path));
    CHECK(is_there(dir.path / "file"));
    CHECK_FALSE(is_folder(dir.path / "file"));
    for (const fs::path& none : {dir.path / "none", dir.path / "file" / "below", fs::path()}) {
        CHECK_FALSE(is_there(none));
        CHECK_FALSE(is_folder(none));
    }
    fs::create_symlink("b", dir.path / "a");
    fs::create_symlink("a", dir.path / "b");
    for (const fs::path& loop : {dir.path / "a", dir.path / "a" / "below"}) {
        const std::string expected = fmt::format("cannot read {}: Too many levels of symbolic links", loop.string());
        CHECK(error_of([&] { is_there(loop); }) == expected);
        CHECK(error_of([&] { is_folder(loop); }) == expected);
        CHECK(error_of([&] { read_file(loop); }) == expected);
    }
    const fs::path path = dir.path / "sparse";
    write_file_atomic(path, "");  // holes are found
    CHECK_FALSE(has_hole(path));
    write_file_atomic(path, pattern(100'000));
    CHECK_FALSE(has_hole(path));
    fs::resize_file(path, 1'000'000);
    CHECK(has_hole(path));
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
            message = error_of<Error>([&] { write_file_atomic(path, text); });
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
    CHECK(dir.entries() == 1);
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

TEST_CASE("file: with Links::replaced a link, a pipe and a device give way to the file", "[data]") {
    const Folder dir;
    const fs::path user = dir.path / "user", at = dir.path / "file";
    write_file_atomic(user, "mine");
    const std::vector<std::function<void()>> kinds = {
        [&] { fs::create_symlink(user, at); }, [&] { fs::create_symlink(dir.path / "none", at); },
        [&] { fs::create_symlink("/dev/null", at); }, [&] { REQUIRE(::mkfifo(at.c_str(), 0600) == 0); },
        [&] { write_file_atomic(at, "old"), ::chmod(at.c_str(), 0640); }};
    for (const auto& make : kinds) {
        make();
        write_file_atomic(at, "new", Links::replaced);
        CHECK(fs::is_regular_file(fs::symlink_status(at)));
        CHECK(read_file(at) == "new");
        CHECK(read_file(user) == "mine");
        CHECK_FALSE(fs::exists(dir.path / "none"));
        if (&make == &kinds.back()) CHECK(static_cast<unsigned>(fs::status(at).permissions()) == 0640u);
        fs::remove(at);
    }
}

TEST_CASE("file: a link to another file system is followed, and the file is written beside its old self", "[data]") {
    const Folder dir;
    fs::path other;
    for (const char* const place : {"/dev/shm", "/var/tmp"}) {
        struct stat here = {}, there = {};
        if (::stat(dir.path.c_str(), &here) == 0 && ::stat(place, &there) == 0 && here.st_dev != there.st_dev)
            other = place;
    }
    if (other.empty()) SKIP_TEST("/dev/shm and /var/tmp are on one file system");
    const fs::path target = other / dir.path.filename();
    write_file_atomic(target, "old");
    fs::create_symlink(target, dir.path / "link");
    write_file_atomic(dir.path / "link", "new");  // a rename from here to there would fail
    CHECK(fs::is_symlink(dir.path / "link"));
    CHECK(read_file(target) == "new");
    CHECK(dir.entries() == 1);
    fs::remove(target);
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
    CHECK_THAT(error_of<Error>([&] { file.write("e", 1); }), contains("cannot write"));
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
