#include "data/corpus.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "data/tokenizers/bpe_train.h"
#include "data/tokenizers/char_tokenizer.h"
#include "engine/check.h"
#include "tests/data/scratch_folder.h"
#include "tests/skip.h"

using namespace inkling;
using namespace inkling::data;
using inkling::data::tests::ScratchFolder;
namespace fs = std::filesystem;

namespace {

// While in scope, root has no more rights than others.
struct NotRoot {
    const bool root = ::geteuid() == 0 && ::seteuid(65534) == 0;
    ~NotRoot() {
        if (root) CHECK(::seteuid(0) == 0);
    }
};

// The documents one after the other, in brackets.
std::string texts(const Corpus& corpus) {
    std::string all;
    for (const std::string_view document : corpus.documents) all += fmt::format("[{}]", document);
    return all;
}

// For "-".
ReadSome from(std::istream& in) {
    return [&in](char* to, std::size_t most) {
        in.read(to, static_cast<std::streamsize>(most));
        return static_cast<std::size_t>(in.gcount());
    };
}

}  // namespace

TEST_CASE("corpus: a file is read as it is", "[data]") {
    const ScratchFolder folder;
    const std::string path = folder.write("a.txt", "caf\xC3\xA9\r\nend");
    const Corpus corpus = read_corpus({path});
    CHECK(texts(corpus) == "[caf\xC3\xA9\r\nend]");
    CHECK(corpus.bytes() == 10);
    CHECK(corpus.sources == std::vector<std::string>{path});
    CHECK(corpus.skipped.empty());
}

TEST_CASE("corpus: every source is a document, in the order that they are named in", "[data]") {
    const ScratchFolder folder;
    const std::string a = folder.write("a", "one"), b = folder.write("b", "two\n"), c = folder.write("c", "three");
    std::istringstream in("in");
    CHECK(texts(read_corpus({a, b, "-", c}, from(in))) == "[one][two\n][in][three]");
}

TEST_CASE("corpus: standard input is read to its end, and only when named", "[data]") {
    const ScratchFolder folder;
    std::istringstream in("line 1\nline 2\n");
    CHECK(texts(read_corpus({folder.write("a", "x")}, from(in))) == "[x]");
    const Corpus corpus = read_corpus({"-"}, from(in));
    CHECK(texts(corpus) == "[line 1\nline 2\n]");
    CHECK(corpus.sources == std::vector<std::string>{"standard input"});
    CHECK_THROWS_WITH(read_corpus({"-"}, from(in)), ContainsSubstring("standard input: it is empty"));
}

TEST_CASE("corpus: a folder's texts in the order of their paths", "[data]") {
    const ScratchFolder folder;
    folder.write("b.md", "B");
    folder.write("a/z.py", "A");
    folder.write("c/d/e.txt", "C\n");
    folder.write("no-extension", "N");
    folder.write(".hidden", "H");
    folder.write(".git/config", "G");
    folder.write("empty.txt", "");
    folder.write("latin1.txt", "caf\xE9");
    folder.write("image.png", std::string("\x89PNG\0\0", 6));
    folder.write("late-nul.txt", std::string(5000, 'x') + '\0');
    fs::create_symlink("nowhere", folder.path("dangling"));
    fs::create_directory_symlink(".", folder.path("loop"));
    const Corpus corpus = read_corpus({folder.path()});
    CHECK(texts(corpus) == "[A][B][C\n][N]");
    CHECK(corpus.sources == std::vector{folder.path("a/z.py"), folder.path("b.md"), folder.path("c/d/e.txt"),
                                        folder.path("no-extension")});
    CHECK(corpus.skipped ==
          std::vector{folder.path("image.png"), folder.path("late-nul.txt"), folder.path("latin1.txt")});
}

TEST_CASE("corpus: a FIFO is a text, in a folder it is none", "[data]") {
    const ScratchFolder folder;
    folder.write("b", "two");
    REQUIRE(::mkfifo(folder.path("a").c_str(), 0600) == 0);
    CHECK(texts(read_corpus({folder.path()})) == "[two]");
    std::thread writer([&] { std::ofstream(folder.path("a")) << "\xEF\xBB\xBFone\n"; });
    const Corpus corpus = read_corpus({folder.path("a"), folder.path("b")});
    writer.join();
    CHECK(texts(corpus) == "[one\n][two]");
    CHECK(corpus.name() == folder.path("a") + ", " + folder.path("b"));
}

