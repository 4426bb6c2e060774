// Texts in tables: a column of a CSV file, or a field of the objects in a JSON-lines file.
//   read_records(RecordKind::json_lines, file.bytes, "text", [&](std::string_view record) { ... });
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace inkling::data {

enum class RecordKind { none, json_lines, csv, json };

// By the file name: .jsonl and .ndjson, .csv, .json, each also with .gz or .zst.
RecordKind record_kind(std::string_view path);

// Calls take(line, number) for each line that is not blank, from 1, until it returns false.
template <class Take>
void each_line(std::string_view lines, const Take& take) {
    for (std::size_t at = 0, number = 1; at < lines.size(); ++number) {
        const std::size_t end = std::min(lines.find('\n', at), lines.size());
        const std::string_view line = lines.substr(at, end - at);
        at = end + 1;
        if (line.find_first_not_of(" \t\r") != std::string_view::npos && !take(line, number)) return;
    }
}

using TakeRecord = std::function<void(std::string_view text)>;

// Calls take(text) for each record in order, with "" for an empty or null text. Blank lines are skipped. JSON
// lines: one object per line, whose `field` is text. CSV as in RFC 4180: a header line, fields separated by commas, and
// quoted if they hold commas, quotes ("") or line ends. Throws BadInput, naming the line.
void read_records(RecordKind kind, std::string_view table, const std::string& field, const TakeRecord& take);

// The first few, for messages.
std::string listed(const std::vector<std::string>& names);

}  // namespace inkling::data
