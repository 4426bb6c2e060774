// What is no text, or cannot be read.
#include "data/text/corpus.h"

namespace {

// While in scope, root has the rights of other users.
struct NotRoot {
    const bool root = ::geteuid() == 0 && ::seteuid(65534) == 0;
    ~NotRoot() {
        if (root) CHECK(::seteuid(0) == 0);
    }
};

}  // namespace

TEST_CASE("corpus: errors name the path, and what may not be read is one, in a folder too", "[data]") {
    const ScratchFolder folder;
    const auto refusal = [](const std::string& path) -> std::string {
        const std::string error = error_of([&] { read_corpus({path}); });
        CHECK(error.find('\n') == std::string::npos);
        CHECK_THAT(error, contains(path));
        return error;
    };
    refusal(folder.path("missing"));
    CHECK_THAT(refusal(folder.write("empty", "")), contains("is empty"));
    CHECK_THAT(refusal(folder.write("mark", "\xEF\xBB\xBF")), contains("is empty"));
    CHECK_THAT(refusal(folder.write("latin1", "caf\xE9!")), contains("not UTF-8: byte 3 is 0xE9"));
    fs::create_directory(folder.path("nothing"));
    CHECK_THAT(refusal(folder.path("nothing")), contains("no UTF-8 text file"));
    folder.write("binary/x", std::string(3, '\0'));
    CHECK_THAT(refusal(folder.path("binary")), contains("no UTF-8 text file"));
    fs::create_symlink("loop", folder.path("loop"));
    CHECK_THAT(refusal(folder.path("loop")), contains("Too many levels of symbolic links"));
    CHECK_THAT(refusal("/dev/zero"), contains("a device"));
    CHECK_THROWS_AS(read_corpus({}), BadInput);
    const std::string path = folder.write("in/closed.txt", "secret");
    folder.write("in/open.txt", "open");
    ::chmod(folder.path().c_str(), 0755);
    ::chmod(path.c_str(), 0);
    const NotRoot user;
    if (std::ifstream(path)) SKIP_TEST("this user may read every file");
    CHECK_THROWS_AS(read_corpus({path}), BadInput);
    CHECK_THROWS_AS(read_corpus({folder.path("in")}), BadInput);
}

TEST_CASE("corpus: one pass finds what is not text, and binary files are called so", "[data]") {
    constexpr std::size_t npos = std::string_view::npos, block = 1 << 18;
    const auto hash = [](std::string_view text) {
        ContentHash all;
        all.add(text);
        return all.value();
    };
    for (const std::size_t before :
         {std::size_t{0}, block - 4, block - 3, block - 2, block - 1, block, 3 * block - 1}) {
        const std::string ascii(before, 'a');
        for (const std::string_view whole : {"", "\xC3\xA9", "\xE6\x97\xA5", "\xF0\x9F\x98\x80"})
            for (const std::string& rest : {std::string(), std::string("b"), std::string(block, 'b')}) {
                const std::string good = ascii + std::string(whole) + rest;
                const TextScan found = scan_text(good, "a");
                CHECK_ALL(found.invalid == npos, found.hash == hash(good));
                const std::string cut = ascii + std::string(whole.substr(0, whole.size() - !whole.empty())) + rest;
                CHECK(scan_text(cut, "a").invalid == (whole.empty() ? npos : before));
            }
        CHECK(scan_text(ascii + "\xA9", "a").invalid == before);
        CHECK_THROWS_AS(scan_text(ascii + "\xA9" + std::string(block, 'b') + '\0', "a"), NoText);
    }
    const ScratchFolder folder;
    const auto refusal = [&](const std::string& bytes) {
        const std::string path = folder.write("x", bytes);
        return error_of([&] { read_corpus({path}, {.lossy = true}); }).substr(path.size());
    };
    using namespace std::string_literals;
    CHECK(refusal("\x7F"s + "ELF\2\1\1\0\0"s) == ": this is a binary file, an ELF program: name a text file");
    CHECK(refusal("PK\x03\x04\x14\0\0"s) ==
          ": this is a binary file, a zip archive, or a document of an office program: name a text file");
    CHECK(refusal("\xFF\xFEh\0i\0"s) ==
          ": this is a binary file, or UTF-16 text: convert it first, e.g. with iconv -f UTF-16 -t UTF-8");
    CHECK(refusal("text\0"s) == ": this is a binary file, byte 4 is NUL: name a text file");
}