TEST_CASE("corpus: a terabyte of holes is no text", "[data]") {
    const ScratchFolder folder;
    folder.write("b", "two");
    const std::string sparse = folder.write("sparse", std::string(10'000, 'x'));
    fs::resize_file(sparse, std::uintmax_t{1} << 40);
    CHECK_THROWS_WITH(read_corpus({sparse}), ContainsSubstring(sparse) && ContainsSubstring("holes"));
    const Corpus corpus = read_corpus({folder.path()});
    CHECK(texts(corpus) == "[two]");
    CHECK(corpus.skipped == std::vector{sparse});
}

TEST_CASE("corpus: a byte order mark is dropped from every source", "[data]") {
    const ScratchFolder folder;
    const std::string a = folder.write("d/a", "\xEF\xBB\xBFone\n"),
                      b = folder.write("b", "\xEF\xBB\xBFtwo\xEF\xBB\xBF");
    CHECK(texts(read_corpus({folder.path("d"), b})) == "[one\n][two\xEF\xBB\xBF]");
}

TEST_CASE("corpus: errors name the path", "[data]") {
    const ScratchFolder folder;
    const auto refusal = [](const std::string& path) -> std::string {
        try {
            read_corpus({path});
        } catch (const BadInput& e) {
            CHECK(std::string(e.what()).find('\n') == std::string::npos);
            CHECK_THAT(e.what(), ContainsSubstring(path));
            return e.what();
        }
        return "";
    };
    CHECK(refusal(folder.path("missing")) != "");
    CHECK_THAT(refusal(folder.write("empty", "")), ContainsSubstring("is empty"));
    CHECK_THAT(refusal(folder.write("mark", "\xEF\xBB\xBF")), ContainsSubstring("is empty"));
    CHECK_THAT(refusal(folder.write("latin1", "caf\xE9!")), ContainsSubstring("not UTF-8: byte 3 is 0xE9"));
    fs::create_directory(folder.path("nothing"));
    CHECK_THAT(refusal(folder.path("nothing")), ContainsSubstring("no UTF-8 text file"));
    folder.write("binary/x", std::string(3, '\0'));
    CHECK_THAT(refusal(folder.path("binary")), ContainsSubstring("no UTF-8 text file"));
    fs::create_symlink("loop", folder.path("loop"));
    CHECK_THAT(refusal(folder.path("loop")), ContainsSubstring("Too many levels of symbolic links"));
    CHECK_THAT(refusal("/dev/zero"), ContainsSubstring("a device"));
    CHECK_THROWS_AS(read_corpus({}), BadInput);
}

TEST_CASE("corpus: what may not be read is an error, in a folder too", "[data]") {
    const ScratchFolder folder;
    const std::string path = folder.write("in/closed.txt", "secret");
    folder.write("in/open.txt", "open");
    ::chmod(folder.path().c_str(), 0755);
    ::chmod(path.c_str(), 0);
    const NotRoot user;
    if (std::ifstream(path)) SKIP_TEST("this user may read every file");
    CHECK_THROWS_AS(read_corpus({path}), BadInput);
    CHECK_THROWS_AS(read_corpus({folder.path("in")}), BadInput);
}

TEST_CASE("corpus: texts that are large are mapped, and standard input that is large goes through a file", "[data]") {
    const ScratchFolder folder;
    std::string large;
    while (large.size() < (65 << 20))
        large += "A line of text that is like every other one, and there are many of them.\n";
    const Corpus corpus = read_corpus({folder.write("large.txt", large)});
    CHECK((corpus.documents.size() == 1 && corpus.documents[0] == large));
    std::istringstream in(large);
    const Corpus piped = read_corpus({"-"}, from(in)), copy = piped;
    CHECK((piped.documents.size() == 1 && piped.documents[0] == large && copy.documents == piped.documents));
    folder.write("large.txt", large + "\xFF");
    CHECK_THROWS_WITH(read_corpus({folder.path("large.txt")}), ContainsSubstring("not UTF-8"));
}

TEST_CASE("corpus: a name for messages", "[data]") {
    const ScratchFolder folder;
    std::vector<std::string> paths;
    for (const char* name : {"a", "b", "c", "d"}) paths.push_back(folder.write(name, "text"));
    CHECK(read_corpus(paths).name() == paths[0] + " and 3 more files");
    paths.resize(1);
    CHECK(read_corpus(paths).name() == paths[0]);
}

TEST_CASE("corpus: a note of what was left out", "[data]") {
    const ScratchFolder folder;
    folder.write("a.txt", "text");
    folder.write("b.png", std::string("\x89PNG\0", 5));
    CHECK(read_corpus({folder.path()}).skipped_note() ==
          "skipped, because it is not UTF-8 text: " + folder.path("b.png"));
    folder.write("c.txt", "caf\xE9");
    CHECK(read_corpus({folder.path()}).skipped_note() ==
          "skipped, because they are not UTF-8 text: " + folder.path("b.png") + " and 1 more");
}
