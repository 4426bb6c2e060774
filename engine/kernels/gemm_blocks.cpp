// Products in blocks that stay in the caches, after Goto and van de Geijn, "Anatomy of high-performance matrix
// multiplication" (2008). B is packed into panels as wide as a register tile, which all threads share. Then each thread
// takes blocks of C, prepares the rows of A for a block as words, and runs register tiles (tile_product.h) over it. One
// thread sums an element of C along K, in order, so any number of threads gives the same bits.
#include "engine/base/parallel.h"
#include "engine/kernels/gemm_panels.h"
#include "engine/memory/buffer_pool.h"

namespace inkling::kernels {
namespace {

constexpr std::size_t kDepth = 1024;             // words of K in a block: 8 rows of A stay in L1, a panel of B in L2
constexpr std::size_t kHeight = 96;              // rows of C in a block: their rows of A stay in L2
constexpr std::size_t kWidth = 4096;             // columns of B to pack at a time: they stay in L3
constexpr std::size_t kMinCut = 128;             // the fewest words of K that a thread packs
constexpr std::size_t kInPlace = 1 << 18;        // numbers of B to read without packing: they stay in L2
constexpr std::size_t kInPlaceNarrow = 1 << 17;  // the same for tiles one cache line wide: the CPU does not prefetch
constexpr std::size_t kWorkPerThread = 1 << 19;  // multiply-adds that are worth a thread
constexpr std::size_t kMinShares = 32;           // the fewest pieces of work, so that the threads get equal shares
constexpr std::size_t kSharesPerThread = 4;      // the fewest pieces of work for each thread
constexpr std::size_t kPacked = std::size_t{8} << 20;             // bytes of B to pack before the threads meet: in L3
constexpr std::size_t kPackedPerThread = std::size_t{256} << 10;  // the same for few threads: in their L2

std::size_t pieces(std::size_t count, std::size_t max) { return (count + max - 1) / max; }

// The length of the most even pieces that are multiples of `unit`.
std::size_t even(std::size_t count, std::size_t max, std::size_t unit) {
    return pieces(pieces(count, pieces(count, max)), unit) * unit;
}

// Rows of C (+)= rows of A times panels of B, through one block of K.
template <class Word, class T>
struct Strip {
    static constexpr std::size_t W = Vec<T>::size, kTileRows = Tile<T>::rows, kTileColumns = Tile<T>::vectors * W;
    std::size_t rows = 0, columns, words;
    const Word* a = nullptr;
    std::ptrdiff_t a_row = 0, a_col = 0, a_tile = 0;  // steps to the next row, word, and row of tiles
    const Word* b;
    std::ptrdiff_t b_row, b_panel;  // steps to the next word and panel
    T* c = nullptr;
    std::ptrdiff_t c_row;
    bool accumulate;
    const T* bias;
    LinesAhead fetch{};

    void panel(std::size_t p) {
        const std::size_t first = p * kTileColumns, wide = std::min(kTileColumns, columns - first);
        if (wide > 2 * W) {
            tiles<Tile<T>::vectors>(first, wide);
        } else if (wide > W) {
            tiles<2>(first, wide);
        } else {
            tiles<1>(first, wide);
        }
    }

    template <std::size_t Vectors>
    void tiles(std::size_t first, std::size_t wide) {
        alignas(64) T ragged[kTileRows * kTileColumns] = {};  // replaces a tile of C with a ragged end
        const bool whole = wide == Vectors * W;
        alignas(64) T ragged_bias[kTileColumns] = {};
        if (bias && !whole) std::copy_n(bias + first, wide, ragged_bias);
        const T* const start = !bias ? nullptr : whole ? bias + first : ragged_bias;
        const std::ptrdiff_t tile_row = whole ? c_row : static_cast<std::ptrdiff_t>(kTileColumns);
        for (std::size_t i = 0; i < rows; i += kTileRows) {
            const std::size_t high = std::min(kTileRows, rows - i);
            T* const to = c + static_cast<std::ptrdiff_t>(i) * c_row + first;
            T* const tile = whole ? to : ragged;
            const Word* const left = a + static_cast<std::ptrdiff_t>(i / kTileRows) * a_tile;
            for (std::size_t r = 0; r < high && accumulate && !whole; ++r) {
                std::copy_n(to + static_cast<std::ptrdiff_t>(r) * c_row, wide,
                            tile + static_cast<std::ptrdiff_t>(r) * tile_row);
            }
            product_strip<Vectors, kTileRows>(high, words, left, a_row, a_col,
                                              b + static_cast<std::ptrdiff_t>(first / kTileColumns) * b_panel, b_row,
                                              tile, tile_row, accumulate, start, fetch);
            for (std::size_t r = 0; r < high && !whole; ++r) {
                std::copy_n(tile + static_cast<std::ptrdiff_t>(r) * tile_row, wide,
                            to + static_cast<std::ptrdiff_t>(r) * c_row);
            }
        }
    }
};

template <class Format, class A, class B>
struct Product {
    using Word = typename Format::Word;
    using T = typename Format::Result;
    using Rows = Strip<Word, T>;
    static constexpr std::size_t numbers = Format::numbers, R = Rows::kTileRows, C = Rows::kTileColumns;

