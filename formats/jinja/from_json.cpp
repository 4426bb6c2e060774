#include <nlohmann/json.hpp>

#include "formats/jinja/run.h"
#include "formats/json.h"

namespace inkling::formats::jinja {
namespace {

Value converted(Run& run, const nlohmann::json& json, const SourceOfKey& source_of, std::int32_t source,
                std::size_t depth) {
    const char* const what = "JSON for a template";
    const auto text = [&](const std::string& bytes) {
        return run.text(source < 0 ? Text(bytes) : Text(bytes, source));
    };
    check<BadInput>(!json.is_structured() || depth < Run::kMaxNested, "{}: nested deeper than {} levels", what,
                    Run::kMaxNested);
    check<BadInput>(!json.is_binary(), "{}: numbers and texts must be JSON", what);
    run.step();
    if (json.is_object()) {
        std::vector<std::pair<Value, Value>> pairs;
        for (const auto& [key, value] : json.items()) {
            if (depth == 0) source = source_of(key);
            pairs.emplace_back(text(key), converted(run, value, source_of, source, depth + 1));
        }
        return run.map(std::move(pairs));
    }
    if (json.is_array()) {
        std::vector<Value> items;
        for (const nlohmann::json& item : json) items.push_back(converted(run, item, source_of, source, depth + 1));
        return run.list(std::move(items));
    }
    if (json.is_string()) return text(json.get_ref<const std::string&>());
    if (json.is_boolean()) return json.get<bool>();
    if (json.is_number_float()) return json.get<double>();
    if (!json.is_number()) return None();
    check<BadInput>(!json.is_number_unsigned() || json.get<std::uint64_t>() <= INT64_MAX,
                    "{}: the number {} is too large", what, json.dump());
    return json.get<std::int64_t>();
}

}  // namespace

Value from_json(Run& run, const nlohmann::json& json, const SourceOfKey& source_of) {
    return converted(run, json, source_of, source_of(""), 0);
}

}  // namespace inkling::formats::jinja
