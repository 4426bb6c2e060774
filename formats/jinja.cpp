#include "formats/jinja.h"

#include <algorithm>

#include "engine/check.h"
#include "formats/jinja_expression.h"
#include "formats/jinja_values.h"

namespace inkling::formats {

struct Jinja::Block {
    using Step = std::function<void(JinjaScope& scope, std::string& out)>;
    std::vector<Step> steps;

    void run(JinjaScope& scope, std::string& out) const {
        for (const Step& step : steps) step(scope, out);
    }
};

namespace {

using Block = Jinja::Block;

struct Part {
    enum class Kind { text, output, statement } kind;
    std::string content;
};

constexpr std::string_view kSpace = " \t\n\r\f\v";

// Cuts a template at {{ }}, {% %} and {# #}. A line break behind a statement is dropped, and so are the blanks before
// one that begins a line; {%- and -}} drop all white space beside them, {%+ and +%} none.
std::vector<Part> cut(std::string_view source) {
    if (source.ends_with('\n')) source.remove_suffix(1);
    std::vector<Part> parts;
    bool strip = false, line_begins = true;
    while (!source.empty()) {
        std::size_t at = 0;
        while ((at = source.find('{', at)) != std::string_view::npos && at + 1 < source.size() &&
               source[at + 1] != '{' && source[at + 1] != '%' && source[at + 1] != '#')
            ++at;
        const bool none = at == std::string_view::npos || at + 1 == source.size();
        std::string_view text = source.substr(0, none ? source.size() : at);
        if (strip) text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
        if (none) {
            parts.push_back({Part::Kind::text, std::string(text)});
            break;
        }
        const char kind = source[at + 1], last = kind == '{' ? '}' : kind;
        std::size_t begin = at + 2, end = begin;
        const char sign = begin < source.size() ? source[begin] : ' ';
        if (sign == '-') text = text.substr(0, text.find_last_not_of(kSpace) + 1);
        if (kind != '{' && sign != '-' && sign != '+') {
            const std::size_t line = text.rfind('\n') + 1;  // npos + 1 is 0
            if ((line > 0 || line_begins) && text.find_first_not_of(" \t\f\v", line) == std::string_view::npos)
                text = text.substr(0, line);
        }
        parts.push_back({Part::Kind::text, std::string(text)});
        for (char quote = 0; end + 1 < source.size(); ++end) {
            const char c = source[end];
            if (quote && c == '\\') {
                ++end;
            } else if (quote) {
                if (c == quote) quote = 0;
            } else if (kind != '#' && (c == '\'' || c == '"')) {
                quote = c;
            } else if (c == last && source[end + 1] == '}') {
                break;
            }
        }
        check<BadInput>(end + 1 < source.size(), "a {{{} without its end", kind);
        begin += sign == '-' || sign == '+';
        strip = end > begin && source[end - 1] == '-';
        const bool keep = end > begin && source[end - 1] == '+';
        const std::size_t stop = end - (strip || keep);
        if (kind != '#')
            parts.push_back({kind == '{' ? Part::Kind::output : Part::Kind::statement,
                             std::string(source.substr(begin, stop - begin))});
        source.remove_prefix(end + 2);
        line_begins = kind != '{' && source.starts_with('\n');
        if (line_begins && !keep) source.remove_prefix(1);
    }
    return parts;
}

class StatementParser {
  public:
    explicit StatementParser(const std::string& source) : parts_(cut(source)) {}

    std::shared_ptr<Block> all() {
        std::shared_ptr<Block> block = until({});
        check<BadInput>(at_ == parts_.size(), "{{% {} %}} without its beginning", ended_by_);
        return block;
    }

