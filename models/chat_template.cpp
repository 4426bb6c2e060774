#include "models/chat_template.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/check.h"
#include "formats/file.h"
#include "formats/jinja.h"
#include "formats/json.h"
#include "formats/utf8.h"
#include "models/chat_render.h"

namespace inkling::models {

using nlohmann::json;

struct ChatTemplate::Source {
    formats::Jinja jinja;
    json variables;
};

namespace {

constexpr char kNone[] = "the model has no chat template: have it complete texts instead";

// Joins texts and marks into ids. What stands between two marks is encoded as one text, part of which may be an answer.
class Composer {
  public:
    explicit Composer(const data::Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

    void add_marks(const std::string& text) {
        tokenizer_.cut_added(text, [&](std::string_view part, std::int32_t id) {
            if (id < 0 || !tokenizer_.is_special(id)) return static_cast<void>(plain_ += part);
            flush();
            ids_.ids.push_back(id);
            ids_.answer.push_back(answer_);
            if (std::exchange(answer_, false)) last_end_ = id;
        });
    }
    void add_text(std::string_view text) { plain_ += text; }
    // An answer begins, in the last `back` bytes of what was added.
    void begin_answer(std::size_t back) {
        answer_ = true;
        answer_begin_ = plain_.size() - std::min(back, plain_.size());
    }
    void end_answer() {
        if (answer_) flush();
        answer_ = false;
    }
    ChatIds take() {
        flush();
        return std::move(ids_);
    }
    std::int32_t last_end() const { return last_end_; }  // the token that ended an answer; -1: none

  private:
    std::vector<std::int32_t> encoded(std::string_view text) const {
        std::vector<std::int32_t> ids;
        tokenizer_.encode_plain_parts(
            text,
            [&](std::span<const std::int32_t> some, std::size_t) { ids.insert(ids.end(), some.begin(), some.end()); },
            ids_.ids.empty());
        return ids;
    }

    // The first of the ids of plain_ that is, in part, of its bytes from `begin` on.
    std::size_t token_at(const std::vector<std::int32_t>& ids, std::size_t begin) const {
        std::vector<std::size_t> ends;
        std::size_t bytes = 0;
        for (const std::int32_t& id : ids) ends.push_back(bytes += tokenizer_.decode_more(std::span(&id, 1)).size());
        if (bytes == plain_.size())
            return static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), begin) - ends.begin());
        // a tokenizer that changes the text: what comes before has the same ids alone
        const std::vector<std::int32_t> before = encoded(std::string_view(plain_).substr(0, begin));
        const std::size_t n = std::min(before.size(), ids.size());
        const auto differ = std::mismatch(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(n), before.begin());
        return static_cast<std::size_t>(differ.first - ids.begin());
    }

    void flush() {
        if (plain_.empty()) return;
        const std::vector<std::int32_t> ids = encoded(plain_);
        const std::size_t begin = answer_ ? token_at(ids, answer_begin_) : ids.size();
        for (std::size_t i = 0; i < ids.size(); ++i) ids_.answer.push_back(i >= begin);
        ids_.ids.insert(ids_.ids.end(), ids.begin(), ids.end());
        plain_.clear();
        answer_begin_ = 0;
    }

    const data::Tokenizer& tokenizer_;
    ChatIds ids_;
    std::string plain_;
    bool answer_ = false;
    std::size_t answer_begin_ = 0;
    std::int32_t last_end_ = -1;
};

std::string first_line(const std::string& text) {
    constexpr std::size_t kMax = 80;
    const std::string line = text.substr(0, std::min(text.find('\n'), text.size()));
    return line.size() > kMax ? line.substr(0, kMax) + "..." : line;
}

// bos_token, eos_token and the like, by the folder's files.
std::map<std::string, std::string> read_marks(const std::vector<json>& files) {
    std::map<std::string, std::string> marks;
    for (const json& file : files) {
        if (!file.is_object()) continue;
        for (const auto& [key, value] : file.items()) {
            const json text = value.is_object() ? value.value("content", json()) : value;
            if (key.ends_with("_token") && text.is_string()) marks[key] = text.get<std::string>();
        }
    }
    return marks;
}

}  // namespace

