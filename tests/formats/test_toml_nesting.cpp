#include "formats/toml_nesting.h"

static std::string times(int n, const std::string& text) {
    std::string all;
    for (int i = 0; i < n; ++i) all += text;
    return all;
}

TEST_CASE("toml nesting: a depth that no settings have is refused, any other text passes", "[data]") {
    const std::string deep = times(50'000, "a.") + "a = 1";
    const std::string refused[] = {"x = " + times(50'000, "["),
                                   "x = " + times(50'000, "[") + times(50'000, "]"),
                                   "x = " + times(50'000, "{a="),
                                   deep,
                                   times(50'000, " \"a\" . ") + "a = 1",
                                   "[" + times(50'000, "a.") + "a]\n",
                                   "[[" + times(50'000, "a.") + "a]]\n",
                                   "x = { " + deep + " }",
                                   "x = [ \"\"\"a\"\"\"\"\", { " + deep + " } ]",  // the string ends in two quotes
                                   "x = 'a' # \"\n" + deep,
                                   "x = \"\\\"\"\n" + deep,
                                   "x = '\\'\n" + deep,
                                   "x = '''\n'''\n" + deep};
    for (const std::string& text : refused)
        CHECK_THROWS_WITH(check_toml_nesting(text, "c.toml"), contains("nested deeper than 32 levels"));
    CHECK_THROWS_WITH(check_toml_nesting("a = 1\n\nb = " + times(33, "["), "c.toml"), contains("c.toml: line 3: "));
    const std::string dots = times(100, "a.b/../");
    const std::string accepted[] = {"",
                                    "out = \"runs/mine\"\nlearning_rate = 1.5e-3\ndata = [\"a.txt\", 'b.txt']  # [[[\n",
                                    times(1000, "x = [1.5, 2.5, { a.b = 1.5 }]\n"),
                                    "x = [" + times(1000, "1.5,") + "]",
                                    "x = \"" + dots + times(100, "[") + "\"\ny = '" + dots + times(100, "{") + "'",
                                    "x = \"\"\"\n" + dots + "\n" + times(100, "[\n") + "\"\"\"",
                                    "# " + dots + times(100, "["),
                                    "x = " + times(32, "["),
                                    times(31, "a.") + "a = 1",
                                    "]]]]}}}}",
                                    "x = \"never ends",
                                    "x = '''never ends"};
    for (const std::string& text : accepted) CHECK_NOTHROW(check_toml_nesting(text, "c.toml"));
}
