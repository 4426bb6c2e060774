// The rendered text as ids.
#include <algorithm>

#include "data/chat/chat_render.h"
#include "formats/jinja/template.h"
#include "formats/utf8.h"

namespace inkling::data {

std::vector<ChatPiece> cut_at_special_tokens(const jinja::Text& text, const Tokenizer& tokenizer) {
    std::string hidden = text.bytes;
    for (const jinja::Span& s : text.spans) {
        if (s.source < 0) continue;
        for (std::size_t at = s.begin, next = at; at < s.end; at = next) {
            const char32_t c = formats::next_code_point(text.bytes, next);
            if (jinja::is_python_space(c)) continue;
            for (std::size_t i = at; i < next; ++i) hidden[i] = '\x01';  // no special token holds it
        }
    }
    std::vector<ChatPiece> pieces;
    std::size_t at = 0;
    tokenizer.cut_added(hidden, [&](std::string_view part, std::int32_t id) {
        const bool mark = id >= 0 && tokenizer.is_special(id);
        if (!mark && !pieces.empty() && pieces.back().id < 0)
            pieces.back().end += part.size();
        else
            pieces.push_back({at, at + part.size(), mark ? id : -1});
        at += part.size();
    });
    return pieces;
}

std::vector<bool> answers_in(const jinja::Text& text, std::span<const ChatPiece> pieces,
                             std::span<const ChatMessage> messages, const std::string& prompt) {
    std::vector<bool> answer(text.bytes.size());
    const auto mark = [&](std::size_t begin, std::size_t end, std::vector<bool>& where) {
        for (std::size_t i = begin; i < end; ++i) where[i] = true;
    };
    const auto is_learned = [&](std::size_t message) {
        return message < messages.size() && messages[message].role == "assistant" && messages[message].learned;
    };
    std::vector<bool> left_out(text.bytes.size());  // of answers that are not learned
    for (const jinja::Span& s : text.spans)
        if (s.source >= 0 && message_of(s.source) < messages.size() && !messages[message_of(s.source)].learned)
            mark(s.begin, s.end, left_out);
    bool enclosed = false;
    for (const jinja::Span& s : text.spans) {
        if (s.source != jinja::kGeneration) continue;
        enclosed = true;
        const auto end = left_out.begin() + static_cast<std::ptrdiff_t>(s.end);
        if (std::find(left_out.begin() + static_cast<std::ptrdiff_t>(s.begin), end, true) == end)
            mark(s.begin, s.end, answer);
    }
    if (enclosed) return answer;
    std::vector<jinja::Span> spans = text.spans;
    std::stable_sort(spans.begin(), spans.end(),
                     [](const jinja::Span& a, const jinja::Span& b) { return a.begin < b.begin; });
    std::size_t before = 0;  // the end of the text before this message
    for (std::size_t k = 0, piece = 0; k < spans.size();) {
        const std::size_t message = message_of(spans[k].source);
        std::size_t begin = spans[k].begin, end = spans[k].end;
        for (++k; k < spans.size() && message_of(spans[k].source) == message; ++k) end = std::max(end, spans[k].end);
        const std::size_t next = k < spans.size() ? spans[k].begin : text.bytes.size();
        if (is_learned(message)) {
            const std::string_view head = std::string_view(text.bytes).substr(before, begin - std::min(before, begin));
            if (const auto at = head.rfind(prompt); at != std::string_view::npos && !prompt.empty())
                begin = before + at + prompt.size();
            while (piece < pieces.size() && (pieces[piece].begin < end || pieces[piece].id < 0)) ++piece;
            mark(begin, std::max(begin, std::min(next, piece < pieces.size() ? pieces[piece].end : next)), answer);
        }
        before = std::max(before, end);
    }
    return answer;
}

namespace {

// Marks the ids of `piece`, a part of the text, that cover bytes of answers.
void mark_ids(std::string_view piece, bool begins, const std::vector<std::int32_t>& ids,
              std::vector<bool>::const_iterator answer, const Tokenizer& tokenizer, std::vector<bool>& marked) {
    std::vector<std::size_t> ends;
    std::size_t bytes = 0;
    for (const std::int32_t& id : ids) ends.push_back(bytes += tokenizer.decode_more(std::span(&id, 1)).size());
    // the first id that is not of the bytes before
    const auto id_at = [&](std::size_t byte) {
        if (bytes == piece.size())
            return static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), byte) - ends.begin());
        // a tokenizer that changes the text: what comes before has the same ids alone
        const std::vector<std::int32_t> before = tokenizer.encode_plain(piece.substr(0, byte), begins);
        const auto n = static_cast<std::ptrdiff_t>(std::min(before.size(), ids.size()));
        const auto differ = std::mismatch(ids.begin(), ids.begin() + n, before.begin());
        return static_cast<std::size_t>(differ.first - ids.begin());
    };
    for (std::size_t begin = 0, end = 0; begin < piece.size(); begin = end + 1) {
        const auto at = [&](std::size_t i) { return answer[static_cast<std::ptrdiff_t>(i)]; };
        while (begin < piece.size() && !at(begin)) ++begin;
        if (begin == piece.size()) return;
        for (end = begin + 1; end < piece.size() && at(end);) ++end;
        const std::size_t last = end == piece.size() ? ids.size() : id_at(end - 1) + 1;
        for (std::size_t i = id_at(begin); i < std::min(last, ids.size()); ++i)
            marked[marked.size() - ids.size() + i] = true;
    }
}

}  // namespace

ChatIds encode_pieces(const jinja::Text& text, std::span<const ChatPiece> pieces, const std::vector<bool>& answer,
                      const Tokenizer& tokenizer) {
    ChatIds all;
    for (const ChatPiece& piece : pieces) {
        const std::size_t n = piece.end - piece.begin;
        if (piece.id >= 0) {
            all.ids.push_back(piece.id);
            all.answer.push_back(!answer.empty() && answer[piece.begin]);
            continue;
        }
        const std::string_view part = std::string_view(text.bytes).substr(piece.begin, n);
        const bool begins = all.ids.empty();
        const std::vector<std::int32_t> ids = tokenizer.encode_plain(part, begins);
        all.ids.insert(all.ids.end(), ids.begin(), ids.end());
        all.answer.resize(all.ids.size());
        if (!answer.empty())
            mark_ids(part, begins, ids, answer.begin() + static_cast<std::ptrdiff_t>(piece.begin), tokenizer,
                     all.answer);
    }
    return all;
}

}  // namespace inkling::data
