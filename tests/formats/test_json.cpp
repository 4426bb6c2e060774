#include "formats/json.h"

#include "formats/utf8.h"

// The message of the BadInput for the text; "" if it is read.
static std::string refusal(std::string_view text, int max_depth = 128) {
    return error_of([&] { parse_json(text, "a.json", max_depth); });
}

TEST_CASE("parse_json: values of every kind, and json_or_null gives null for what it refuses", "[data]") {
    const auto j = parse_json(" {\"a\": [1, -2, 0.5, true, null], \"\\u00e9\": \"\\ud83d\\udc0c\"}\n", "a.json", 2);
    CHECK_ALL(j["a"].size() == 5, j["a"][0].is_number_unsigned(), j["a"][2] == 0.5);
    CHECK_ALL(j["\xC3\xA9"] == "\xF0\x9F\x90\x8C", parse_json("7", "a.json", 1) == 7);
    CHECK(parse_json(R"({"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]})", "a.json", 9)["b"][1]["a"] == 2);
    CHECK(json_or_null(R"({"step": 1})")["step"] == 1);
    CHECK(json_or_null("0.5") == 0.5);
    const std::string deep(1'000'000, '['), long_text = "\"" + std::string(5 << 20, 'a') + "\"";
    for (const std::string_view bad : {"", "{", "inf", "{\"a\": 1, \"a\": 2}", "\"\xFF\"", "null"})
        CHECK(json_or_null(bad).is_null());
    CHECK_ALL(json_or_null(deep).is_null(), json_or_null(long_text).is_null());
    CHECK(json_or_null(std::string(64, '[') + std::string(64, ']')).is_array());
    CHECK(json_or_null(std::string(65, '[') + std::string(65, ']')).is_null());
}

TEST_CASE("parse_json: invalid JSON is refused in one short line that names the file", "[data]") {
    const std::string_view bad =
        GENERATE(as<std::string_view>(), "", " ", "{", "[1", "{\"a\":}", "[1,]", "{\"a\":1,}", "{} x", "{}{}", "nul",
                 "'a'", "{a: 1}", "\"a\nb\"", "\"\\x\"", "01", "+1", ".5", "nan", "+Infinity", "NaNs", "1e999x", "[NaN",
                 "[NaN x]", "/**/1", "\"open", "\xEF\xBB");
    const std::string message = refusal(bad);
    CHECK_ALL(message.starts_with("a.json: "), message.find('\n') == std::string::npos, message.size() < 250);
    CHECK_THAT(refusal("[1, 2 3]"), contains("at byte 7: "));
    CHECK_THAT(refusal("[1, NaN, \"\\ud800\", 2 3]"), contains("at byte 22: "));  // of the text that is given
    CHECK_THAT(refusal(R"({"a": 1, "b": 2, "a": 3})"), contains("the key \"a\" appears twice"));
    CHECK_THAT(refusal(R"({"a": 1, "\u0061": 3})"), contains("appears twice"));
    CHECK_THAT(refusal(R"({"x": {"a": {}, "a": {}}})"), contains("appears twice"));
    CHECK(refusal("[[1]]", 2).empty());  // depth is counted and limited
    CHECK_THAT(refusal("[[[1]]]", 2), contains("deeper than 2 levels"));
    CHECK_THAT(refusal("{\"a\":[{}]}", 2), contains("deeper than 2 levels"));
    CHECK(refusal("1", 0).empty());
    CHECK_THAT(refusal(std::string(1'000'000, '[')), contains("deeper than 128 levels"));
    CHECK_THAT(refusal("{\"a\": \"\xFF\"}"), contains("byte 7 is 0xFF"));  // bytes that are no text are refused
    CHECK_THAT(refusal(std::string_view("{}\0garbage", 10)), contains("byte 2 is NUL"));
    CHECK(refusal("\xEF\xBB\xBF{}").empty());
    CHECK(refusal("\"" + std::string(1'000'000, 'x')).size() < 250);  // a long broken string makes no long message
    const std::string key = "\"" + std::string(1'000'000, 'x') + "\": 1";
    CHECK(refusal("{" + key + "," + key + "}").size() < 250);
}

