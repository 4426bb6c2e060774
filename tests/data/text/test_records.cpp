#include "data/text/records.h"

static std::string read(RecordKind kind, std::string_view table, const std::string& field = "text") {
    std::string all;
    read_records(kind, table, field, [&](std::string_view text) { all += fmt::format("[{}]", text); });
    return all;
}
static std::string csv(std::string_view table) { return read(RecordKind::csv, table); }
static std::string lines(std::string_view table) { return read(RecordKind::json_lines, table); }

TEST_CASE("records: kinds by the name, and JSON lines", "[data]") {
    CHECK(record_kind("a/b.jsonl") == RecordKind::json_lines);
    CHECK_ALL(record_kind("b.ndjson.zst") == RecordKind::json_lines, record_kind("B.CSV.gz") == RecordKind::csv);
    CHECK(record_kind("a.json.gz") == RecordKind::json);
    for (const char* other : {"a.json5", "csv", "a.csv.bak", "jsonl/a"}) CHECK(record_kind(other) == RecordKind::none);
    CHECK(lines("{\"text\": \"one\"}\n{\"x\": {\"text\": 5}, \"text\": \"two\", \"y\": [\"text\", {\"text\": 1}]}") ==
          "[one][two]");
    CHECK(lines("\n  \r\n{\"text\":\"\\ud83d\\ude00 \\\"a\\\"\"}\n") == "[\xF0\x9F\x98\x80 \"a\"]");
    CHECK(lines("{\"text\": null}\n{\"text\": \"\"}\n") == "[][]");
    const auto refusal = [](std::string_view table) { return inkling::testing::error_of([&] { lines(table); }); };
    CHECK(refusal("{\"text\": \"a\"}\n{\"text\": 3}\n") == "line 2: \"text\" is 3, text is required");
    CHECK(refusal("{\"text\": [\"a\"]}") == "line 1: \"text\" is [\"a\"], text is required");
    CHECK(refusal("{\"text\": {\"text\": \"a\"}}") == "line 1: \"text\" is {\"text\":\"a\"}, text is required");
    CHECK(refusal("{\"text\": \"a\"}\n{\"text\": \"b\", \"loss_mask\": [0, 1]}\n") ==
          "line 2: \"loss_mask\" changes what is learned, and [0,1] is not read: leave out the line, or the key to "
          "learn without it");
    CHECK_THAT(refusal("{\"train\": false, \"text\": \"a\"}"), contains("line 1: \"train\" changes what is learned"));
    CHECK(lines("{\"text\": \"a\", \"weight\": 1, \"label\": false, \"x\": {\"weight\": 0}}") == "[a]");
    CHECK_THAT(refusal("[{\"text\": \"a\"}]"), contains("line 1: an object is required"));
    CHECK_THAT(refusal("\"text\""), contains("line 1: an object is required"));
    CHECK(refusal("{\"a\": 1, \"b\": 2}") == "line 1: there is no \"text\": its fields are a, b");
    CHECK_THAT(refusal("\n{\"text\": \"a\n"), contains("line 2: not valid JSON at byte "));
    CHECK(refusal("{\"text\": \"\\ud800\"}").ends_with("half of a surrogate pair in it, text is required"));
    CHECK(refusal("{\"text\": NaN}") == "line 1: \"text\" is NaN, text is required");
    CHECK(lines("{\"score\": [NaN, 1e999], \"text\": \"a\", \"b\": \"\\ud800\"}") == "[a]");
    CHECK_THAT(refusal(std::string(1'000'000, '[')), contains("line 1: "));  // no recursion
    CHECK_THAT(refusal("{\"text\": " + std::string(1'000'000, '[')), contains("line 1: "));
}

TEST_CASE("records: CSV as RFC 4180 has it, else refused with its line", "[data]") {
    CHECK_ALL(csv("id,text\n1,one\n2,two\n") == "[one][two]", csv("text,id\r\none,1\r\ntwo,2") == "[one][two]");
    CHECK(csv("id,\"text\",x\n1,\"a, \"\"b\"\"\nc\r\n\",\n") == "[a, \"b\"\nc\r\n]");
    CHECK(csv("text\n\n\"\"\nlast") == "[][last]");  // a blank line is no record, an empty text is one
    CHECK_ALL(csv("id,text\n1,a \"b\" c\n2,\n") == "[a \"b\" c][]", csv("text,text\n1,2\n") == "[1]");
    CHECK_ALL(csv("id,text").empty(), csv("id,text\r\n1,\"a\"\r\n\r\n2,\"b\"") == "[a][b]", csv("id,text\n1,") == "[]");
    CHECK(csv("text,id\ncarriage\rreturn,1\n") == "[carriage\rreturn]");
    CHECK_THROWS_WITH(csv("id,body\n1,2\n"), contains("line 1: there is no column \"text\": the columns are id, body"));
    CHECK_THROWS_WITH(
        csv("\"two\nlines, \"\"a\"\" \x9f\"," + std::string(5000, 'x')),  // one short line all the same
        contains("line 1: there is no column \"text\": the columns are two\\nlines, \\\"a\\\" \xEF\xBF\xBD, " +
                 std::string(60, 'x') + "..."));
    CHECK_THROWS_WITH(csv("a,b,c,d,e,f,g,h,i,j\n"), contains("the columns are a, b, c, d, e, f, g, h, ..."));
    CHECK_THROWS_WITH(csv("id,text\n1,2\n3\n"), contains("line 3: 1 fields, the header has 2"));
    CHECK_THROWS_WITH(csv("id,text\n1,\"a\nb\"\n3,4,5\n"), contains("line 4: 3 fields, the header has 2"));
    CHECK_THROWS_WITH(csv("id,text\n1,2\n3,\"never\nends\n"),
                      contains("line 3: a quoted field begins there and does not end"));
    CHECK_THROWS_WITH(csv("id,text\n1,\"a\"b\n"), contains("line 2: a quoted field is followed by more"));
}
