// A fuzz target for chat templates: any bytes are a template that renders a conversation, or are refused in one line.
// The rendered text marks what the messages say, whatever the template does to it. See run.sh.
#include <nlohmann/json.hpp>

#include "formats/jinja/template.h"
#include "tests/fuzz/target.h"

using namespace inkling::formats;

FUZZ_TARGET(jinja) {
    const std::string text(reinterpret_cast<const char*>(bytes), size), said = "\xEE\x80\x80";  // U+E000
    if (text.find(said[0]) != std::string::npos || text.find("\\u") != std::string::npos ||
        text.find("\\U") != std::string::npos)
        return 0;  // it could spell it
    const nlohmann::json messages = {
        {{"role", "system"}, {"content", said + " /x"}},
        {{"role", "user"}, {"content", "  " + said + "a<b>" + said + "\n"}},
        {{"role", "assistant"}, {"content", nullptr}, {"tool_calls", {{{"name", said}, {"arguments", {{"n", 1.5}}}}}}}};
    refuse_in_a_line([&] {
        const jinja::Template made(text);
        jinja::Run run({.steps = 100'000, .bytes = 1 << 20});
        run.set("messages", from_json(run, messages, [](std::string_view) { return 3; }));
        const jinja::Text all = made.render(run);
        std::vector<bool> marked(all.bytes.size());
        for (const jinja::Span& s : all.spans) {
            if (s.begin > s.end || s.end > all.bytes.size()) std::abort();
            for (std::size_t i = s.begin; i < s.end; ++i) marked[i] = marked[i] || s.source == 3;
        }
        for (std::size_t i = 0; i < all.bytes.size(); ++i)
            if (all.bytes[i] == said[0] && !marked[i]) std::abort();
    });
    return 0;
}
