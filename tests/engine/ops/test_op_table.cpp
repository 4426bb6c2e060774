// The table of op cases: a row for each op, and each refuses undefined tensors.
#include "engine/gradcheck/op_cases.h"

// The op that a row calls first, if it is not the row's own.
const json kCallsFirst = json::parse(R"({
    "neg": "affine", "asin of a sine": "sin", "acos of a sine": "sin", "tan of a sine": "sin",
    "atanh of a sine": "sin", "acosh of a sum": "affine", "one_hot": "mul", "masked_fill and softmax": "axis",
    "reshape transposed": "transpose", "expand a new axis": "unsqueeze", "matmul transposed": "transpose",
    "matmul transposed first": "transpose", "add_low_rank behind linear": "linear", "attention of heads": "split"})");

TEMPLATE_TEST_CASE("every op: undefined tensors are refused, naming the op", "[engine]", float, double) {
    for (const OpCase<T>& row : op_cases<T>()) {
        const std::vector<Shape>& shapes = row.inputs.shapes[0];
        for (std::size_t k = 0; k < shapes.size(); ++k) {
            // the last input may be left out: a bias, or the gain of a norm without a bias
            if (k > 0 && k + 1 == shapes.size() && row.op().ends_with("_norm")) continue;
            if (k == 2 && (row.op().starts_with("linear") || row.op().starts_with("conv"))) continue;
            std::vector<Tensor<T>> in;
            for (const Shape& shape : shapes) in.emplace_back(Array<T>(shape, T{1}));
            in[k] = Tensor<T>();
            INFO(row.name << ", input " << k);
            const std::string first = kCallsFirst.value(row.name, row.op() == "rotate" ? "transpose" : row.op());
            CHECK_THROWS_WITH(row.function(in), contains(first) || contains(row.op()));
            CHECK_THROWS_AS(row.function(in), Error);
        }
    }
    Tensor<T> none;
    CHECK_THROWS_WITH(none.item(), contains("item: expected a tensor with a value"));
    CHECK_THROWS_WITH(none.value_in_place(), contains("value_in_place: expected a tensor with a value"));
    CHECK_THROWS_WITH(backward(none), contains("backward: expected a tensor with a value"));
    CHECK_THROWS_WITH(embedding(IdArray(), Tensor<T>(Array<T>({2, 2}, T{1}))), contains("embedding: expected ids"));
    CHECK_THROWS_WITH(masked_fill(Tensor<T>(Array<T>({2, 2}, T{1})), MaskArray(), 1),
                      contains("masked_fill: expected a mask"));
}

TEST_CASE("every op: the table has a row for each function of engine/ops, and no name twice", "[engine]") {
    std::set<std::string> names, ops;
    for (const auto& row : op_cases<double>()) {
        CHECK(names.insert(row.name).second);
        ops.insert(row.op());
    }
    const std::set<std::string> parts{"attention_heads.h", "attention_operands.h", "attention_block.h",  // no ops
                                      "attention_masks.h", "unary_op.h",           "derivatives.h",     "formula.h"};
    const std::set<std::string> no_rows{"as_tensor", "sum_to", "scale"};
    std::size_t declared = 0;
    std::vector<std::filesystem::path> headers;
    for (const char* room : {"ops", "fused", "more"})
        for (const auto& entry : std::filesystem::recursive_directory_iterator(tests_path("../engine/") + room))
            headers.push_back(entry.path());
    for (const auto& header : headers) {
        const std::string name = header.filename().string();
        if (!name.ends_with(".h") || parts.contains(name)) continue;
        std::ifstream in(header);
        const std::regex declares("^(?:Tensor|Ordered|std::vector<Tensor)<T>>? (\\w+)\\(.*");
        std::smatch found;
        for (std::string line; std::getline(in, line);) {
            if (!std::regex_match(line, found, declares) || no_rows.contains(found[1])) continue;
            INFO(found[1]);
            ++declared;
            CHECK(ops.contains(found[1]));
        }
    }
    CHECK(declared > 100);
}
