// Documents in lines, and rows of them.
#include <map>
#include <numeric>

#include "data/corpus.h"
#include "data/packed_documents.h"
#include "engine/check.h"
#include "tests/catch.h"
#include "tests/data/scratch_folder.h"

using namespace inkling;
using namespace inkling::data;
using tests::ScratchFolder;

namespace {

const std::string kConversation =
    "{\"id\": 5, \"messages\": [{\"role\": \"user\", \"content\": \"a\\n\"}, {\"role\": \"assistant\", \"content\": "
    "\"\"}]}";

}  // namespace

TEST_CASE("documents: the three shapes", "[data]") {
    const Document chat = parse_document(kConversation);
    CHECK(chat.shape == DocumentShape::messages);
    CHECK(chat.parts == std::vector<ChatMessage>{{"user", "a\n"}, {"assistant", ""}});
    const Document completion = parse_document("{\"completion\": \"b\", \"prompt\": \"a\"}");
    CHECK(completion.shape == DocumentShape::completion);
    CHECK(completion.parts == std::vector<ChatMessage>{{"prompt", "a"}, {"completion", "b"}});
    const Document text = parse_document(" {\"text\": \"\\u00e9\", \"prompt\": 5} ");
    CHECK(text.shape == DocumentShape::text);
    CHECK(text.parts == std::vector<ChatMessage>{{"text", "\xC3\xA9"}});
    CHECK(parse_document(to_line(chat.parts)).parts == chat.parts);
    CHECK(to_line({{"user", "a\"\n"}}) == "{\"messages\":[{\"role\":\"user\",\"content\":\"a\\\"\\n\"}]}\n");
}

TEST_CASE("documents: bad lines are named, or skipped and counted", "[data]") {
    const std::pair<std::string, std::string> table[] = {
        {"{", "not valid JSON"},
        {"[]", "an object is required"},
        {"{}", "0 of \"messages\""},
        {"{\"prompt\": \"a\"}", "0 of"},
        {"{\"text\": \"a\", \"completion\": \"b\"}", "2 of"},
        {"{\"text\": null}", "\"text\" must be a text"},
        {"{\"completion\": \"a\"}", "\"prompt\" must be a text"},
        {"{\"messages\": []}", "must be a list of messages"},
        {"{\"messages\": {}}", "must be a list of messages"},
        {"{\"messages\": [5]}", "message 1 must be an object"},
        {"{\"messages\": [{\"role\": \"user\"}]}", "message 1: \"content\" must be a text"},
        {"{\"messages\": [{\"role\": \"user\", \"content\": [\"a\"]}]}", "message 1: \"content\" must be a text"},
        {"{\"messages\": [{\"role\": \"tool\", \"content\": \"a\"}]}",
         "message 1: the role must be system, user or assistant, got \"tool\""},
        {"{\"text\": \"a\", \"text\": \"b\"}", "appears twice"},
        {"{\"text\": \"of another shape\"}", "it holds text, and line 1 messages: one file holds one shape"},
    };
    for (const auto& [line, message] : table) {
        const std::string lines = kConversation + "\r\n\n" + line + "\n" + kConversation;
        INFO(line);
        CHECK_THROWS_WITH(read_documents(lines), ContainsSubstring("line 3: ") && ContainsSubstring(message));
        const DocumentLines some = read_documents(lines, true);
        CHECK(some.list.size() == 2);
        CHECK(some.list[1].line == 4);
        CHECK(some.bad_lines == 1);
        CHECK_THAT(some.first_bad_line, ContainsSubstring("line 3: ") && ContainsSubstring(message));
    }
}

TEST_CASE("documents: a corpus has them by content", "[data]") {
    const ScratchFolder folder;
    const std::string chats = folder.write("chats.jsonl", kConversation + "\n" + kConversation + "\n"),
                      texts = folder.write("texts.jsonl", "{\"text\": \"one\"}\n{\"text\": \"two\"}\n"),
                      other = folder.write("other.jsonl", "{\"t\": \"a\"}\n{\"t\": \"b\"}\n"),
                      plain = folder.write("plain.txt", "{\"text\": \"one\"}\n"),
                      bad = folder.write("bad.jsonl", "no\n" + kConversation + "\nworse\n");
    const Corpus both = read_corpus({chats, texts});
    REQUIRE(both.lines);
    REQUIRE(both.lines->size() == 4);
    CHECK(both.place_of((*both.lines)[1]) == chats + ": line 2");
    CHECK(both.place_of((*both.lines)[3]) == texts + ": line 2");
    CHECK(both.source_of(3) == texts + ": record 2 with text");
    CHECK(both.documents == std::vector<std::string_view>{"a\n", "a\n", "one", "two"});
    CHECK(Corpus(both).documents[3].data() == both.documents[3].data());  // a copy shares the texts
    CHECK_FALSE(read_corpus({other}).lines);
    CHECK_FALSE(read_corpus({plain}).lines);
    CHECK_FALSE(read_corpus({texts}, {.text_field = "text"}).lines);
    CHECK_THROWS_WITH(read_corpus({chats, plain}),
                      ContainsSubstring(chats + " holds one document a line, and " + plain + " is other text"));
    CHECK_THROWS_WITH(read_corpus({plain, chats}), ContainsSubstring("give one or the other"));
    CHECK_THROWS_WITH(read_corpus({bad}), ContainsSubstring(bad + ": line 1: it: not valid JSON"));
    const Corpus skipped = read_corpus({bad}, {.skip_bad_lines = true});
    CHECK(skipped.lines->size() == 1);
    CHECK(skipped.bad_lines == 2);
    REQUIRE(skipped.notes().size() == 1);
    CHECK(skipped.notes()[0].starts_with("skipped 2 bad lines, such as " + bad + ": line 1: "));
    const auto stream = [left = std::string_view(kConversation)](char* to, std::size_t max_size) mutable {
        const std::size_t n = left.copy(to, max_size);
        left.remove_prefix(n);
        return n;
    };
    const Corpus piped = read_corpus({"-"}, {}, stream);
    REQUIRE(piped.lines);
    CHECK(piped.place_of((*piped.lines)[0]) == "standard input: line 1");
}

