// Checks of texts and JSON:
//   check_has(r.err, "warning: ", path);        // both are in the text
//   check_lacks(page, "<script>");
//   check_holds(a.json(), "object", "list", "/error/code", "loading");
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tests/catch.h"

namespace inkling::testing {

template <class... Parts>
void check_has(const std::string& text, const Parts&... parts) {
    CHECK_THAT(text, contains(parts...));
}

template <class... Parts>
void check_lacks(const std::string& text, const Parts&... parts) {
    for (const std::string& part : {std::string(parts)...}) CHECK_THAT(text, !contains(part));
}

// Checks members of `value`, each by its name or path ("/usage/total_tokens"); a missing one is null.
inline void check_holds(const nlohmann::json&) {}
template <class Wanted, class... Rest>
void check_holds(const nlohmann::json& value, const std::string& name, const Wanted& wanted, const Rest&... rest) {
    {
        INFO(name << " of " << value.dump().substr(0, 2000));
        const nlohmann::json::json_pointer path(name.starts_with('/') ? name : "/" + name);
        CHECK((value.contains(path) ? value.at(path) : nlohmann::json()) == nlohmann::json(wanted));
    }
    check_holds(value, rest...);
}

}  // namespace inkling::testing
