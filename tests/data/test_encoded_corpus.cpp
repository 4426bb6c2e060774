#include "data/encoded_corpus.h"

#include <algorithm>

#include "data/content_hash.h"
#include "data/tokenizers/bpe/bpe_train.h"
#include "data/tokenizers/char_tokenizer.h"
#include "data/tokenizers/json/tokenizer_json.h"
#include "engine/base/check.h"
#include "engine/base/random.h"
#include "tests/catch.h"
#include "tests/data/scratch_folder.h"

using namespace inkling;
using namespace inkling::data;
using inkling::data::tests::ScratchFolder;
namespace fs = std::filesystem;
using Ids = std::vector<std::int32_t>;
using Documents = std::vector<std::string_view>;

namespace {

Ids ids(const EncodedCorpus& corpus) { return {corpus.ids.begin(), corpus.ids.end()}; }

std::vector<fs::path> files(const ScratchFolder& folder) {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder.path())) found.push_back(entry.path());
    return found;
}

// Words, numbers, white space and other signs at random.
std::string mixed_text(std::size_t size, std::uint64_t seed) {
    const char* const parts[] = {"word", " the",          "\n", "  ",   "\t", "x1", "é",  " 日本",           "don't",
                                 "?!",   "<|endoftext|>", "9",  "\r\n", " ",  "a",  "'s", "\xF0\x9F\x98\x80"};
    std::string text;
    for (std::uint64_t i = 0; text.size() < size; ++i) text += parts[random_below({seed, 1}, i, std::size(parts))];
    return text;
}

}  // namespace

TEST_CASE("encoded corpus: an end of text between documents, else lines that end", "[data]") {
    const Documents documents = {"ab", "", "b\n", "a"};
    const CharTokenizer characters = CharTokenizer::from_text("\nab");
    CHECK(ids(encode_corpus(characters, documents)) == Ids{1, 2, 0, 2, 0, 1});
    CHECK(encode_corpus(characters, documents).bytes == 6);
    CHECK(ids(encode_corpus(CharTokenizer::from_text("ab"), {"ab"})) == Ids{0, 1});
    const BpeTokenizer bpe(train_bpe(documents, 300));
    const std::int32_t end = *bpe.end_of_text();
    Ids expected;
    for (std::size_t i = 0; i < documents.size(); ++i) {
        if (i > 0) expected.push_back(end);
        const Ids more = bpe.encode(documents[i]);
        expected.insert(expected.end(), more.begin(), more.end());
    }
    CHECK(ids(encode_corpus(bpe, documents)) == expected);
    CHECK(encode_corpus(bpe, documents).bytes == 5);
    CHECK(encode_corpus(bpe, {}).ids.empty());
}

TEST_CASE("encoded corpus: a text that is cut where the tokenizer says has the same ids", "[data]") {
    const std::string text = mixed_text(20000, 1);
    const BpeTokenizer bpe(train_bpe(Documents{text}, 400));
    const CharTokenizer characters = CharTokenizer::from_text(text);
    for (const Tokenizer* tokenizer :
         {static_cast<const Tokenizer*>(&bpe), static_cast<const Tokenizer*>(&characters)}) {
        const Ids whole = tokenizer->encode(text);
        for (std::size_t from = 1; from < text.size(); from += 37) {
            const std::size_t cut = tokenizer->safe_cut(text, from);
            REQUIRE(cut >= from);
            Ids parts = tokenizer->encode(text.substr(0, cut));
            const Ids rest = tokenizer->encode(text.substr(cut));
            parts.insert(parts.end(), rest.begin(), rest.end());
            INFO(name_of(tokenizer->kind()) << ", cut at " << cut);
            REQUIRE(parts == whole);
        }
        CHECK(tokenizer->safe_cut(text, text.size()) == text.size());
    }
}

