#include "data/text/records.h"

#include <algorithm>
#include <vector>

#include "data/text/loss_mask.h"
#include "engine/base/check.h"
#include "engine/base/names.h"
#include "formats/ascii.h"
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

// The text of a field of the object on a line; "" for null.
std::string field_of(std::string_view text, const std::string& field, const std::string& place) {
    nlohmann::json object = formats::parse_json(text, place, 128);
    check<BadInput>(object.is_object(), "{}: an object is required, such as {{\"{}\": \"...\"}}", place, field);
    const auto found = object.find(field);
    if (found == object.end()) {
        std::vector<std::string> names;
        for (const auto& [name, value] : object.items()) names.push_back(name);
        throw BadInput(fmt::format("{}: there is no \"{}\": its fields are {}", place, field, listed(names)));
    }
    check<BadInput>(found->is_string() || found->is_null(), "{}: \"{}\" is {}, text is required", place, field,
                    formats::quote(*found));
    std::string record = found->is_null() ? "" : std::move(found->get_ref<std::string&>());
    object.erase(found);  // it is text, whatever its name
    formats::named(place, [&] { refuse_loss_masks(object, false); });
    return record;
}

void read_json_lines(std::string_view table, const std::string& field, const TakeRecord& take) {
    each_line(table, [&](std::string_view text, std::size_t number) {
        take(field_of(text, field, fmt::format("line {}", number)));
        return true;
    });
}

class Csv {
  public:
    explicit Csv(std::string_view table) : table_(table) {}

    bool at_end() const { return at_ == table_.size(); }
    std::size_t line() const { return line_; }

    // The next field of the record; `kept`: whether to keep it. True when the record goes on behind it.
    bool read_field(bool kept, std::string& field) {
        field.clear();
        if (at_ < table_.size() && table_[at_] == '"')
            read_quoted(kept, field);
        else
            read_plain(kept, field);
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
    void read_plain(bool kept, std::string& field) {
        std::size_t end = std::min(table_.find_first_of(",\n", at_), table_.size());
        if (end < table_.size() && table_[end] == '\n' && end > at_ && table_[end - 1] == '\r') --end;
        if (kept) field.assign(table_.substr(at_, end - at_));
        at_ = end;
    }

    void read_quoted(bool kept, std::string& field) {
        const std::size_t begin = line_;
        for (++at_;; at_ += 2) {  // past two quotes, which stand for one
            const std::size_t quote = table_.find('"', at_);
            check<BadInput>(quote != std::string_view::npos, "line {}: a quoted field begins there and does not end",
                            begin);
            const std::string_view part = table_.substr(at_, quote - at_);
            line_ += static_cast<std::size_t>(std::count(part.begin(), part.end(), '\n'));
            if (kept) field += part;
            at_ = quote;
            if (!table_.substr(at_).starts_with("\"\"")) break;
            if (kept) field += '"';
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
    std::string name = formats::lower(std::string(path));
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
