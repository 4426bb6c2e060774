// --data and the flags that say how to read it, the same in train, eval and tokenize.
#include "data/stories/stories.h"
#include "tests/cli/program.h"
#include "tests/formats/compress.h"

// What a command says about a text: its ids, or its loss.
template <class... Pieces>
static std::string encoded(const Pieces&... data) {
    return execute("tokenize encode --tokenizer", small_run(), data...).out;
}
template <class... Pieces>
static std::string loss(const Pieces&... data) {
    return execute("eval --json --model", small_run(), data...).out;
}

TEST_CASE("data flags: several texts, patterns, tables, compressed files, bytes that are not UTF-8", "[cli]") {
    const ScratchFolder folder;
    const std::string a = folder.write("in/a.txt", "the quick fox\n"), b = folder.write("in/b.txt", "the lazy dog\n"),
                      whole = folder.write("whole.txt", "the quick fox\nthe lazy dog\n"), all = folder.path("in/*.txt");
    const std::string ids = encoded("-f", whole), figures = loss("--data", whole);
    REQUIRE(ids.find_first_not_of("0123456789 \n") == std::string::npos);
    check_has(figures, "\"loss\"");
    for (const Arguments& data :
         {words("--data", a, b), words("--data", a, "--data", b), words(a, b), words(a, "--data", b),
          words("--data=" + a, b), words("--data", folder.path("in")), words(all), words("--data", all)})
        CHECK_ALL(encoded(data) == ids, loss(data) == figures);
    CHECK(encoded("--data", folder.path("in"), "--exclude b*") !=
          encoded("--data", folder.path("in"), "--exclude c* --exclude *.log"));
    check_fails(call("tokenize encode --tokenizer", small_run(), a, "-f", b), 2, "-f");
    check_fails(call("eval --model", small_run(), folder.path("in/*.md")), 3, "in/*.md: no file of text matches");
    check_fails(call("train", folder.path("none.txt"), "--out", folder.path("out")), 3, "none.txt");
    CHECK_FALSE(fs::exists(folder.path("out")));
    const std::string plain = folder.write("a.txt", "the quick fox\nthe lazy dog\n"), wanted = encoded("-f", plain),
                      jsonl = folder.write("a.jsonl", "{\"t\": \"the quick fox\"}\n{\"t\": \"the lazy dog\\n\"}\n"),
                      csv = folder.write("a.csv.zst", zstd("id,t\n1,the quick fox\n2,\"the lazy dog\n\"\n"));
    CHECK_ALL(encoded("--data", jsonl, "--text-field t") == wanted, encoded(csv, "--text-column t") == wanted);
    CHECK(encoded(folder.write("b.gz", gzip("the quick fox\nthe lazy dog\n"))) == wanted);
    CHECK(program(words("tokenize encode --tokenizer", small_run(), "--data - --text-field t"), "", jsonl).out ==
          wanted);
    check_fails(call("eval --model", small_run(), jsonl, "--text-field body"), 3,
                jsonl + ": line 1: there is no \"body\"");
    const std::string latin1 = folder.write("latin1.txt", "the caf\xE9\n");
    check_fails(call("tokenize train", latin1, "--vocab-size 300 --out", folder.path("t.json")), 3,
                "byte 7 is 0xE9, in line 1: convert it first, e.g. with iconv -t UTF-8, or have such bytes");
    check_has(execute("tokenize train", latin1, "--lossy --vocab-size 260 --out", folder.path("t.json")).err,
              "replaced 1 byte that is not UTF-8 by U+FFFD, the first in " + latin1);
}

TEST_CASE("data flags: they are kept in config.toml, so that a run resumes", "[cli]") {
    const TrainFolder folder;
    folder.write("in/a.txt", small_text()), folder.write("in/b.log", "not this");
    folder.write("in/c.jsonl", "{\"t\": \"the caf\xE9 and more\"}\n");
    execute("train", folder.path("in"), "--out", folder.out, "--exclude *.log --text-field t --lossy", kSmall);
    check_has(read_file(folder.out + "/config.toml"), "exclude = [ '*.log' ]", "text_field = 't'", "lossy = true");
    execute(folder.resume("--max-iters 25"));
    // only the text matters, not how it was found
    const std::string same = folder.write("same.txt", small_text() + "the caf\xEF\xBF\xBD and more");
    const Arguments more = folder.resume("--text-field '' --max-iters 30");
    check_fails(program(more + folder.path("in/a.txt")), 3, "it was trained on another text");
    execute(more, same);
}

TEST_CASE("data flags: hostile input ends in one line, without the memory that it would take", "[cli]") {
    const ScratchFolder folder;
    std::string bombs[2];
    for (int i = 0; i < 20; ++i) {
        const std::string part(16 << 20, 'x');
        bombs[0] += gzip(part);
        bombs[1] += zstd(part);
    }
    const std::string sparse = folder.write("sparse.gz", gzip(small_text()));
    fs::resize_file(sparse, std::uintmax_t{1} << 40);
    for (const auto& [path, message] : std::vector<std::pair<std::string, std::string>>{
             {folder.write("bomb.gz", bombs[0]), "bomb.gz: it grows to more than 500 times its size"},
             {folder.write("bomb.zst", bombs[1]), "bomb.zst: it grows to more than 500 times its size"},
             {folder.write("zeros.zst", zstd(std::string(16 << 20, '\0'))), "zeros.zst: this is a binary file"},
             {folder.write("window.zst", "\x28\xB5\x2F\xFD" + std::string("\x00\xF8", 2) + std::string(100, 'x')),
              "window.zst: it is damaged"},
             {sparse, "sparse.gz: it has holes"},
             {"/dev/zero", "/dev/zero: it is a device"}}) {
        const Result r = program("eval --model", small_run(), "--data", path);
        check_fails(r, 3, message);
        if (!kSanitized) CHECK(r.peak_mb < 250);  // their allocators keep what is freed
    }
    folder.write("good.txt", "the fox");
    check_has(execute("eval --model", small_run(), "--data", folder.path()).err,
              "skipped 5 files: 2 binary, 3 damaged");
}

TEST_CASE("data stories: the built-in stories, and conversations about them", "[cli]") {
    const Result text = execute("data stories --bytes 2000 --seed 5");
    CHECK(text.out == inkling::data::generate_stories(5, 2000));
    const auto lines = json_lines(program("data stories --questions 200 --seed 5"));
    REQUIRE(lines.size() == 200);
    std::set<std::string> kinds;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        REQUIRE(lines[i]["messages"].size() == 2);
        const auto asked = lines[i]["messages"][0]["content"].get<std::string>(),
                   answer = lines[i]["messages"][1]["content"].get<std::string>();
        INFO(asked << " -> " << answer);
        const std::size_t line = asked.find('\n');
        const std::string story = asked.substr(0, line), question = asked.substr(line + 1);
        CHECK(story == inkling::data::generate_story(5, i));
        kinds.insert(question.substr(0, question.find(' ', 5)));
        // the last words of the answer and of the question are in the story, except "about" and "meet"
        const auto last_word = [](std::string s) {
            return s.substr(s.find_last_of(' ') + 1, s.size() - s.find_last_of(' ') - 2);
        };
        check_has(story, last_word(answer));
        CHECK_ALL(answer.ends_with('.'), question.ends_with('?'));
    }
    CHECK(kinds.size() == 5);
    CHECK(program("data stories --questions 3").out != program("data stories --questions 3 --seed 2").out);
    check_fails(call("data stories --questions 3 --bytes 4"), 2, "--bytes"), check_fails(call("data"), 2, "stories");
}