  private:
    // Up to one of these statements, which is then ended_by_, and parser_ is behind its name.
    std::shared_ptr<Block> until(std::initializer_list<std::string_view> ends) {
        constexpr std::size_t kMaxDepth = 100;
        check<BadInput>(++depth_ <= kMaxDepth, "it is nested more than {} deep", kMaxDepth);
        auto block = std::make_shared<Block>();
        while (at_ < parts_.size()) {
            const Part& part = parts_[at_++];
            if (part.kind == Part::Kind::text) {
                block->steps.push_back([text = part.content](JinjaScope&, std::string& out) { out += text; });
            } else if (part.kind == Part::Kind::output) {
                JinjaParser parser(part.content);
                block->steps.push_back(
                    [value = parser.expression()](JinjaScope& s, std::string& out) { out += text_of(value(s)); });
                parser.end();
            } else {
                parser_ = JinjaParser(part.content);
                const std::string name = parser_.name();
                if (std::count(ends.begin(), ends.end(), name)) {
                    ended_by_ = name;
                    --depth_;
                    return block;
                }
                add_statement(*block, name);
            }
        }
        check<BadInput>(ends.size() == 0, "a statement without its end");
        --depth_;
        return block;
    }

    void add_statement(Block& block, const std::string& name) {
        if (name == "set") return add_set(block);
        if (name == "if") return add_if(block);
        if (name == "for") return add_for(block);
        if (name == "generation") {  // transformers' mark of what the assistant says
            parser_.end();
            block.steps.push_back(
                [inner = until({"endgeneration"})](JinjaScope& s, std::string& out) { inner->run(s, out); });
            return;
        }
        throw BadInput(fmt::format("its statement {} is not known", name));
    }

    void add_set(Block& block) {
        const std::string name = parser_.name(), key = parser_.take(".") ? parser_.name() : "";
        parser_.expect("=");
        const JinjaExpression value = parser_.expression();
        parser_.end();
        block.steps.push_back([=](JinjaScope& s, std::string&) {
            if (key.empty()) return s.set(name, value(s));
            const JinjaValue made = value(s);
            JinjaValue* const found = s.find(name);
            check<BadInput>(found && found->is_object(), "it sets {} of {}, which is no namespace", key, name);
            (*found)[key] = made;
        });
    }

    void add_if(Block& block) {
        std::vector<std::pair<JinjaExpression, std::shared_ptr<Block>>> branches;
        ended_by_ = "elif";
        while (ended_by_ == "elif" || ended_by_ == "else") {
            const bool otherwise = ended_by_ == "else";
            JinjaExpression condition = [](JinjaScope&) { return JinjaValue(true); };
            if (!otherwise) condition = parser_.expression();
            parser_.end();
            if (otherwise)
                branches.emplace_back(condition, until({"endif"}));
            else
                branches.emplace_back(condition, until({"elif", "else", "endif"}));
        }
        block.steps.push_back([branches](JinjaScope& s, std::string& out) {
            for (const auto& [condition, inner] : branches)
                if (is_true(condition(s))) return inner->run(s, out);
        });
    }

    void add_for(Block& block) {
        const std::string name = parser_.name();
        parser_.expect("in");
        const JinjaExpression list = parser_.expression();
        parser_.end();
        const std::shared_ptr<Block> inner = until({"endfor"});
        block.steps.push_back([=](JinjaScope& s, std::string& out) {
            const JinjaValue all = list(s);
            check<BadInput>(all.is_array(), "its for wants a list");
            for (std::size_t i = 0; i < all.size(); ++i) {
                s.open();
                s.set(name, all[i]);
                JinjaValue loop{{"index0", i}, {"index", i + 1}, {"first", i == 0}, {"last", i + 1 == all.size()}};
                loop.update({{"length", all.size()}, {"revindex", all.size() - i}, {"revindex0", all.size() - i - 1}});
                if (i > 0) loop["previtem"] = all[i - 1];
                if (i + 1 < all.size()) loop["nextitem"] = all[i + 1];
                s.set("loop", std::move(loop));
                inner->run(s, out);
                s.close();
            }
        });
    }

    const std::vector<Part> parts_;
    std::size_t at_ = 0, depth_ = 0;
    JinjaParser parser_{""};
    std::string ended_by_;
};

}  // namespace

Jinja::Jinja(const std::string& text) : block_(StatementParser(text).all()) {}

std::string Jinja::render(const JinjaValue& variables) const {
    JinjaScope scope(variables);
    std::string text;
    block_->run(scope, text);
    return text;
}

}  // namespace inkling::formats
