// Tables of changes to a good JSON value, each with a part of the error message that it causes ("" if it stays good),
// which may be a list of pieces:
//   check_changes(file, refusal, R"json([
//       [{"/model/type": "WordPiece"}, "not supported: model of type 'WordPiece'"],
//       [{"/truncation": {"max_length": 5}, "/added_tokens/-": {"id": 3, "content": "a"}}, ""]])json");
// A change sets the value at each path; the path "/list/-" is a new last element.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tests/catch.h"

namespace inkling::testing {

// refusal(value): the error message for it; "" if it is good.
template <class Refusal>
void check_changes(const nlohmann::json& good, const Refusal& refusal, const char* table) {
    for (const nlohmann::json& row : nlohmann::json::parse(table)) {
        nlohmann::json changed = good;
        for (const auto& [path, value] : row.at(0).items()) changed[nlohmann::json::json_pointer(path)] = value;
        INFO(row);
        std::string part;
        for (const nlohmann::json& piece : row.at(1)) part += piece.get<std::string>();
        const std::string message = refusal(changed);
        CHECK(message.empty() == part.empty());
        CHECK_THAT(message, contains(part));
    }
}

}  // namespace inkling::testing
