#include "data/text/corpus.h"

#include "data/tokenizers/bpe/bpe_train.h"
#include "data/tokenizers/char_tokenizer.h"
#include "tests/formats/compress.h"

// The documents in order, each in brackets.
static std::string texts(const Corpus& corpus) {
    std::string all;
    for (const std::string_view document : corpus.documents) all += fmt::format("[{}]", document);
    return all;
}

// A reader for the source "-".
static ReadSome from(std::istream& in) {
    return [&in](char* to, std::size_t most) {
        in.read(to, static_cast<std::streamsize>(most));
        return static_cast<std::size_t>(in.gcount());
    };
}

TEST_CASE("corpus: a file is read as it is, standard input to its end, and messages name a source", "[data]") {
    const ScratchFolder folder;
    const std::string path = folder.write("a.txt", "caf\xC3\xA9\r\nend");
    const Corpus corpus = read_corpus({path});
    CHECK_ALL(texts(corpus) == "[caf\xC3\xA9\r\nend]", corpus.bytes() == 10);
    CHECK_ALL(corpus.sources == std::vector<std::string>{path}, corpus.notes().empty());
    const std::string a = folder.write("a", "one"), b = folder.write("b", "two\n"), c = folder.write("c", "three");
    std::istringstream in("in");  // every source is a document, in the order that they are named in
    CHECK(texts(read_corpus({a, b, "-", c}, {}, from(in))) == "[one][two\n][in][three]");
    const std::string first = folder.write("d/a", "\xEF\xBB\xBFone\n"),
                      second = folder.write("b", "\xEF\xBB\xBFtwo\xEF\xBB\xBF");
    CHECK(texts(read_corpus({folder.path("d"), second})) == "[one\n][two\xEF\xBB\xBF]");
    std::istringstream piped("line 1\nline 2\n");
    CHECK(texts(read_corpus({folder.write("a", "x")}, {}, from(piped))) == "[x]");
    const Corpus read = read_corpus({"-"}, {}, from(piped));
    CHECK_ALL(texts(read) == "[line 1\nline 2\n]", read.sources == std::vector<std::string>{"standard input"});
    CHECK_THROWS_WITH(read_corpus({"-"}, {}, from(piped)), contains("standard input: it is empty"));
    std::vector<std::string> paths;  // a name for messages
    for (const char* name : {"a", "b", "c", "d"}) paths.push_back(folder.write(name, "text"));
    CHECK(read_corpus(paths).name() == paths[0] + " and 3 more files");
    paths.resize(1);
    CHECK(read_corpus(paths).name() == paths[0]);
}

