#include "formats/files/file.h"

#include "tests/formats/file_folder.h"

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

TEST_CASE("file: reading names what cannot be read, and why, and a NUL byte does not cut a name", "[data]") {
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
    write_file_atomic(dir.path / "a", "another file");
    const fs::path name = dir.path / std::string("a\0b", 3);
    for (const std::string& message : {error_of([&] { read_file(name); }), error_of([&] { MappedFile{name}; }),
                                       error_of([&] { is_there(name); }), error_of([&] { is_folder(name); })})
        CHECK(message ==
              fmt::format("cannot read {}...: its name has a NUL byte: rename it", (dir.path / "a").string()));
    CHECK_THAT(error_of<Error>([&] { write_file_atomic(name, "x"); }), contains("its name has a NUL byte"));
    CHECK(read_file(dir.path / "a") == "another file");
}

TEST_CASE("file: anything but a regular file is refused by name, and so is one that is too large", "[data]") {
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
    const fs::path path = dir.path / "large";
    for (const FileKind kind : {FileKind::json, FileKind::merges, FileKind::toml, FileKind::prompt, FileKind::any}) {
        const std::uint64_t limit = kind.limit;
        CHECK_ALL(limit >= 1 << 20, limit <= 1 << 30);
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

TEST_CASE("file: its contents, its holes, and a copy of a mapped file", "[data]") {
    const Folder dir;
    write_file_atomic(dir.path / "file", "x");
    CHECK_ALL(is_there(dir.path), is_folder(dir.path), is_there(dir.path / "file"), !is_folder(dir.path / "file"));
    for (const fs::path& none : {dir.path / "none", dir.path / "file" / "below", fs::path()})
        CHECK_ALL(!is_there(none), !is_folder(none));
    fs::create_symlink("b", dir.path / "a"), fs::create_symlink("a", dir.path / "b");
    for (const fs::path& loop : {dir.path / "a", dir.path / "a" / "below"}) {
        const std::string expected = fmt::format("cannot read {}: Too many levels of symbolic links", loop.string());
        CHECK_ALL(error_of([&] { is_there(loop); }) == expected, error_of([&] { is_folder(loop); }) == expected);
        CHECK(error_of([&] { read_file(loop); }) == expected);
    }
    const fs::path path = dir.path / "sparse";
    write_file_atomic(path, "");  // holes are found
    CHECK_FALSE(has_hole(path));
    write_file_atomic(path, pattern(100'000));
    CHECK_FALSE(has_hole(path));
    fs::resize_file(path, 1'000'000);
    CHECK(has_hole(path));
    write_file_atomic(dir.path / "mapped", "mapped");
    MappedFile copy;
    CHECK(copy.size() == 0);
    {
        const MappedFile mapped(dir.path / "mapped");
        copy = mapped;
        CHECK(copy.data() == mapped.data());
    }
    fs::remove(dir.path / "mapped");
    CHECK(static_cast<char>(copy.bytes()[5]) == 'd');
}