namespace {

// Documents of these lengths; document d has the ids 100 d, 100 d + 1, ..., and every `nth` of them is to be learned.
struct Made {
    std::vector<std::int32_t> ids;
    EncodedDocuments documents;
    Made(const std::vector<std::size_t>& lengths, std::size_t nth = 1) {
        for (std::size_t d = 0; d < lengths.size(); ++d) {
            for (std::size_t i = 0; i < lengths[d]; ++i) {
                ids.push_back(static_cast<std::int32_t>(100 * d + i));
                documents.learn.push_back(i % nth == 0);
            }
            documents.ends.push_back(ids.size());
        }
    }
};

}  // namespace

TEST_CASE("packed documents: every document is in one row, whole, and learns what it should", "[data]") {
    const std::vector<std::size_t> lengths = {9, 3, 1, 30, 2, 17, 5, 0, 16, 4, 8};
    for (const std::size_t nth : {1u, 2u, 3u}) {
        const Made made(lengths, nth);
        const PackedDocuments rows(made.ids, made.documents, 0, lengths.size(), 16);
        INFO(nth);
        CHECK(rows.cut() == 1);             // 30 ids; 17 fit: 16 of them are inputs
        CHECK(rows.left_out() == nth + 1);  // too short to have anything to learn
        std::map<std::int32_t, std::size_t> seen;
        std::size_t targets = 0;
        for (std::size_t r = 0; r < rows.size(); ++r) {
            std::vector<std::int32_t> in(16), out(16), begins(16);
            rows.fill(r, in.data(), out.data(), begins.data());
            std::size_t counted = 0;
            for (std::size_t i = 0; i < 16; ++i) {
                const auto begin = static_cast<std::size_t>(begins[i]);
                REQUIRE(begin <= i);
                CHECK((i == 0 || begins[i] == begins[i - 1] || begin == i));
                counted += out[i] != no_target;
                if (i >= std::size_t(std::accumulate(rows.documents(r).begin(), rows.documents(r).end(), std::size_t{0},
                                                     [&](std::size_t sum, std::size_t d) {
                                                         return sum + std::min<std::size_t>(16, lengths[d] - 1);
                                                     }))) {
                    CHECK(out[i] == no_target);  // padding
                    continue;
                }
                CHECK(in[i] % 100 == static_cast<std::int32_t>(i - begin));
                if (out[i] != no_target) CHECK(out[i] == in[i] + 1);
                CHECK((out[i] != no_target) == ((in[i] + 1) % 100 % static_cast<std::int32_t>(nth) == 0));
                ++seen[in[i] / 100];
            }
            CHECK(counted == rows.targets(r));
            targets += counted;
        }
        CHECK(targets == rows.targets());
        for (std::size_t d = 0; d < lengths.size(); ++d) {
            const bool some = lengths[d] > nth || (nth == 1 && lengths[d] == 2);
            CHECK(seen[static_cast<std::int32_t>(d)] == (some ? std::min<std::size_t>(16, lengths[d] - 1) : 0));
        }
        if (nth == 1) CHECK(rows.size() == 5);  // 16, 16, 15 + 1, 8 + 7, 4 + 3 + 2: as few as can be
    }
}

TEST_CASE("packed documents: every row is met once an epoch, by the step alone", "[data]") {
    const Made made({5, 9, 4, 16, 17, 17, 12, 13, 14, 15, 15}, 2);
    const PackedDocuments rows(made.ids, made.documents, 0, 11, 16);
    const DocumentSampler sampler(rows, 3, 7), same(rows, 3, 7), other(rows, 3, 8);
    Batch batch;
    std::map<std::vector<std::int32_t>, std::size_t> met;
    std::size_t differ = 0;
    for (std::size_t step = 0; step < rows.size(); ++step) {  // three epochs
        sampler.fill(step, batch);
        CHECK(batch.length == 16);
        CHECK(sampler.targets(step) ==
              48 - static_cast<std::size_t>(std::count(batch.targets.begin(), batch.targets.end(), no_target)));
        for (std::size_t b = 0; b < 3; ++b)
            ++met[{batch.inputs.begin() + std::ptrdiff_t(16 * b), batch.inputs.begin() + std::ptrdiff_t(16 * b + 16)}];
        Batch again, unlike;
        same.fill(step, again);
        other.fill(step, unlike);
        CHECK(again.inputs == batch.inputs);
        CHECK(again.begins == batch.begins);
        differ += unlike.inputs != batch.inputs;
    }
    CHECK(met.size() == rows.size());
    for (const auto& [row, times] : met) CHECK(times == 3);
    CHECK(differ > 0);
    const Made none({1, 1});
    const PackedDocuments no_rows(none.ids, none.documents, 0, 2, 16);
    CHECK_THROWS_WITH(DocumentSampler(no_rows, 3, 7), ContainsSubstring("no document has anything to learn"));
}
