#include "data/text/records.h"

#include <algorithm>
#include <vector>

#include "data/text/learn_marks.h"
#include "engine/base/check.h"
#include "engine/base/names.h"
#include "formats/json.h"
#include "formats/named.h"

namespace inkling::data {

namespace {

// A name in a message: on one line, whatever it holds, and not long.
std::string shown(std::string_view name) {
    const std::string escaped =
        nlohmann::json(shortened(name, 60)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return escaped.substr(1, escaped.size() - 2);
}

// Finds the field of the outermost object of a line.
class FieldOf final : public formats::JsonParts {
  public:
    FieldOf(std::size_t line, const std::string& field)
        : JsonParts(fmt::format("line {}", line)), field_(field), line_(line) {}

    std::string record;
    bool marked = false;  // has a key of data/text/learn_marks.h

    void require_found() const {
        check<BadInput>(object_, "line {}: an object is required, such as {{\"{}\": \"...\"}}", line_, field_);
        check<BadInput>(found_, "line {}: there is no \"{}\": its fields are {}", line_, field_, listed(names_));
    }

    bool start_object(std::size_t) override { return object_ = object_ || depth_ == 0, open("an object"); }
    bool end_object() override { return --depth_, true; }
    bool start_array(std::size_t) override { return open("a list"); }
    bool end_array() override { return --depth_, true; }
    bool key(string_t& name) override {
        if (depth_ != 1) return true;
        here_ = name == field_;
        found_ = found_ || here_;
        marked = marked || (!here_ && is_learn_mark(name));
        if (!here_ && names_.size() < 9) names_.push_back(name);
        return true;
    }
    bool text(string_t& value) override {
        if (depth_ == 1 && here_) record = std::move(value);
        return true;
    }
    bool binary(binary_t& value) override { return other(formats::quote(value)); }
    bool null() override { return true; }
    bool boolean(bool) override { return other("true or false"); }
    bool number_integer(number_integer_t) override { return other("a number"); }
    bool number_unsigned(number_unsigned_t) override { return other("a number"); }
    bool number_float(number_float_t, const string_t&) override { return other("a number"); }

  private:
    bool other(const std::string& kind) const {
        check<BadInput>(depth_ != 1 || !here_, "line {}: \"{}\" is {}, text is required", line_, field_, kind);
        return true;
    }
    bool open(const char* kind) {
        other(kind);
        ++depth_;
        return true;
    }

    const std::string& field_;
    const std::size_t line_;
    std::size_t depth_ = 0;
    bool object_ = false, here_ = false, found_ = false;
    std::vector<std::string> names_;
};

void read_json_lines(std::string_view table, const std::string& field, const TakeRecord& take) {
    for (std::size_t at = 0, line = 1; at < table.size(); ++line) {
        const std::size_t end = std::min(table.find('\n', at), table.size());
        const std::string_view text = table.substr(at, end - at);
        at = end + 1;
        if (text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
        FieldOf parts(line, field);
        formats::read_json(text, parts);
        parts.require_found();
        if (parts.marked)
            formats::named(parts.what(), [&] { refuse_marks(formats::parse_json(text, "it", 128), false); });
        take(parts.record);
    }
}

class Csv {
  public:
    explicit Csv(std::string_view table) : table_(table) {}

    bool at_end() const { return at_ == table_.size(); }
    std::size_t line() const { return line_; }

    // The next field of the record; only a field that is `wanted` is kept. True when the record goes on behind it.
    bool read_field(bool wanted, std::string& field) {
        field.clear();
        if (at_ < table_.size() && table_[at_] == '"')
            read_quoted(wanted, field);
        else
            read_plain(wanted, field);
        if (at_ == table_.size()) return false;
        const char end = table_[at_];
        if (end == '\r' && table_.substr(at_).starts_with("\r\n")) ++at_;
        ++at_;
        if (end == ',') return true;
        ++line_;
        return false;
    }

    // Past a line that holds nothing.
    bool skip_blank() {
        const std::size_t size = table_.substr(at_).starts_with("\r\n") ? 2 : table_.substr(at_).starts_with("\n");
        at_ += size;
        line_ += size > 0;
        return size > 0;
    }

  private:
    void read_plain(bool wanted, std::string& field) {
        std::size_t end = std::min(table_.find_first_of(",\n", at_), table_.size());
        if (end < table_.size() && table_[end] == '\n' && end > at_ && table_[end - 1] == '\r') --end;
        if (wanted) field.assign(table_.substr(at_, end - at_));
        at_ = end;
    }

    void read_quoted(bool wanted, std::string& field) {
        const std::size_t begin = line_;
        for (++at_;; at_ += 2) {  // past two quotes, which stand for one
            const std::size_t quote = table_.find('"', at_);
            check<BadInput>(quote != std::string_view::npos, "line {}: a quoted field begins there and does not end",
                            begin);
            const std::string_view part = table_.substr(at_, quote - at_);
            line_ += static_cast<std::size_t>(std::count(part.begin(), part.end(), '\n'));
            if (wanted) field += part;
            at_ = quote;
            if (!table_.substr(at_).starts_with("\"\"")) break;
            if (wanted) field += '"';
        }
        ++at_;
        const std::string_view rest = table_.substr(at_);
        check<BadInput>(
            rest.empty() || rest[0] == ',' || rest[0] == '\n' || rest.starts_with("\r\n"),
            "line {}: a quoted field is followed by more than a comma or a line end: quotes in it must be doubled",
            line_);
    }

    const std::string_view table_;
    std::size_t at_ = 0, line_ = 1;
};

void read_csv(std::string_view table, const std::string& column, const TakeRecord& take) {
    Csv csv(table);
    std::vector<std::string> header;
    std::string field;
    for (bool more = true; more;) {
        more = csv.read_field(true, field);
        header.push_back(field);
    }
    const auto found = static_cast<std::size_t>(std::find(header.begin(), header.end(), column) - header.begin());
    check<BadInput>(found < header.size(), "line 1: there is no column \"{}\": the columns are {}", column,
                    listed(header));
    while (!csv.at_end()) {
        if (csv.skip_blank()) continue;
        const std::size_t line = csv.line();
        std::size_t n = 0;
        std::string text;
        for (bool more = true; more; ++n) more = csv.read_field(n == found, n == found ? text : field);
        check<BadInput>(n == header.size(), "line {}: {} fields, the header has {}", line, n, header.size());
        take(text);
    }
}

}  // namespace

std::string listed(const std::vector<std::string>& names) {
    std::string list;
    for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 8); ++i) list += (i ? ", " : "") + shown(names[i]);
    return list + (names.size() > 8 ? ", ..." : "");
}

RecordKind record_kind(std::string_view path) {
    std::string name(path);
    for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    for (const char* packed : {".gz", ".zst"})
        if (name.ends_with(packed)) name.resize(name.rfind('.'));
    if (name.ends_with(".jsonl") || name.ends_with(".ndjson")) return RecordKind::json_lines;
    if (name.ends_with(".json")) return RecordKind::json;
    return name.ends_with(".csv") ? RecordKind::csv : RecordKind::none;
}

void read_records(RecordKind kind, std::string_view table, const std::string& field, const TakeRecord& take) {
    kind == RecordKind::csv ? read_csv(table, field, take) : read_json_lines(table, field, take);
}

}  // namespace inkling::data