TEST_CASE("corpus: a folder's texts in the order of their paths, a FIFO, and a terabyte of holes", "[data]") {
    const ScratchFolder folder;
    folder.write("b.md", "B"), folder.write("a/z.py", "A"), folder.write("c/d/e.txt", "C\n");
    folder.write("no-extension", "N"), folder.write(".hidden", "H"), folder.write(".git/config", "G");
    folder.write("empty.txt", ""), folder.write("latin1.txt", "caf\xE9");
    folder.write("image.png", std::string("\x89PNG\0\0", 6));
    folder.write("late-nul.txt", std::string(5000, 'x') + '\0');
    fs::create_symlink("nowhere", folder.path("dangling"));
    fs::create_directory_symlink(".", folder.path("loop"));
    const Corpus corpus = read_corpus({folder.path()});
    CHECK(texts(corpus) == "[A][B][C\n][N]");
    CHECK(corpus.sources == std::vector{folder.path("a/z.py"), folder.path("b.md"), folder.path("c/d/e.txt"),
                                        folder.path("no-extension")});
    CHECK(corpus.notes() ==
          std::vector<std::string>{"skipped 6 files: 2 binary, 1 empty, 1 hidden, 1 in .git, 1 not UTF-8"});
    folder.write("only/mark.txt", "\xEF\xBB\xBF");  // empty, too
    folder.write("only/blank.jsonl", "\n \n");
    CHECK_THROWS_WITH(read_corpus({folder.path("only")}), contains("(skipped 2 files: 2 empty"));
    const ScratchFolder special;
    special.write("b", "two");
    REQUIRE(::mkfifo(special.path("a").c_str(), 0600) == 0);
    CHECK(texts(read_corpus({special.path()})) == "[two]");
    std::thread writer([&] { std::ofstream(special.path("a")) << "\xEF\xBB\xBFone\n"; });
    const Corpus both = read_corpus({special.path("a"), special.path("b")});
    writer.join();
    CHECK_ALL(texts(both) == "[one\n][two]", both.name() == special.path("a") + ", " + special.path("b"));
    const std::string sparse = special.write("sparse", std::string(10'000, 'x'));  // a terabyte of holes is no text
    fs::resize_file(sparse, std::uintmax_t{1} << 40);
    CHECK_THROWS_WITH(read_corpus({sparse}), contains(sparse, "holes"));
    const Corpus others = read_corpus({special.path()});
    CHECK_ALL(texts(others) == "[two]", others.notes() == std::vector{"skipped 1 file: 1 binary, such as " + sparse});
}

TEST_CASE("corpus: texts that are large are mapped, and standard input that is large goes through a file", "[data]") {
    const ScratchFolder folder;
    std::string large;
    while (large.size() < (65 << 20))
        large += "A line of text that is like every other one, and there are many of them.\n";
    const Corpus corpus = read_corpus({folder.write("large.txt", large)});
    CHECK_ALL(corpus.documents.size() == 1, (corpus.documents[0] == large));
    std::istringstream in(large);
    const Corpus piped = read_corpus({"-"}, {}, from(in)), copy = piped;
    CHECK_ALL(piped.documents.size() == 1, (piped.documents[0] == large), (copy.documents == piped.documents));
    folder.write("large.txt", large + "\xFF");
    CHECK_THROWS_WITH(read_corpus({folder.path("large.txt")}), contains("not UTF-8"));
}

TEST_CASE("corpus: files left out of a folder, by reason, by their names and by their paths", "[data]") {
    const ScratchFolder folder;
    folder.write("a.txt", "text"), folder.write("b.png", std::string("\x89PNG\0", 5));
    CHECK(read_corpus({folder.path()}).notes() ==
          std::vector{"skipped 1 file: 1 binary, such as " + folder.path("b.png")});
    folder.write("c.txt", "caf\xE9"), folder.write("d.txt.gz", gzip("text").substr(0, 12));
    folder.write("node_modules/x/y.js", "code"), folder.write("run/config.toml", "seed = 1\n");
    folder.write("run/metrics.jsonl", "{}\n"), folder.write("run/step-000001/tokenizer.json", "{}\n");
    folder.write(".git/objects/ab/cdef", "x");
    const Corpus corpus = read_corpus({folder.path()}, {.exclude = {"nothing"}});
    CHECK(texts(corpus) == "[text]");
    CHECK(corpus.notes() == std::vector<std::string>{"skipped 8 files: 1 binary, 1 damaged, 1 in .git, 1 in "
                                                     "node_modules, 3 in runs of Inkling, 1 not UTF-8"});
    const ScratchFolder named;
    for (const char* name : {"a.txt", "b.min.js", "c/d.txt", "c/e.log", "third/f.txt", "c/third/g.txt"})
        named.write(name, name);
    const auto left = [&](std::vector<std::string> exclude) {
        return texts(read_corpus({named.path()}, {.exclude = std::move(exclude)}));
    };
    CHECK(left({"*.min.js", "third"}) == "[a.txt][c/d.txt][c/e.log]");
    CHECK(left({"third/"}) == "[a.txt][b.min.js][c/d.txt][c/e.log]");
    CHECK(left({"c/*.log", "c/third"}) == "[a.txt][b.min.js][c/d.txt][third/f.txt]");
    CHECK(left({"[ab].*"}) == "[c/d.txt][c/e.log][c/third/g.txt][third/f.txt]");
    CHECK_THROWS_WITH(left({"*"}), contains("no UTF-8 text file (skipped 6 files: 6 excluded"));
    // also for named files, but not for folders above a named one
    const std::string a = named.path("a.txt"), d = named.path("c/d.txt");
    CHECK(texts(read_corpus({a, d}, {.exclude = {"a.*", "c"}})) == "[c/d.txt]");
    CHECK(texts(read_corpus({named.path("c/*")}, {.exclude = {"third", "c", "*.log"}})) == "[c/d.txt]");
    CHECK_THROWS_WITH(read_corpus({a}, {.exclude = {"*.txt"}}), contains("nothing is left to read"));
    CHECK_THROWS_WITH(read_corpus({named.path("*.txt")}, {.exclude = {"*.txt"}}),
                      contains("*.txt: no file of text matches (skipped 1 file: 1 excluded"));
}

TEST_CASE("corpus: a pattern stands for what it matches, in order", "[data]") {
    const ScratchFolder folder;
    folder.write("b.txt", "B"), folder.write("a.txt", "A"), folder.write("c.png", std::string("\x89PNG\0", 5));
    folder.write("d/e.md", "E"), folder.write("odd[1].txt", "odd");
    REQUIRE(::mkfifo(folder.path("fifo").c_str(), 0600) == 0);  // nobody writes to it: it is not opened
    CHECK(texts(read_corpus({folder.path("[ab].txt")})) == "[A][B]");
    CHECK(texts(read_corpus({folder.path("?.txt")})) == "[A][B]");
    CHECK(texts(read_corpus({folder.path("*")})) == "[A][B][E][odd]");
    CHECK(texts(read_corpus({folder.path("odd[1].txt")})) == "[odd]");  // a file of this name is there
    CHECK_THROWS_WITH(read_corpus({folder.path("*.none")}), contains("*.none: no file of text matches"));
    CHECK_THROWS_WITH(read_corpus({folder.path("*.png")}), contains("matches (skipped 1 file: 1 binary"));
}

TEST_CASE("corpus: compressed text is read from files, folders and streams", "[data]") {
    const ScratchFolder folder;
    const std::string text = "caf\xC3\xA9\nand more\n", packed = gzip("\xEF\xBB\xBF" + text);
    const std::string gz = folder.write("in/a.gz", packed),
                      zst = folder.write("in/b", skipped_frame("zz") + zstd(text));
    CHECK(texts(read_corpus({gz, zst})) == fmt::format("[{}][{}]", text, text));
    CHECK(texts(read_corpus({folder.path("in")})) == fmt::format("[{}][{}]", text, text));
    std::istringstream in(packed);
    CHECK(texts(read_corpus({"-"}, {}, from(in))) == fmt::format("[{}]", text));
    const std::string fifo = folder.path("fifo");
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    std::thread writer([&] { std::ofstream(fifo, std::ios::binary) << packed; });
    CHECK(texts(read_corpus({fifo})) == fmt::format("[{}]", text));
    writer.join();
    for (const std::string& whole : {packed, zstd(text)}) {
        const std::string cut = folder.write("cut.gz", whole.substr(0, whole.size() - 3));
        CHECK_THROWS_WITH(read_corpus({cut}), contains("cannot decompress " + cut + ": it ends early"));
        CHECK_THROWS_AS(read_corpus({cut}), BadInput);
    }
    const std::string large(70 << 20, 'x');
    CHECK_THROWS_WITH(read_corpus({folder.write("bomb.zst", zstd(large))}), contains("bomb.zst: it grows"));
    CHECK_THROWS_WITH(read_corpus({folder.write("zeros.gz", gzip(std::string(9 << 20, '\0')))}),
                      contains("zeros.gz: this is a binary file, byte 0 is NUL"));
}

TEST_CASE("corpus: bytes that are not UTF-8 are refused with their line, or replaced and counted", "[data]") {
    const ScratchFolder folder;
    const std::string a = folder.write("d/a.txt", "one\ntwo\ncaf\xE9 \xE2\x82! \xF0\x9F\x98\n"),
                      b = folder.write("d/b.txt", "good\n");
    CHECK_THROWS_WITH(read_corpus({a}), contains("not UTF-8: byte 11 is 0xE9, in line 3: ", "--lossy"));
    // as in Python's decode("utf-8", errors="replace")
    const std::string replaced = "one\ntwo\ncaf\uFFFD \uFFFD! \uFFFD\n";
    for (const std::vector<std::string>& paths : {std::vector{a, b}, std::vector{folder.path("d")}}) {
        const Corpus corpus = read_corpus(paths, {.lossy = true});
        CHECK(texts(corpus) == "[" + replaced + "][good\n]");
        CHECK(corpus.notes() ==
              std::vector{"replaced 6 bytes that are not UTF-8 by U+FFFD, the first in " + a + ", line 3"});
    }
    CHECK(read_corpus({b}, {.lossy = true}).notes().empty());
}

TEST_CASE("corpus: each record of a table is a document", "[data]") {
    const ScratchFolder folder;
    const std::string lines = "{\"id\": 1, \"text\": \"one\"}\n\n{\"text\": \"t\\u00e9\\n\"}\r\n{\"text\": \"\"}\n",
                      jsonl = folder.write("d/a.jsonl", lines), packed = folder.write("d/b.JSONL.gz", gzip(lines)),
                      plain = folder.write("d/c.txt", "plain");
    const Corpus corpus = read_corpus({folder.path("d")}, {.text_field = "text"});
    CHECK(texts(corpus) == "[one][t\xC3\xA9\n][one][t\xC3\xA9\n][plain]");
    CHECK(corpus.notes() == std::vector<std::string>{"skipped 2 records without text"});
    CHECK(corpus.sources == std::vector{jsonl, packed, plain});
    CHECK(corpus.source_of(0) == jsonl + ": record 1 with text");
    CHECK_ALL(corpus.source_of(3) == packed + ": record 2 with text", corpus.source_of(4) == plain);
    CHECK(texts(read_corpus({jsonl})) == "[one][t\xC3\xA9\n]");  // "text" needs no name: examples.h
    const std::string named = folder.write("f.jsonl", "{\"t\": \"a\"}\n");
    CHECK_THROWS_WITH(read_corpus({named}), contains(named + ": line 1: "));  // no text unasked
    std::istringstream in(lines), table("id,body\n1,\"a, b\"\n");
    CHECK(texts(read_corpus({"-"}, {.text_field = "text"}, from(in))) == "[one][t\xC3\xA9\n]");
    CHECK(texts(read_corpus({"-"}, {.text_column = "body"}, from(table))) == "[a, b]");
    CHECK_THROWS_WITH(read_corpus({plain}, {.text_field = "text"}),
                      contains("--text-field is for files that end in .jsonl"));
    CHECK_THROWS_WITH(read_corpus({jsonl}, {.text_column = "text"}),
                      contains("--text-column is for files that end in .csv"));
    CHECK_THROWS_WITH(read_corpus({jsonl}, {.text_field = "body"}),
                      contains(jsonl + ": line 1: there is no \"body\": its fields are id, text"));
    CHECK_THROWS_WITH(read_corpus({jsonl}, {.text_field = "a", .text_column = "b"}), contains("one of them"));
    CHECK_THROWS_WITH(read_corpus({folder.write("e.jsonl", "{\"text\": null}\n")}, {.text_field = "text"}),
                      contains("no record with text"));
}
