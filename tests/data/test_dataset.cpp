#include "data/dataset.h"

#include "data/text/content_hash.h"
#include "data/token_view.h"
#include "data/tokenizers/bpe/bpe_train.h"
#include "data/tokenizers/char_tokenizer.h"
#include "data/tokenizers/json/tokenizer_json.h"
#include "tests/data/corpus.h"

using Ids = std::vector<std::int32_t>;
using Texts = std::vector<std::string_view>;

static Ids ids(const Dataset& corpus) { return corpus.ids.copy(); }

static std::vector<fs::path> files(const ScratchFolder& folder) {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder.path())) found.push_back(entry.path());
    return found;
}

// Random words, numbers, white space and other characters.
static std::string mixed_text(std::size_t size, std::uint64_t seed) {
    const char* const parts[] = {"word", " the",          "\n", "  ",   "\t", "x1", "é",  " 日本",           "don't",
                                 "?!",   "<|endoftext|>", "9",  "\r\n", " ",  "a",  "'s", "\xF0\x9F\x98\x80"};
    std::string text;
    for (std::uint64_t i = 0; text.size() < size; ++i) text += parts[random_below({seed, 1}, i, std::size(parts))];
    return text;
}

TEST_CASE("dataset: an end of text between documents, else lines that end, and a bad character by name", "[data]") {
    const Texts documents = {"ab", "", "b\n", "a"};
    const CharTokenizer characters = CharTokenizer::from_text("\nab");
    CHECK(ids(make_dataset(corpus_of(documents), characters)) == Ids{1, 2, 0, 2, 0, 1});
    CHECK(make_dataset(corpus_of(documents), characters).bytes == 6);
    CHECK(ids(make_dataset(corpus_of({"ab"}), CharTokenizer::from_text("ab"))) == Ids{0, 1});
    const BpeTokenizer bpe(train_bpe(documents, 300));
    const std::int32_t end = *bpe.end_of_text();
    Ids expected;
    for (std::size_t i = 0; i < documents.size(); ++i) {
        if (i > 0) expected.push_back(end);
        const Ids more = bpe.encode(documents[i]);
        expected.insert(expected.end(), more.begin(), more.end());
    }
    CHECK(ids(make_dataset(corpus_of(documents), bpe)) == expected);
    CHECK_ALL(make_dataset(corpus_of(documents), bpe).bytes == 5, make_dataset(corpus_of({}), bpe).ids.empty());
    const std::string late = std::string(200'000, 'a') + "c";
    CHECK_THROWS_WITH(make_dataset(corpus_of({"ab", late}), characters),
                      contains("1.txt: the character 'c' (U+0063) at byte 200000 is not in"));
}

TEST_CASE("dataset: ids that grow, of 2 bytes as of 4", "[data]") {
    GrowingIds growing;
    CHECK(growing.ids().empty());
    growing.append({});
    Ids expected;
    for (std::int32_t i = 0; i < 1000; ++i) {
        const Ids more(static_cast<std::size_t>(i % 7 * 100), i);
        growing.append(more);
        expected.insert(expected.end(), more.begin(), more.end());
    }
    const GrowingIds moved = std::move(growing);
    CHECK(moved.ids().copy() == expected);
    const Ids all = {0, 1, 65535, 7, 300};  // ids of 2 bytes are the same as of 4
    GrowingIds narrow(65536), wide(65537);
    narrow.append(all), wide.append(all);
    const std::vector<std::uint16_t> short_ids(all.begin(), all.end());
    for (const TokenView ids : {narrow.ids(), wide.ids(), TokenView(all), TokenView(std::span(short_ids))}) {
        CHECK_ALL(ids.copy() == all, ids.size() == 5, !ids.empty(), ids[2] == 65535);
        Ids part(3);
        ids.subspan(1).first(3).copy_to(part.data());
        CHECK(part == Ids{1, 65535, 7});
        CHECK(ids.subspan(5).empty());
    }
}

TEST_CASE("dataset: progress goes up to the whole", "[data][unsanitized]") {
    const std::string a = mixed_text(40 << 20, 6), b = "end";
    std::vector<std::size_t> done;
    const DatasetOptions options{.progress = [&](std::size_t d, std::size_t all) {
        CHECK(all == a.size() + b.size());
        done.push_back(d);
    }};
    make_dataset(corpus_of({a, b}), CharTokenizer::from_text(a + b), options);
    REQUIRE(done.size() == 3);  // 16 MB, 32 MB, all
    CHECK_ALL(std::is_sorted(done.begin(), done.end()), done.back() == a.size() + b.size());
}

TEST_CASE("dataset: a large one is kept in a file, and taken from there", "[data]") {
    const ScratchFolder folder;
    const std::string a = mixed_text(30000, 2), b = mixed_text(5000, 3);
    const Texts documents = {a, b};
    const BpeTokenizer bpe(train_bpe(documents, 400));
    const Ids expected = ids(make_dataset(corpus_of(documents), bpe));
    const DatasetOptions options{.cache = folder.path("new/folder"), .cache_from = 1000};
    const Dataset made = make_dataset(corpus_of(documents), bpe, options);
    CHECK_ALL(ids(made) == expected, !made.from_cache, made.bytes == a.size() + b.size());
    int calls = 0;
    DatasetOptions again = options;
    again.progress = [&](std::size_t, std::size_t) { ++calls; };
    const Dataset found = make_dataset(corpus_of(documents), bpe, again);
    CHECK_ALL(ids(found) == expected, found.from_cache, found.bytes == made.bytes, calls == 0);
    // other documents, other borders between them, or another tokenizer give other files; a folder keeps only the last
    const std::string joined = a + b;
    CHECK_FALSE(make_dataset(corpus_of({joined}), bpe, options).from_cache);
    CHECK(ids(make_dataset(corpus_of(documents), bpe, options)) == expected);
    const BpeTokenizer other(train_bpe(documents, 300));
    CHECK(ids(make_dataset(corpus_of(documents), other, options)) == ids(make_dataset(corpus_of(documents), other)));
    CHECK(std::distance(fs::directory_iterator(folder.path("new/folder")), fs::directory_iterator()) == 1);
    CHECK(ids(made) == expected);  // although its file is gone
}

TEST_CASE("dataset: examples are kept in a file as texts are", "[data]") {
    const ScratchFolder folder;
    const auto examples = [](const std::string& answer) {
        std::vector<Example> all;
        for (std::size_t i = 0; i < 40; ++i)
            all.push_back({ExampleShape::completion, {{"prompt", "one and"}, {"completion", answer}}, i + 1});
        all.push_back({ExampleShape::completion, {{"prompt", ""}, {"completion", ""}}, 41});
        Corpus corpus;
        corpus.begin_source(nullptr, "a.jsonl");
        corpus.take_examples(all);
        return corpus;
    };
    const CharTokenizer characters = CharTokenizer::from_text("one and two");
    const Dataset plain = make_dataset(examples(" two"), characters);
    CHECK_ALL(plain.ids.size() == 40 * 11, plain.ends.size() == 41, plain.bytes == 40 * 11);
    CHECK(std::count(plain.learn.begin(), plain.learn.end(), 1) == 40 * 4);
    const DatasetOptions options{.cache = folder.path(), .cache_from = 100};
    for (const bool found : {false, true}) {
        const Dataset kept = make_dataset(examples(" two"), characters, options);
        CHECK_ALL(kept.from_cache == found, ids(kept) == ids(plain), kept.bytes == plain.bytes);
        CHECK(std::equal(kept.learn.begin(), kept.learn.end(), plain.learn.begin(), plain.learn.end()));
        CHECK(std::equal(kept.ends.begin(), kept.ends.end(), plain.ends.begin(), plain.ends.end()));
        CHECK(kept.fingerprint == plain.fingerprint);
    }
    DatasetOptions all = options;
    all.loss_on = LossOn::all;
    CHECK_FALSE(make_dataset(examples(" two"), characters, all).from_cache);
    CHECK_FALSE(make_dataset(examples(" one"), characters, all).from_cache);
    CHECK(make_dataset(examples(" one"), characters, all).from_cache);
    CHECK(make_dataset(examples(" one"), characters, all).fingerprint != plain.fingerprint);
}

TEST_CASE("dataset: a file of ids that is damaged is made anew", "[data]") {
    const ScratchFolder folder;
    const std::string text = mixed_text(3000, 4);
    const BpeTokenizer bpe(train_bpe(Texts{text}, 300));
    const Ids expected = bpe.encode(text);
    const DatasetOptions options{.cache = folder.path(), .cache_from = 1000};
    make_dataset(corpus_of({text}), bpe, options);
    REQUIRE(files(folder).size() == 1);
    const std::string name = files(folder)[0].filename().string(), whole = formats::read_file(files(folder)[0]);
    CHECK(name.starts_with("tokens-"));
    const auto check_remade = [&](const std::string& bytes) {
        folder.write(name, bytes), folder.write("." + name + ".tmp.1.0", "left by a writer that was killed");
        folder.write("tokens-of-mine.bin", "no file of ours");
        const Dataset corpus = make_dataset(corpus_of({text}), bpe, options);
        REQUIRE_FALSE(corpus.from_cache);
        REQUIRE(ids(corpus) == expected);
        REQUIRE(formats::read_file(folder.path(name)) == whole);
        REQUIRE(files(folder).size() == 2);
    };
    for (std::size_t i = 0; i < 76; ++i) {
        std::string flipped = whole;
        const std::size_t at = i < 56 ? whole.size() - 1 - i : random_below({9, 9}, i, whole.size());
        flipped[at] = static_cast<char>(flipped[at] ^ (1 << (i % 8)));
        INFO("byte " << at << " of " << whole.size());
        check_remade(flipped);
    }
    for (const std::size_t size : {std::size_t{0}, std::size_t{3}, std::size_t{56}, whole.size() - 4, whole.size() - 1})
        check_remade(whole.substr(0, size));
    check_remade(whole + "more");
    fs::remove(folder.path(name));
    fs::create_directory(folder.path(name));
    CHECK_THROWS_WITH(make_dataset(corpus_of({text}), bpe, options), contains("Is a directory"));
}

TEST_CASE("content hash: depends on every byte, on the length, and not on the pieces", "[data]") {
    const std::string text = mixed_text(1000, 5);
    const auto hash = [](std::string_view bytes) {
        ContentHash h;
        h.add(bytes);
        return h.value();
    };
    for (std::size_t size = 0; size < 200; ++size) {
        ContentHash pieces;
        for (std::size_t at = 0, n = 1; at < size; at += n, n = n % 50 + 7)
            pieces.add(std::string_view(text).substr(at, std::min(n, size - at)));
        CHECK(pieces.value() == hash(text.substr(0, size)));
        CHECK(hash(text.substr(0, size)) != hash(text.substr(0, size) + '\0'));
    }
    for (std::size_t bit = 0; bit < 8 * text.size(); ++bit) {
        std::string flipped = text;
        flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
        REQUIRE(hash(flipped) != hash(text));
    }
}

TEST_CASE("dataset: a file of ids is not written through a link, and is shared by runs", "[data]") {
    const ScratchFolder folder;
    const std::string user = folder.write("user", "mine"), cache = folder.path("cache"), text = mixed_text(5000, 1);
    const Corpus corpus = corpus_of({text});
    const auto tokenizer = CharTokenizer::from_texts(corpus.documents, ByteFallback::never);
    const auto make = [&] { return make_dataset(corpus, tokenizer, {.cache = cache, .cache_from = 1}); };
    const Dataset first = make();
    const fs::path file = fs::directory_iterator(cache)->path();
    fs::remove(file);
    fs::create_symlink(user, file);
    CHECK(make().fingerprint == first.fingerprint);
    std::ifstream in(user);
    CHECK_ALL(std::string(std::istreambuf_iterator<char>(in), {}) == "mine", !fs::is_symlink(file));
    const std::string one = mixed_text(5000, 1), two = mixed_text(5000, 2);
    const Corpus of_one = corpus_of({one}), of_two = corpus_of({two});
    const auto letters = CharTokenizer::from_texts(Texts{one, two}, ByteFallback::never);
    DatasetsInMemory known;
    const auto keep = [&](const Corpus& of) { return make_dataset(of, letters, {.in_memory = &known}); };
    const Dataset kept = keep(of_one), again = keep(of_one), different = keep(of_two);
    CHECK_ALL(kept.owner == again.owner, kept.fingerprint == make_dataset(of_one, letters).fingerprint);
    CHECK_ALL(different.fingerprint == make_dataset(of_two, letters).fingerprint, known.size() == 2);
}
