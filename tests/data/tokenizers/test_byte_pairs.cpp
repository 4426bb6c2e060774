#include "data/tokenizers/bpe/byte_pairs.h"

#include <algorithm>

#include "engine/base/check.h"
#include "tests/catch.h"
#include "tests/data/tokenizers/bpe_reference.h"

using namespace inkling;
using namespace inkling::data;
using Ids = std::vector<std::int32_t>;

namespace {

// Byte pairs with the bytes as ids 0 to 255.
BytePairs pairs(const std::vector<Merge>& merges) {
    std::array<std::int32_t, 256> bytes;
    for (std::size_t b = 0; b < 256; ++b) bytes[b] = static_cast<std::int32_t>(b);
    return BytePairs(bytes, merges);
}

Ids ids_of(const BytePairs& p, std::string_view piece) {
    Ids ids = {-7};  // what is there already stays
    p.append_ids(piece, ids);
    Ids other = ids, again = ids;
    other.resize(1);
    again.resize(1);
    p.append_short(piece, other);
    p.append_long(piece, again);
    REQUIRE(ids == other);
    REQUIRE(ids == again);
    REQUIRE(ids[0] == -7);
    ids.erase(ids.begin());
    return ids;
}

}  // namespace

TEST_CASE("byte pairs: the merge learned first, then the leftmost, of two merges of a pair the later", "[data][bpe]") {
    const BytePairs p = pairs({{'b', 'c', 256}, {'a', 'b', 257}, {257, 257, 258}, {'a', 'a', 259}, {259, 'a', 260}});
    CHECK(ids_of(p, "") == Ids{});
    CHECK(ids_of(p, "x") == Ids{'x'});
    CHECK(ids_of(p, "abc") == Ids{'a', 256});
    CHECK(ids_of(p, "abab") == Ids{258});
    CHECK(ids_of(p, "ababab") == Ids{258, 257});
    CHECK(ids_of(p, "aaaaa") == Ids{259, 260});
    CHECK(ids_of(p, "\xFF\x80") == Ids{255, 128});
    CHECK(ids_of(pairs({{'a', 'b', 256}, {'b', 'c', 257}, {'a', 'b', 256}}), "abc") == Ids{'a', 257});
    CHECK(ids_of(pairs({{'a', 'b', 256}, {'b', 'c', 257}}), "abc") == Ids{256, 'c'});
}

TEST_CASE("byte pairs: short and long way agree on random merges", "[data][bpe]") {
    testing::Random random(3);
    for (int round = 0; round < 200; ++round) {
        std::vector<Merge> merges;
        for (std::int32_t id = 256; id < 290; ++id) {
            const auto any = [&] {
                const std::size_t k = testing::below(random, static_cast<std::size_t>(id - 252));
                return k < 4 ? static_cast<std::int32_t>('a' + k) : static_cast<std::int32_t>(252 + k);
            };
            merges.push_back({any(), any(), id});
        }
        std::shuffle(merges.begin(), merges.end(), random);
        const BytePairs p = pairs(merges);
        std::string piece;
        for (std::size_t n = testing::below(random, 150); n > 0; --n)
            piece += static_cast<char>('a' + testing::below(random, 4));
        ids_of(p, piece);
    }
}

// Merges of any kind, in any order, far wilder than those of a trained vocabulary.
std::vector<Merge> random_merges(testing::Random& random, std::size_t letters) {
    std::vector<Merge> merges;
    const auto count = static_cast<std::int32_t>(1 + testing::below(random, 40));
    const bool trained = testing::below(random, 2) == 0;
    for (std::int32_t id = 256; id < 256 + count; ++id) {
        const auto any = [&] {
            const std::size_t k = testing::below(random, letters + static_cast<std::size_t>(id - 256));
            return static_cast<std::int32_t>(k < letters ? 'a' + k : 256 + k - letters);
        };
        const bool again = !trained && testing::below(random, 20) == 0;  // a token that another merge makes, too
        merges.push_back({any(), any(), again && id > 256 ? id - 1 : id});
    }
    if (!trained) std::shuffle(merges.begin(), merges.end(), random);
    return merges;
}

// Random, repetitive or nearly repetitive letters.
std::string random_piece(testing::Random& random, std::size_t letters) {
    const auto letter = [&] { return static_cast<char>('a' + testing::below(random, letters)); };
    std::string period, piece;
    for (std::size_t n = 1 + testing::below(random, 6); n > 0; --n) period += letter();
    const std::size_t kind = testing::below(random, 3), size = testing::below(random, 400);
    while (piece.size() < size) {
        const bool other = kind == 0 || (kind == 1 && testing::below(random, 20) == 0);
        piece += other ? letter() : period[piece.size() % period.size()];
    }
    return piece;
}

TEST_CASE("byte pairs: in windows of any size a piece has the ids that it has whole", "[data][bpe][unsanitized]") {
    testing::Random random(12);
    std::size_t windows = 0;
    for (int round = 0; round < 400; ++round) {
        const std::size_t letters = 1 + testing::below(random, 4);
        const BytePairs p = pairs(random_merges(random, letters));
        for (int i = 0; i < 20; ++i) {
            const std::string piece = random_piece(random, letters);
            Ids whole, parts;
            p.append_short(piece, whole);
            p.append_long(
                piece, parts, [&] { ++windows; }, 1 + testing::below(random, 60));
            REQUIRE(parts == whole);
        }
    }
    CHECK(windows > 50'000);
}

TEST_CASE("byte pairs: a window is enough for tokens as they are learned", "[data][bpe]") {
    // hundreds of thousands of bytes in one piece: with these merges no window must grow, so memory stays small
    std::vector<Merge> doubled;
    for (std::int32_t i = 0; i < 8; ++i) doubled.push_back({i == 0 ? 'a' : 255 + i, i == 0 ? 'a' : 255 + i, 256 + i});
    const BytePairs p = pairs(doubled);
    std::size_t windows = 0;
    Ids ids;
    p.append_long(
        std::string(300'000, 'a'), ids, [&] { ++windows; }, 4096);
    CHECK(ids.size() == 300'000 / 256 + 3);  // 224 = 128 + 64 + 32
    CHECK(windows >= 300'000 / 4096);
}

TEST_CASE("byte pairs: a megabyte in one piece", "[data][bpe][unsanitized]") {
    const BytePairs p = pairs({{'a', 'a', 256}, {256, 256, 257}, {257, 257, 258}});
    Ids ids;
    p.append_ids(std::string((1 << 20) + 3, 'a'), ids);
    CHECK(ids.size() == (1 << 17) + 2);
}

TEST_CASE("byte pairs: bytes without an id", "[data][bpe]") {
    std::array<std::int32_t, 256> bytes;
    bytes.fill(-1);
    bytes['a'] = 0;
    const BytePairs p(bytes, {});
    Ids ids;
    CHECK_THROWS_WITH(p.append_short("ab", ids), contains("the byte 0x62 is not in the vocabulary"));
    CHECK_THROWS_AS(p.append_long("ab", ids), BadInput);
    CHECK_THROWS_AS(p.append_long("aaaaaaab", ids, nullptr, 4), BadInput);
}