// Python's json.dumps(["a\ud800", float("nan"), float("-inf")]); and 1e999, which json.loads reads as inf.
TEST_CASE("parse_json: Python's NaN and Infinity have no JSON type", "[data]") {
    const auto j =
        parse_json("{\"a\": NaN, \"b\": [Infinity, -Infinity, 1e999, -12E+400, " + std::string(400, '9') +
                       "], \"c\": \"half \\ud83d\", \"d\": \"\\udce9 \\\\ud800\", \"e\": \"\\ud83d\\udc0c NaN\", "
                       "\"f\": [1e308, 1e-999, -0.5]}",
                   "a.json", 3);
    CHECK_ALL(j["e"] == "\xF0\x9F\x90\x8C NaN", j["f"] == json::array({1e308, 0.0, -0.5}));
    CHECK(quote(j["a"]).text() == "NaN");
    const std::pair<std::size_t, const char*> numbers[] = {
        {0, "Infinity"}, {1, "-Infinity"}, {2, "1e999"}, {3, "-12E+400"}};
    for (const auto& [i, written] : numbers) CHECK(quote(j["b"][i]).text() == written);
    for (const auto& value : {j["a"], j["b"][0], j["b"][2], j["b"][4], j["c"], j["d"]})
        CHECK_ALL(value.is_binary(), quote(value).text().size() < 100);
    CHECK_THAT(quote(j["c"]).text(), contains("half of a surrogate pair in it"));
    // as in os.fsencode
    CHECK_ALL(file_name(j["d"]) == "\xE9 \\ud800", file_name(j["e"]) == j["e"].get<std::string>(), !file_name(j["a"]));
    CHECK_THAT(refusal("{\"\\ud800\": 1}"), contains("not valid JSON"));  // a key cannot be passed over
}

TEST_CASE("json_text: strings of any bytes, which parse_json reads again", "[data]") {
    CHECK(json_text(json{{"a", 1}}) == "{\"a\":1}");
    CHECK(json_text(ordered_json{{"b", 1}, {"a", "\xC3\xA9"}}, 1) == "{\n \"b\": 1,\n \"a\": \"\xC3\xA9\"\n}");
    CHECK(json_text(json::array({"caf\xE9.txt", "\xC3\xA9"})) == "[\"caf\\udce9.txt\",\"\xC3\xA9\"]");
    const std::string sign = "\xF4\x8F\xBF\xBE";
    for (const std::string& name :
         {std::string("caf\xE9.txt"), std::string("\xFF\xFE"), std::string("\xED\xA0\x80"), sign + "\xE9" + sign + "e9",
          std::string("a\"\n\xC3"), std::string("\\udce9\x80")}) {
        const std::string text = json_text(json{{"names", {"x" + sign, name}}});
        CHECK(find_invalid_utf8(text) == std::string::npos);
        const auto names = parse_json(text, "it", 3)["names"];
        CHECK_ALL(names[0] == "x" + sign, file_name(names[1]) == name);
    }
}

// nlohmann's own parse() has no depth limit, and its values are copied and destroyed recursively.
TEST_CASE("parse_json: nothing else in the library or the program parses JSON", "[data]") {
    namespace fs = std::filesystem;
    std::size_t files = 0;
    for (const auto& folder : fs::directory_iterator(tests_path(".."))) {
        const std::string name = folder.path().filename().string();
        if (!folder.is_directory() || name.starts_with(".") || name.starts_with("build") || name == "tests") continue;
        for (const auto& file : fs::recursive_directory_iterator(folder)) {
            const std::string extension = file.path().extension().string();
            if (extension != ".cpp" && extension != ".h") continue;
            ++files;
            const std::string text = read_file(file.path());
            INFO(file.path());
            if (file.path().string().ends_with("formats/json.cpp")) continue;
            CHECK_ALL(text.find("json::parse(") == std::string::npos, text.find("sax_parse(") == std::string::npos);
        }
    }
    CHECK(files > 300);
}