    std::size_t m, n, k;
    OperandView<Format, A> a;
    OperandView<Format, B> b;
    T* c;
    std::ptrdiff_t c_row;
    bool accumulate;
    const T* bias;

    void run() const {
        const std::size_t deepest = a.along == 1 ? kDepth : kDepth / 2;  // columns of A lie far apart
        const std::size_t width = even(n, kWidth, C), depth = even(k, deepest * numbers, numbers);
        const bool in_place = takes_in_place(b, depth, std::min(width, n));
        // Packs several blocks of K at a time, because each packing ends in a barrier.
        const std::size_t packed = even(std::min(width, n), n, C) * pieces(depth, numbers) * sizeof(Word);
        const std::size_t blocks =
            in_place ? k : std::max<std::size_t>(1, std::min(kPacked, kPackedPerThread * max_threads()) / packed);
        const std::size_t deep = std::min(pieces(k, depth), blocks) * depth;
        const Buffer panels(in_place ? 0 : packed * (deep / depth));
        for (std::size_t j = 0; j < n; j += width) {
            for (std::size_t from = 0; from < k; from += deep) {
                const Part part{j, std::min(width, n - j), from, std::min(deep, k - from), depth};
                if (!in_place) pack(part, static_cast<Word*>(panels.data));
                multiply(part, in_place ? nullptr : static_cast<Word*>(panels.data));
            }
        }
    }

    struct Part {
        std::size_t j, columns, from, deep, depth;  // columns [j, j + columns) of C, K [from, from + deep) by `depth`
    };

    // Packs panels of B, one block of K after the other. A thread packs some panels of a piece of K.
    void pack(const Part& part, Word* panels) const {
        const std::size_t across = pieces(part.columns, C), all = pieces(part.deep, part.depth);
        const std::size_t cuts = pieces(kSharesPerThread * max_threads(), across * all);
        const std::size_t cut = even(part.depth, std::max(kMinCut * numbers, pieces(part.depth, cuts)), 16 * numbers);
        const std::size_t per_block = pieces(part.depth, cut);
        const auto work = [&](std::size_t begin, std::size_t end) {
            auto* const scratch =
                static_cast<Word*>(thread_memory(b.along == 1 ? C * cut / numbers * sizeof(Word) : 0));
            for (std::size_t i = begin; i < end;) {
                const std::size_t first = i % across, last = std::min(across, first + end - i), piece = i / across;
                i += last - first;
                const std::size_t block = piece / per_block * part.depth, at = piece % per_block * cut;
                const std::size_t depth = std::min(part.depth, part.deep - block);
                if (at >= depth) continue;
                pack_panels<C>(b.at(part.from + block + at, part.j), std::min(cut, depth - at), part.columns, first,
                               last, panels + (block * across + at) / numbers * C, pieces(depth, numbers) * C, scratch);
            }
        };
        parallel_for(across * all * per_block, std::max<std::size_t>(1, kWorkPerThread / 16 / (cut * C)), work);
    }

