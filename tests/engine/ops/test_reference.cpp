// Values and gradients of every op against PyTorch's (tests/reference/make_engine_reference.py).
#include "engine/gradcheck/op_cases.h"

TEMPLATE_TEST_CASE("reference: values and gradients are PyTorch's", "[engine]", float, double) {
    const double tolerance = sizeof(T) == 4 ? 1e-5 : 1e-10;
    std::map<std::string, OpCase<T>> rows;
    std::set<std::string> ops{"dropout", "rotary", "rotate"};  // which PyTorch has not, or with other random numbers
    for (const OpCase<T>& row : op_cases<T>()) rows.emplace(row.name, row);
    const nlohmann::json pytorch = reference("engine.json");
    for (const auto& expected : pytorch["cases"]) {
        const auto name = expected["name"].template get<std::string>();  // "prod 1: with zeros" is the row "prod 1"
        INFO(name);
        const auto row = rows.find(name.substr(0, name.find(':')));
        REQUIRE(row != rows.end());
        ops.insert(row->second.op());
        std::vector<Array<T>> at;
        for (const auto& input : expected["inputs"]) at.push_back(array_from<T>(input));
        const auto result = run<T>(row->second.function, at, array_from<T>(expected["dy"]));
        check_close(result.value, array_from<double>(expected["y"]), tolerance);
        REQUIRE(result.grads.size() == expected["grads"].size());
        for (std::size_t i = 0; i < at.size(); ++i)
            check_close(result.grads[i], array_from<double>(expected["grads"][i]), tolerance,
                        "gradient " + std::to_string(i));
    }
    for (const auto& [name, row] : rows) WITH_INFO(name, CHECK(ops.count(row.op()) == 1));
}