ChatTemplate::ChatTemplate(const std::string& jinja, const data::Tokenizer& tokenizer,
                           const std::map<std::string, std::string>& marks) {
    try {
        json variables = json::object({{"tools", nullptr}, {"documents", nullptr}});
        for (const auto& [name, text] : marks) variables[name] = text;
        source_ = std::make_shared<const Source>(Source{formats::Jinja(jinja), std::move(variables)});
        const std::vector<ChatMessage> probe{{"user", "a"}, {"assistant", "b"}};
        encode(std::span(probe).first(1), tokenizer);
        const Rendered r = render(source_->jinja, source_->variables, probe, false);
        Composer composer(tokenizer);
        composer.begin_answer(0);
        composer.add_marks(r.texts[2]);
        end_ = composer.last_end();
        check<BadInput>(end_ >= 0, "behind an answer it has '{}', which is no special token of the tokenizer",
                        formats::python_strip(r.texts[2]));
    } catch (const BadInput& e) {
        throw BadInput(fmt::format("the chat template cannot be used: {}: it begins: {}", e.what(), first_line(jinja)));
    }
}

std::optional<data::ChatSource> read_chat_source(const std::filesystem::path& folder) {
    constexpr int kDepth = 128;
    const auto read = [&](const char* name) {
        const auto path = folder / name;
        if (!formats::is_there(path)) return json();
        return formats::parse_json(formats::read_file(path, formats::FileKind::json), path.string(), kDepth);
    };
    const json config = read("tokenizer_config.json");
    json text = config.is_object() ? config.value("chat_template", json()) : json();
    if (text.is_array()) {  // several, by name
        for (const json& one : json(text)) {
            if (one.is_object() && one.value("name", json()) == "default") text = one.value("template", text);
        }
    }
    data::ChatSource source;
    if (const auto path = folder / "chat_template.jinja"; formats::is_there(path)) {
        source.jinja = formats::read_file(path, formats::FileKind::json);
        check<BadInput>(formats::find_invalid_utf8(source.jinja) == std::string::npos, "{}: not UTF-8", path.string());
    } else if (text.is_string()) {
        source.jinja = text.get<std::string>();
    } else {
        return std::nullopt;
    }
    source.marks = read_marks({read("special_tokens_map.json"), config});
    return source;
}

ChatTemplate ChatTemplate::load(const std::filesystem::path& folder, const data::Tokenizer& tokenizer) {
    const std::optional<data::ChatSource> source = read_chat_source(folder);
    check<BadInput>(source.has_value(), kNone);
    return ChatTemplate(source->jinja, tokenizer, source->marks);
}

ChatTemplate ChatTemplate::of(const data::Tokenizer& tokenizer) {
    check<BadInput>(tokenizer.chat.has_value(), kNone);
    return ChatTemplate(tokenizer.chat->jinja, tokenizer, tokenizer.chat->marks);
}

std::vector<std::int32_t> ChatTemplate::encode(std::span<const ChatMessage> messages,
                                               const data::Tokenizer& tokenizer) const {
    const Rendered r = render(source_->jinja, source_->variables, messages, true);
    Composer composer(tokenizer);
    for (std::size_t i = 0; i < r.messages.size(); ++i) {
        composer.add_marks(r.texts[i]);
        composer.add_text(Content(messages[r.messages[i]].content).core);
    }
    composer.add_marks(r.texts.back());
    return composer.take().ids;
}

ChatIds ChatTemplate::apply(std::span<const ChatMessage> messages, const data::Tokenizer& tokenizer) const {
    const auto rendered = [&](Space space) {
        return render(source_->jinja, source_->variables, messages, false, space);
    };
    // How much of the white space before a content is left: what the text before it is longer for.
    const bool any_space = std::any_of(messages.begin(), messages.end(), [](const ChatMessage& m) {
        return m.role == "assistant" && !Content(m.content).before.empty();
    });
    const Rendered r = rendered(Space::kept), with = any_space ? rendered(Space::before) : r,
                   without = any_space ? rendered(Space::none) : r;
    Composer composer(tokenizer);
    for (std::size_t i = 0; i < r.messages.size(); ++i) {
        const ChatMessage& message = messages[r.messages[i]];
        composer.add_marks(r.texts[i]);
        composer.end_answer();
        if (message.role == "assistant") composer.begin_answer(with.texts[i].size() - without.texts[i].size());
        composer.add_text(Content(message.content).core);
    }
    composer.add_marks(r.texts.back());
    return composer.take();
}

}  // namespace inkling::models
