// Tables of changes to a good JSON value, each with a part of the error message that it causes ("" if it stays good),
// which may be a list of pieces. They are in files of JSON:
//   "kinds": [[{"/model/type": "WordPiece"}, "not supported: model of type 'WordPiece'"],
//             [{"/truncation": {"max_length": 5}, "/added_tokens/-": {"id": 3, "content": "a"}}, ""]]
// A change sets the value at each path; the path "/list/-" is a new last element.
//   check_changes(file, refusal, json_in(path)["kinds"]);
#pragma once

namespace inkling::testing {

// refusal(value): the error message for it; "" if it is good.
template <class Refusal>
void check_changes(const json& good, const Refusal& refusal, const json& table) {
    for (const json& row : table) {
        json changed = good;
        for (const auto& [path, value] : row.at(0).items()) changed[json::json_pointer(path)] = value;
        INFO(row);
        std::string part;
        for (const json& piece : row.at(1)) part += piece.get<std::string>();
        const std::string message = refusal(changed);
        CHECK(message.empty() == part.empty());
        CHECK_THAT(message, contains(part));
    }
}

}  // namespace inkling::testing
