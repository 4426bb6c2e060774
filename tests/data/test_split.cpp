#include "data/split.h"

#include <cmath>
#include <numeric>
#include <vector>

#include "engine/base/check.h"
#include "tests/catch.h"
#include "tests/data/shakespeare.h"

using namespace inkling;
using namespace inkling::data;

TEST_CASE("split_tokens: the last part validates, of fractions from 0 up to 1", "[data]") {
    std::vector<std::int32_t> tokens(10);
    std::iota(tokens.begin(), tokens.end(), 0);
    const auto [train, val] = split_tokens(tokens, 0.25);
    CHECK(std::vector(train.begin(), train.end()) == std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6});
    CHECK(std::vector(val.begin(), val.end()) == std::vector<std::int32_t>{7, 8, 9});
    CHECK(train.data() == tokens.data());
    const std::vector<std::int32_t> shakespeare(1'115'394);  // the sizes of nanoGPT
    CHECK(split_tokens(shakespeare, 0.1).train.size() == 1'003'854);
    CHECK(split_tokens(shakespeare, 0.1).val.size() == 111'540);
    CHECK(split_tokens(shakespeare, 0).val.empty());
    CHECK(split_tokens(std::span(shakespeare).first(10), 0.1).val.size() == 1);
    CHECK(split_tokens({}, 0.1).train.empty());
    const std::string text = testing::shakespeare();
    CHECK(split_tokens(std::vector<std::int32_t>(text.size()), 0.1).train.size() == 1'003'854);  // tiny Shakespeare
    const std::vector<std::int32_t> ten(10);  // fractions below 0 and from 1 on are refused
    CHECK_THROWS_WITH(split_tokens(ten, 1), contains("in [0, 1), got 1"));
    CHECK_THROWS_AS(split_tokens(ten, -0.1), Error);
    CHECK_THROWS_AS(split_tokens(ten, std::nan("")), Error);
}
