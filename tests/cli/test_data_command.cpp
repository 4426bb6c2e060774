// inkling data: stories, and questions about them.
#include <set>

#include "data/stories/stories.h"
#include "tests/cli/program.h"

using namespace inkling::testing;

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
        CHECK(answer.ends_with('.'));
        CHECK(question.ends_with('?'));
    }
    CHECK(kinds.size() == 5);
    CHECK(program("data stories --questions 3").out != program("data stories --questions 3 --seed 2").out);
    check_fails(call("data stories --questions 3 --bytes 4"), 2, "--bytes");
    check_fails(call("data"), 2, "stories");
}
