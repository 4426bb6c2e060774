#include "models/files/gguf/modelfile.h"

#include <algorithm>

#include "data/chat/chat_render.h"
#include "data/chat/chat_template.h"
#include "engine/base/check.h"

namespace inkling::models {
namespace {

using Messages = std::vector<data::ChatMessage>;

void require(bool good, const char* what) {
    check<BadInput>(good, "--modelfile: the chat template cannot be written for Ollama: {}", what);
}

// The template's own text before each message's content, and after the last.
std::vector<std::string> around(const data::ChatSource& chat, const Messages& messages, bool for_answer) {
    formats::jinja::Text text =
        data::render(formats::jinja::Template(chat.jinja), chat.special_tokens, messages, {.for_answer = for_answer});
    std::ranges::sort(text.spans, {}, &formats::jinja::Span::begin);
    std::vector<std::string> parts;
    std::size_t at = 0;
    for (const formats::jinja::Span& span : text.spans) {
        if (span.source < 0 || span.begin == span.end) continue;
        require(span.source == source_of(parts.size(), data::ChatPart::content),
                "it does not show the contents one by one");
        parts.push_back(text.bytes.substr(at, span.begin - at));
        at = span.end;
    }
    require(parts.size() == messages.size(), "it does not show the contents one by one");
    parts.push_back(text.bytes.substr(at));
    for (const std::string& part : parts)  // "{" at its end would join the {{ that follows
        require(
            part.find("{{") == std::string::npos && part.find("\"\"\"") == std::string::npos && !part.ends_with('{'),
            "it has {{ or \"\"\"");
    return parts;
}

// A value on a line of its own. Ollama reads no escapes: a line end in it would begin another instruction.
const std::string& one_line(const std::string& value, const char* what) {
    const bool plain = std::none_of(value.begin(), value.end(), [](unsigned char c) { return c < ' ' || c == 0x7F; });
    check<BadInput>(plain && value.find('"') == std::string::npos,
                    "--modelfile: {} has a quote, a line end or another control character, which Ollama's file cannot "
                    "hold: export without --modelfile, or rename it",
                    what);
    return value;
}

std::string without(const std::string& begin, const std::string& text) {
    return text.starts_with(begin) ? text.substr(begin.size()) : text;
}

// In Go: what stands before the first message, then for each message its role's part. An answer ends with `end`; a
// question stands between `ask` and `reply`, which asks for the answer.
std::string go_template(const data::Tokenizer& tokenizer) {
    const data::ChatSource& chat = *tokenizer.chat;
    const data::ChatMessage system{"system", "s"}, question{"user", "q"}, answer{"assistant", "a"};
    const std::vector<std::string> talk = around(chat, {question, answer, question}, true);
    const std::string reply = talk[3], end = around(chat, {question, answer}, false)[2];
    require(talk[1] == reply && talk[2].starts_with(end), "its answers stand elsewhere than where it asks for them");
    const std::string ask = talk[2].substr(end.size());
    require(talk[0].ends_with(ask), "its first question stands elsewhere than the others");
    // Ollama adds the token that begins a text where the model's file says so.
    const auto bos = chat.special_tokens.find("bos_token");
    const std::string begin = bos == chat.special_tokens.end() || tokenizer.tokens_before().empty() ? "" : bos->second;
    require(begin.empty() || !ask.starts_with(begin), "a token that begins texts stands before each question");
    const std::string usual = without(begin, talk[0].substr(0, talk[0].size() - ask.size()));
    std::string first, joined, set;
    try {
        const std::vector<std::string> told = around(chat, {system, question}, true);
        if (told[1].ends_with(ask)) {
            first = "{{ if .System }}" + without(begin, told[0]) + "{{ .System }}" +
                    told[1].substr(0, told[1].size() - ask.size()) + (usual.empty() ? "" : "{{ else }}" + usual) +
                    "{{ end }}";
        } else {  // the system's message is the beginning of the first question
            require(told[0] == talk[0], "its message of the system stands elsewhere than a question");
            first = usual + "{{ $system := .System }}";
            joined = "{{ if $system }}{{ $system }}" + told[1] + "{{ $system = \"\" }}{{ end }}";
        }
    } catch (const BadInput&) {  // the template refuses a system message
        first = usual;
    }
    return first + "{{ range .Messages }}{{ if eq .Role \"user\" }}" + ask + joined + "{{ .Content }}" + reply +
           "{{ else if eq .Role \"assistant\" }}{{ .Content }}" + end + "{{ end }}{{ end }}";
}

}  // namespace

std::string modelfile(const std::string& from, const std::string& adapter, const data::Tokenizer& tokenizer) {
    std::string text = "FROM " + one_line(from, "the model's path") + "\n";
    if (!adapter.empty()) text += "ADAPTER " + one_line(adapter, "the adapter's name") + "\n";
    if (!tokenizer.chat || tokenizer.chat->jinja.empty()) return text;
    const std::int32_t end = data::ChatTemplate::of(tokenizer).end_of_turn();
    text += "TEMPLATE \"\"\"" + go_template(tokenizer) + "\"\"\"\n";
    return text + "PARAMETER stop \"" + one_line(tokenizer.decode(std::span(&end, 1)), "the token that ends a turn") +
           "\"\n";
}

}  // namespace inkling::models