    // Without panels, B is read in place.
    void multiply(const Part& part, const Word* panels) const {
        const std::size_t across = pieces(part.columns, C), end_of_k = part.from + part.deep;
        const std::size_t min_shares = std::max(kMinShares, kSharesPerThread * max_threads());
        std::size_t high = kHeight;
        while (high > R && pieces(m, high) * across < min_shares) high = pieces(high / 2, R) * R;
        // As even as whole tiles allow, so that threads with equally many blocks have equal work.
        const std::size_t down = pieces(m, high), shares = down * across;
        const auto start = [&](std::size_t i) { return std::min(m, pieces(m, R) * i / down * R); };
        const auto ahead = [&](std::size_t k0, std::size_t i) {
            return k0 < k ? LinesAhead(a.at(k0, start(i)), std::min(part.depth, k - k0), start(i + 1) - start(i))
                          : LinesAhead();
        };
        const auto work = [&](std::size_t begin, std::size_t end) {
            auto* const room =
                static_cast<Word*>(thread_memory((high + R) * pieces(part.depth, numbers) * sizeof(Word)));
            for (std::size_t from = part.from; from < end_of_k; from += part.depth) {
                const std::size_t deep = std::min(part.depth, end_of_k - from), words = pieces(deep, numbers);
                const OperandView<Format, B> right = b.at(from, part.j);
                Rows rows{.columns = part.columns,
                          .words = words,
                          .b = panels ? panels + (from - part.from) / numbers * across * C : right.words(),
                          .b_row = panels ? static_cast<std::ptrdiff_t>(C) : right.along,
                          .b_panel = static_cast<std::ptrdiff_t>(panels ? C * words : C),
                          .c_row = c_row,
                          .accumulate = accumulate || from > 0,
                          .bias = from == 0 && bias ? bias + part.j : nullptr};
                for (std::size_t share = begin; share < end; ++share) {
                    const std::size_t i = share / across;
                    if (share == begin || share % across == 0) {
                        rows.rows = start(i + 1) - start(i);
                        rows.c = c + static_cast<std::ptrdiff_t>(start(i)) * c_row + part.j;
                        take_rows(a.at(from, start(i)), deep, rows, room);
                        // The next rows are those below, or the first rows again, further along K.
                        rows.fetch = (i + 1) * across < end ? ahead(from, i + 1) : ahead(from + deep, begin / across);
                    }
                    rows.panel(share % across);
                }
            }
        };
        parallel_for(shares, std::max<std::size_t>(1, kWorkPerThread / (high * C * part.deep)), work);
    }

    // Reads a small matrix with rows of whole vectors in place: packing would take as long as it saves.
    static bool takes_in_place(const OperandView<Format, B>& x, std::size_t deep, std::size_t columns) {
        return std::is_same_v<B, Word> && std::is_same_v<Format, Full<B>> && x.across == 1 && columns % Rows::W == 0 &&
               static_cast<std::size_t>(x.along) * deep <= (Tile<T>::many_registers ? kInPlace : kInPlaceNarrow);
    }

    // Uses rows of words in place; else packs dense rows; else uses adjacent columns in place, if they are words and a
    // tile takes at least half a cache line of them; else packs panels.
    void take_rows(const OperandView<Format, A>& x, std::size_t deep, Rows& rows, Word* room) const {
        const auto step = static_cast<std::ptrdiff_t>(rows.words);
        if (x.has_words(deep)) {
            rows.a = x.words(), rows.a_row = x.across / static_cast<std::ptrdiff_t>(numbers), rows.a_col = 1;
        } else if (x.along == 1) {
            pack_rows(x, deep, rows.rows, room, rows.words);
            rows.a = room, rows.a_row = step, rows.a_col = 1;
        } else if (Tile<T>::many_registers && std::is_same_v<A, Word> && std::is_same_v<Format, Full<A>>) {
            rows.a = x.words(), rows.a_row = x.across, rows.a_col = x.along;
        } else {
            pack_panels<R>(x, deep, rows.rows, 0, pieces(rows.rows, R), room, R * rows.words,
                           room + even(rows.rows, rows.rows, R) * rows.words);
            rows.a = room, rows.a_row = 1, rows.a_col = static_cast<std::ptrdiff_t>(R);
            rows.a_tile = static_cast<std::ptrdiff_t>(R) * step;
            return;
        }
        rows.a_tile = static_cast<std::ptrdiff_t>(R) * rows.a_row;
    }
};

}  // namespace

template <class Format, class A, class B>
void blocks(const GemmShape& p, const A* a, const B* b, typename Format::Result* c, bool accumulate,
            const typename Format::Result* bias) {
    const auto batch = [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            Product<Format, A, B>{p.m,
                                  p.n,
                                  p.k,
                                  {a + p.batch_offset(0, i), p.a_col, p.a_row},
                                  {b + p.batch_offset(1, i), p.b_row, p.b_col},
                                  c + p.batch_offset(2, i),
                                  p.c_row,
                                  accumulate,
                                  bias}
                .run();
        }
    };
    const std::size_t each = p.m * p.n * p.k;
    if (p.batches() >= 8 && each < 32 * kWorkPerThread) {
        parallel_for(p.batches(), std::max<std::size_t>(1, kWorkPerThread / each), batch);
    } else {
        batch(0, p.batches());
    }
}

#define INKLING_INSTANCE(Format, A, B) \
    template void blocks<Format>(const GemmShape&, const A*, const B*, Format::Result*, bool, const Format::Result*);
INKLING_FOR_EACH_PRODUCT(INKLING_INSTANCE)
INKLING_FOR_EACH_PAIR_PRODUCT(INKLING_INSTANCE)

}  // namespace inkling::kernels