TEST_CASE("encoded corpus: what cannot be encoded is named, with its place in the document", "[data]") {
    const CharTokenizer characters = CharTokenizer::from_text("\nab");
    const std::vector<std::string> sources = {"one.txt", "two.txt"};
    const std::string late = std::string(200'000, 'a') + "c";
    CHECK_THROWS_WITH(encode_corpus(characters, {"ab", late}, {.name = [&](std::size_t i) { return sources[i]; }}),
                      ContainsSubstring("two.txt: the character 'c' (U+0063) at byte 200000 is not in"));
    CHECK_THROWS_WITH(encode_corpus(characters, {"c"}), !ContainsSubstring("txt"));
}

TEST_CASE("encoded corpus: ids that grow", "[data]") {
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
    CHECK(Ids(moved.ids().begin(), moved.ids().end()) == expected);
}

TEST_CASE("encoded corpus: ids of 2 bytes are the same as of 4", "[data]") {
    const Ids all = {0, 1, 65535, 7, 300};
    GrowingIds narrow(65536), wide(65537);
    narrow.append(all);
    wide.append(all);
    const std::vector<std::uint16_t> short_ids(all.begin(), all.end());
    for (const TokenView ids : {narrow.ids(), wide.ids(), TokenView(all), TokenView(std::span(short_ids))}) {
        CHECK(Ids(ids.begin(), ids.end()) == all);
        CHECK((ids.size() == 5 && !ids.empty() && ids[2] == 65535));
        Ids part(3);
        ids.subspan(1).first(3).copy_to(part.data());
        CHECK(part == Ids{1, 65535, 7});
        CHECK(ids.subspan(5).empty());
    }
}

TEST_CASE("encoded corpus: a file of ids of 4 bytes, which all had once, is still read", "[data]") {
    const ScratchFolder folder;
    const std::string text = mixed_text(3000, 7);
    const CharTokenizer characters = CharTokenizer::from_text(text);
    const EncodeOptions options{.cache = folder.path(), .cache_from = 1000};
    const Ids expected = ids(encode_corpus(characters, {text}, options));
    REQUIRE(files(folder).size() == 1);
    const std::string name = files(folder)[0].filename().string(), now = formats::read_file(files(folder)[0]);
    CHECK(now.size() == 2 * expected.size() + 40);
    std::string then(reinterpret_cast<const char*>(expected.data()), 4 * expected.size());
    ContentHash hash;
    const std::uint64_t size = text.size();
    hash.add(then);
    hash.add({reinterpret_cast<const char*>(&size), sizeof size});
    const std::uint64_t checksum = hash.value();
    then += "INKTOK01" + now.substr(now.size() - 32, 24);
    then.append(reinterpret_cast<const char*>(&checksum), sizeof checksum);
    folder.write(name, then);
    const EncodedCorpus found = encode_corpus(characters, {text}, options);
    CHECK((found.from_cache && ids(found) == expected && found.bytes == text.size()));
}

TEST_CASE("encoded corpus: progress goes up to the whole", "[data]") {
    const std::string a = mixed_text(40 << 20, 6), b = "end";
    std::vector<std::size_t> done;
    const EncodeOptions options{.progress = [&](std::size_t d, std::size_t all) {
        CHECK(all == a.size() + b.size());
        done.push_back(d);
    }};
    encode_corpus(CharTokenizer::from_text(a + b), {a, b}, options);
    REQUIRE(done.size() == 3);  // 16 MB, 32 MB, all
    CHECK(std::is_sorted(done.begin(), done.end()));
    CHECK(done.back() == a.size() + b.size());
}

TEST_CASE("encoded corpus: added tokens that a cut would break are not cut", "[data]") {
    for (const AddedToken& token :
         {AddedToken{.content = "two words", .id = 300}, AddedToken{.content = "x", .id = 300, .rstrip = true}}) {
        BpeSpec spec = train_bpe(Documents{"some text"}, 270);
        spec.added.push_back(token);
        const BpeTokenizer bpe(spec);
        CHECK(bpe.safe_cut("some text of two words x and more", 3) == 33);
    }
    const BpeTokenizer plain(train_bpe(Documents{"some text"}, 270));
    CHECK(plain.safe_cut("some text of two words x and more", 3) == 4);
}

TEST_CASE("encoded corpus: a large one is kept in a file, and taken from there", "[data]") {
    const ScratchFolder folder;
    const std::string a = mixed_text(30000, 2), b = mixed_text(5000, 3);
    const Documents documents = {a, b};
    const BpeTokenizer bpe(train_bpe(documents, 400));
    const Ids expected = ids(encode_corpus(bpe, documents));
    const EncodeOptions options{.cache = folder.path("new/folder"), .cache_from = 1000};
    const EncodedCorpus made = encode_corpus(bpe, documents, options);
    CHECK((ids(made) == expected && !made.from_cache && made.bytes == a.size() + b.size()));
    int calls = 0;
    EncodeOptions again = options;
    again.progress = [&](std::size_t, std::size_t) { ++calls; };
    const EncodedCorpus found = encode_corpus(bpe, documents, again);
    CHECK((ids(found) == expected && found.from_cache && found.bytes == made.bytes && calls == 0));
    // other documents, other borders between them, another tokenizer: other files, and of each folder the last alone
    const std::string joined = a + b;
    CHECK_FALSE(encode_corpus(bpe, {joined}, options).from_cache);
    CHECK(ids(encode_corpus(bpe, documents, options)) == expected);
    const BpeTokenizer other(train_bpe(documents, 300));
    CHECK(ids(encode_corpus(other, documents, options)) == ids(encode_corpus(other, documents)));
    CHECK(std::distance(fs::directory_iterator(folder.path("new/folder")), fs::directory_iterator()) == 1);
    CHECK(ids(made) == expected);  // although its file is gone
}

TEST_CASE("encoded corpus: a file of ids that is damaged is made anew", "[data]") {
    const ScratchFolder folder;
    const std::string text = mixed_text(3000, 4);
    const BpeTokenizer bpe(train_bpe(Documents{text}, 300));
    const Ids expected = bpe.encode(text);
    const EncodeOptions options{.cache = folder.path(), .cache_from = 1000};
    encode_corpus(bpe, {text}, options);
    REQUIRE(files(folder).size() == 1);
    const std::string name = files(folder)[0].filename().string(), whole = formats::read_file(files(folder)[0]);
    CHECK(name.starts_with("tokens-"));
    const auto check_remade = [&](const std::string& bytes) {
        folder.write(name, bytes);
        folder.write("." + name + ".tmp.1.0", "left by a writer that was killed");
        folder.write("tokens-of-mine.bin", "no file of ours");
        const EncodedCorpus corpus = encode_corpus(bpe, {text}, options);
        REQUIRE_FALSE(corpus.from_cache);
        REQUIRE(ids(corpus) == expected);
        REQUIRE(formats::read_file(folder.path(name)) == whole);
        REQUIRE(files(folder).size() == 2);
    };
    for (std::size_t i = 0; i < 60; ++i) {
        std::string flipped = whole;
        const std::size_t at = i < 40 ? whole.size() - 1 - i : random_below({9, 9}, i, whole.size());
        flipped[at] = static_cast<char>(flipped[at] ^ (1 << (i % 8)));
        INFO("byte " << at << " of " << whole.size());
        check_remade(flipped);
    }
    for (const std::size_t size : {std::size_t{0}, std::size_t{3}, std::size_t{40}, whole.size() - 4, whole.size() - 1})
        check_remade(whole.substr(0, size));
    check_remade(whole + "more");
    fs::remove(folder.path(name));
    fs::create_directory(folder.path(name));
    CHECK_THROWS_WITH(encode_corpus(bpe, {text}, options), ContainsSubstring("Is a directory"));
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
