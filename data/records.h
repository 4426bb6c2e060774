// Texts in tables: one column of a CSV file, one field of the objects in a file of JSON lines.
//   read_records(RecordKind::json_lines, file.bytes, "text", [&](std::string_view record) { ... });
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace inkling::data {

enum class RecordKind { none, json_lines, csv, json };

// By the name: .jsonl and .ndjson, .csv, .json, each also with .gz or .zst behind it.
RecordKind record_kind(std::string_view path);

using TakeRecord = std::function<void(std::string_view text)>;

// Calls take(text) for each record in order, with "" where its text is empty or null. Blank lines are no records.
// JSON lines: an object a line, in which `field` is text. CSV as RFC 4180 has it: a header line, fields separated by
// commas, in quotes where they hold commas, quotes ("") or line ends. Throws BadInput that names the line.
void read_records(RecordKind kind, std::string_view table, const std::string& field, const TakeRecord& take);

// The first few of them, for messages.
std::string listed(const std::vector<std::string>& names);

}  // namespace inkling::data
