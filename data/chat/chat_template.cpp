#include "data/chat/chat_template.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/names.h"
#include "formats/files/file.h"
#include "formats/json.h"
#include "formats/utf8.h"

namespace inkling::data {

struct ChatTemplate::Source {
    jinja::Template jinja;
    std::map<std::string, std::string> special_tokens;  // bos_token, eos_token, ...
    std::string prompt;                                 // what it asks for an answer with
};

namespace {

constexpr char kNone[] = "the model has no chat template: have it complete texts instead";

std::string first_line(const std::string& text) {
    return shortened(std::string_view(text).substr(0, text.find('\n')), 80);
}

// bos_token, eos_token and the like, by the folder's files.
std::map<std::string, std::string> read_special_tokens(const std::vector<nlohmann::json>& files) {
    std::map<std::string, std::string> special_tokens;
    for (const nlohmann::json& file : files) {
        if (!file.is_object()) continue;
        for (const auto& [key, value] : file.items()) {
            const nlohmann::json text = value.is_object() ? value.value("content", nlohmann::json()) : value;
            if (key.ends_with("_token") && text.is_string()) special_tokens[key] = text.get<std::string>();
        }
    }
    return special_tokens;
}

}  // namespace

ChatTemplate::ChatTemplate(const std::string& jinja, const Tokenizer& tokenizer,
                           const std::map<std::string, std::string>& special_tokens) {
    try {
        auto source = std::make_shared<Source>(Source{jinja::Template(jinja), special_tokens, ""});
        const std::vector<ChatMessage> probe{{"user", "a"}, {"assistant", "b"}};
        const auto user = std::span(probe).first(1);
        const std::string asked = render(source->jinja, source->special_tokens, user, {.for_answer = true}).bytes,
                          said = render(source->jinja, source->special_tokens, user, {}).bytes;
        if (asked.starts_with(said)) source->prompt = asked.substr(said.size());
        const jinja::Text both = render(source->jinja, source->special_tokens, probe, {});
        std::size_t end = 0;
        for (const auto& span : both.spans)
            if (span.source == source_of(1, ChatPart::content) && span.begin < span.end) end = std::max(end, span.end);
        for (const ChatPiece& piece : cut_at_special_tokens(both, tokenizer))
            if (end_ < 0 && piece.begin >= end) end_ = piece.id;
        check<BadInput>(end > 0, "it leaves out message 2, of the assistant");
        const std::string after = both.bytes.substr(end);
        const auto [first, last] = formats::stripped(after, jinja::is_python_space);
        check<BadInput>(end_ >= 0, "after an answer it has '{}', which is not a special token",
                        after.substr(first, last - first));
        source_ = std::move(source);
    } catch (const BadInput& e) {
        throw BadInput(fmt::format("the chat template cannot be used: {}: it begins: {}", e.what(), first_line(jinja)));
    }
}

std::optional<ChatSource> read_chat_source(const std::filesystem::path& folder) {
    constexpr int kDepth = 128;
    const auto read = [&](const char* name) {
        const auto path = folder / name;
        if (!formats::is_there(path)) return nlohmann::json();
        return formats::parse_json(formats::read_file(path, formats::FileKind::json), path.string(), kDepth);
    };
    const nlohmann::json config = read("tokenizer_config.json");
    nlohmann::json text = config.is_object() ? config.value("chat_template", nlohmann::json()) : nlohmann::json();
    ChatSource source;
    if (text.is_array()) {  // several, by name
        for (const nlohmann::json& one : nlohmann::json(text)) {
            const nlohmann::json name = one.is_object() ? one.value("name", nlohmann::json()) : nlohmann::json();
            if (name == "default") text = one.value("template", text);
            if (name.is_string())
                source.names += (source.names.empty() ? "" : ", ") + shown_name(name.get<std::string>());
        }
    }
    if (const auto path = folder / "chat_template.jinja"; formats::is_there(path)) {
        source.jinja = formats::read_file(path, formats::FileKind::json);
        check<BadInput>(formats::find_invalid_utf8(source.jinja) == std::string::npos, "{}: not UTF-8", path.string());
    } else if (text.is_string()) {
        source.jinja = text.get<std::string>();
    } else if (source.names.empty()) {
        return std::nullopt;
    }
    if (!source.jinja.empty()) source.names.clear();
    source.special_tokens = read_special_tokens({read("special_tokens_map.json"), config});
    return source;
}

ChatTemplate ChatTemplate::of(const Tokenizer& tokenizer) {
    const std::optional<ChatSource>& source = tokenizer.chat;
    check<BadInput>(source.has_value(), kNone);
    check<BadInput>(
        source->names.empty(),
        "the model has chat templates named {}, and none is its default: name the one to use \"default\" in "
        "tokenizer_config.json",
        source->names);
    return ChatTemplate(source->jinja, tokenizer, source->special_tokens);
}

std::vector<std::int32_t> ChatTemplate::encode(std::span<const ChatMessage> messages, const Tokenizer& tokenizer,
                                               ChatContext context) const {
    context.for_answer = true;
    const jinja::Text text = render(source_->jinja, source_->special_tokens, messages, context);
    return encode_pieces(text, cut_at_special_tokens(text, tokenizer), {}, tokenizer).ids;
}

ChatIds ChatTemplate::apply(std::span<const ChatMessage> messages, const Tokenizer& tokenizer,
                            const ChatContext& context) const {
    const jinja::Text text = render(source_->jinja, source_->special_tokens, messages, context);
    const std::vector<ChatPiece> pieces = cut_at_special_tokens(text, tokenizer);
    return encode_pieces(text, pieces, answers_in(text, pieces, messages, source_->prompt), tokenizer);
}

}  // namespace inkling::data
