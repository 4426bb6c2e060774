#include "data/tokenizers/bpe/byte_pairs.h"

#include "tests/data/tokenizers/bpe_reference.h"

using Ids = std::vector<std::int32_t>;

// The bytes as ids 0 to 255.
static Ids ids_of_bytes(std::string_view piece) {
    Ids ids;
    for (const char c : piece) ids.push_back(static_cast<unsigned char>(c));
    return ids;
}

// Tries the merges one by one, in the order learned; of two merges of a pair only the later.
static Ids merged_by_trial(const std::vector<Merge>& merges, std::string_view piece) {
    Ids ids = ids_of_bytes(piece);
    const auto is_last = [&](const Merge& m) {
        return std::none_of(&m + 1, merges.data() + merges.size(),
                            [&](const Merge& later) { return later.left == m.left && later.right == m.right; });
    };
    for (auto m = merges.begin(); m != merges.end();) {
        const std::int32_t pair[] = {m->left, m->right};
        const auto at = is_last(*m) ? std::search(ids.begin(), ids.end(), pair, pair + 2) : ids.end();
        if (at == ids.end()) {
            ++m;
            continue;
        }
        *at = m->merged;
        ids.erase(at + 1);
        m = merges.begin();  // the new token may be part of an earlier merge
    }
    return ids;
}

static Ids ids_of_long(const BytePairs& p, std::string_view piece, std::size_t window = 1 << 18,
                       const BytePairs::Between& between = nullptr) {
    Ids ids;
    const Ids bytes = ids_of_bytes(piece);
    p.append_long(
        bytes.size(), [&](std::size_t i) { return bytes[i]; }, ids, between, window);
    return ids;
}

static Ids ids_of(const std::vector<Merge>& merges, std::string_view piece) {
    const BytePairs p(merges);
    Ids ids = {-7};  // append_ids() keeps the ids before its own
    const Ids bytes = ids_of_bytes(piece);
    p.append_ids(
        bytes.size(), [&](std::size_t i) { return bytes[i]; }, ids);
    REQUIRE(ids[0] == -7);
    ids.erase(ids.begin());
    REQUIRE(ids_of_long(p, piece) == ids);
    return ids;
}

TEST_CASE("byte pairs: the merge learned first, then the leftmost, and how far a window must see", "[data][bpe]") {
    const std::vector<Merge> p = {{'b', 'c', 256}, {'a', 'b', 257}, {257, 257, 258}, {'a', 'a', 259}, {259, 'a', 260}};
    CHECK_ALL(ids_of(p, "") == Ids{}, ids_of(p, "x") == Ids{'x'});
    CHECK(ids_of(p, "abc") == Ids{'a', 256});
    CHECK(ids_of(p, "abab") == Ids{258});
    CHECK(ids_of(p, "ababab") == Ids{258, 257});
    CHECK(ids_of(p, "aaaaa") == Ids{259, 260});
    CHECK(ids_of(p, "\xFF\x80") == Ids{255, 128});
    CHECK(ids_of({{'a', 'b', 256}, {'b', 'c', 257}, {'a', 'b', 256}}, "abc") == Ids{'a', 257});
    CHECK(ids_of({{'a', 'b', 256}, {'b', 'c', 257}}, "abc") == Ids{256, 'c'});
    // hundreds of thousands of bytes in one piece: with these merges no window must grow, so memory stays small
    std::vector<Merge> doubled;
    for (std::int32_t i = 0; i < 8; ++i) doubled.push_back({i == 0 ? 'a' : 255 + i, i == 0 ? 'a' : 255 + i, 256 + i});
    std::size_t windows = 0;
    const Ids ids = ids_of_long(BytePairs(doubled), std::string(300'000, 'a'), 4096, [&] { ++windows; });
    CHECK(ids.size() == 300'000 / 256 + 3);  // 224 = 128 + 64 + 32
    CHECK(windows >= 300'000 / 4096);
}

// Merges of any kind, in any order, far wilder than those of a trained vocabulary.
static std::vector<Merge> random_merges(testing::Random& random, std::size_t letters) {
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
static std::string random_piece(testing::Random& random, std::size_t letters) {
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

TEST_CASE("byte pairs: a piece has the ids of merging one by one, of 1 MB too", "[data][bpe][unsanitized]") {
    testing::Random random(12);
    std::size_t windows = 0;
    for (int round = 0; round < 400; ++round) {
        const std::size_t letters = 1 + testing::below(random, 4);
        const std::vector<Merge> merges = random_merges(random, letters);
        for (int i = 0; i < 20; ++i) {
            const std::string piece = random_piece(random, letters);
            const Ids whole = ids_of(merges, piece);
            REQUIRE(whole == merged_by_trial(merges, piece));
            REQUIRE(ids_of_long(BytePairs(merges), piece, 1 + testing::below(random, 60), [&] { ++windows; }) == whole);
        }
    }
    CHECK(windows > 50'000);
    const BytePairs p({{'a', 'a', 256}, {256, 256, 257}, {257, 257, 258}});
    Ids ids;
    p.append_ids((1 << 20) + 3, [](std::size_t) { return 'a'; }, ids);
    CHECK(ids.size() == (1 << 17) + 2);
}
