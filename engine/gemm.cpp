#include "engine/gemm.h"

#include <omp.h>

#include <oneapi/dnnl/dnnl.hpp>
#include <string_view>
#include <unordered_map>

#include "engine/broadcast.h"
#include "engine/strided.h"

namespace inkling {
namespace {

// A product with the batch axes merged: batch (count.., strides of a, b, c), then M, N, K with row and column strides.
struct Problem {
    Shape batch;
    std::array<Strides, 3> batch_strides;
    std::size_t m, n, k;
    std::ptrdiff_t a_row, a_col, b_row, b_col, c_row, c_col;

    template <class T>
    Problem(const Array<T>& a, const Array<T>& b, const Array<T>& c) {
        check(a.rank() >= 2 && b.rank() >= 2 && c.rank() >= 2, "gemm: matrices are required, got {}, {} and {}",
              a.shape(), b.shape(), c.shape());
        m = c.dim(-2), n = c.dim(-1), k = a.dim(-1);
        check(a.dim(-2) == m && b.dim(-1) == n && b.dim(-2) == k,
              "gemm: (M, K) (K, N) -> (M, N) is required, got {}, {} and {}", a.shape(), b.shape(), c.shape());
        const Shape full(c.shape().begin(), c.shape().end() - 2);
        const auto with_batch = [&full](const Array<T>& x) {
            Shape shape = full;
            shape.push_back(x.dim(-2));
            shape.push_back(x.dim(-1));
            return x.broadcasted(shape);
        };
        const Array<T> wide_a = with_batch(a), wide_b = with_batch(b);
        a_row = row_stride(wide_a), a_col = column_stride(wide_a);
        b_row = row_stride(wide_b), b_col = column_stride(wide_b);
        c_row = row_stride(c), c_col = column_stride(c);
        const StridedLoop<3> merged(full, {&wide_a.strides(), &wide_b.strides(), &c.strides()});
        batch = merged.shape;
        batch_strides = merged.strides;
    }

    std::size_t batches() const { return size_of(batch); }

    std::ptrdiff_t batch_offset(std::size_t operand, std::size_t index) const {
        std::ptrdiff_t offset = 0;
        for (std::size_t axis = batch.size(); axis-- > 0; index /= batch[axis]) {
            offset += static_cast<std::ptrdiff_t>(index % batch[axis]) * batch_strides[operand][axis];
        }
        return offset;
    }

  private:
    template <class T>
    static std::ptrdiff_t row_stride(const Array<T>& x) {
        return x.strides()[x.rank() - 2];
    }
    template <class T>
    static std::ptrdiff_t column_stride(const Array<T>& x) {
        return x.strides()[x.rank() - 1];
    }
};

template <class T>
void plain(const Problem& p, const T* a, const T* b, T* c, bool accumulate, const T* bias) {
    const std::size_t row_work = p.n * (p.k + 1);
    const auto one_batch = [&](const T* A, const T* B, T* C, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const auto row = static_cast<std::ptrdiff_t>(i);
            T* const ci = C + row * p.c_row;
            const T* const ai = A + row * p.a_row;
            for (std::size_t j = 0; j < p.n; ++j) {
                T& cij = ci[static_cast<std::ptrdiff_t>(j) * p.c_col];
                cij = (accumulate ? cij : T{0}) + (bias ? bias[j] : T{0});
            }
            for (std::size_t kk = 0; kk < p.k; ++kk) {  // B by rows, so that the inner loop runs along C's row
                const auto depth = static_cast<std::ptrdiff_t>(kk);
                const T aik = ai[depth * p.a_col];
                const T* const bk = B + depth * p.b_row;
                if (p.b_col == 1 && p.c_col == 1) {
                    for (std::size_t j = 0; j < p.n; ++j) ci[j] += aik * bk[j];
                } else {
                    for (std::size_t j = 0; j < p.n; ++j) {
                        const auto column = static_cast<std::ptrdiff_t>(j);
                        ci[column * p.c_col] += aik * bk[column * p.b_col];
                    }
                }
            }
        }
    };
    parallel_rows(p.batches() * p.m, row_work, [&](std::size_t begin, std::size_t end) {
        while (begin < end) {  // rows of all batches, one batch at a time
            const std::size_t batch = begin / p.m, first = begin % p.m;
            const std::size_t last = std::min(p.m, first + (end - begin));
            one_batch(a + p.batch_offset(0, batch), b + p.batch_offset(1, batch), c + p.batch_offset(2, batch), first,
                      last);
            begin += last - first;
        }
    });
}

// ---- oneDNN. A primitive is made once for each shape, layout and number of threads, and kept with its memory objects.

using Dims = dnnl::memory::dims;

struct Matrix {  // what a memory descriptor needs; a stride of 1 in one of the two directions
    Dims dims, strides;
};

// Row or column strides of a size-1 axis mean nothing: give them the value that a dense matrix would have.
void mend_strides(std::size_t rows, std::size_t cols, std::ptrdiff_t& row, std::ptrdiff_t& col) {
    if (cols == 1 && row != 1) col = 1;
    if (rows == 1 && col != 1) row = 1;
    if (cols == 1 && row == 1 && col != 1) col = static_cast<std::ptrdiff_t>(rows);
    if (rows == 1 && col == 1) row = static_cast<std::ptrdiff_t>(cols);
}

bool has_layout(std::size_t rows, std::size_t cols, std::ptrdiff_t row, std::ptrdiff_t col) {
    return (col == 1 && row >= static_cast<std::ptrdiff_t>(cols)) ||
           (row == 1 && col >= static_cast<std::ptrdiff_t>(rows));
}

Matrix matrix(const Problem& p, std::size_t operand, std::size_t rows, std::size_t cols, std::ptrdiff_t row,
              std::ptrdiff_t col) {
    Matrix result;
    if (p.batches() > 1) {
        for (std::size_t axis = 0; axis < p.batch.size(); ++axis) {
            const std::ptrdiff_t stride = p.batch_strides[operand][axis];
            result.dims.push_back(stride == 0 ? 1 : static_cast<dnnl::memory::dim>(p.batch[axis]));
            result.strides.push_back(stride == 0 ? static_cast<dnnl::memory::dim>(rows * cols) : stride);
        }
    }
    result.dims.insert(result.dims.end(), {static_cast<std::ptrdiff_t>(rows), static_cast<std::ptrdiff_t>(cols)});
    result.strides.insert(result.strides.end(), {row, col});
    return result;
}

struct Product {  // a primitive with its arguments; the data pointers are set at each call
    dnnl::matmul primitive;
    dnnl::memory a, b, c, bias, scratch;
    std::unordered_map<int, dnnl::memory> arguments;
    bool steady;  // the same bits with any number of threads
};

const dnnl::engine& cpu() {
    static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    return engine;
}

Product make_product(const Matrix& a, const Matrix& b, const Matrix& c, bool accumulate, bool with_bias) {
    using dnnl::memory;
    constexpr auto f32 = memory::data_type::f32;
    const memory::desc da(a.dims, f32, a.strides), db(b.dims, f32, b.strides), dc(c.dims, f32, c.strides);
    Dims bias_dims(c.dims.size(), 1), bias_strides(c.dims.size(), c.dims.back());
    bias_dims.back() = c.dims.back();
    bias_strides.back() = 1;
    const memory::desc dbias = with_bias ? memory::desc(bias_dims, f32, bias_strides) : memory::desc();
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    if (accumulate) {
        dnnl::post_ops sum;
        sum.append_sum(1.0f);
        attributes.set_post_ops(sum);
    }
#if DNNL_VERSION_MAJOR >= 3
    const dnnl::matmul::primitive_desc description(cpu(), da, db, dbias, dc, attributes);
#else
    const auto operation = with_bias ? dnnl::matmul::desc(da, db, dbias, dc) : dnnl::matmul::desc(da, db, dc);
    const dnnl::matmul::primitive_desc description(operation, attributes, cpu());
#endif
    Product product{
        dnnl::matmul(description), {da, cpu(), nullptr}, {db, cpu(), nullptr}, {dc, cpu(), nullptr}, {}, {}, {}, false};
    product.steady = std::string_view(description.impl_info_str()).find("brg") != std::string_view::npos;
    product.arguments = {{DNNL_ARG_SRC, product.a}, {DNNL_ARG_WEIGHTS, product.b}, {DNNL_ARG_DST, product.c}};
    if (with_bias) product.arguments[DNNL_ARG_BIAS] = product.bias = memory(dbias, cpu(), nullptr);
    if (description.scratchpad_desc().get_size() > 0) {
        product.scratch = memory(description.scratchpad_desc(), cpu(), nullptr);
        product.arguments[DNNL_ARG_SCRATCHPAD] = product.scratch;
    }
    return product;
}

struct KeyHash {
    std::size_t operator()(const std::vector<std::int64_t>& key) const {
        std::size_t h = 1469598103934665603ull;  // FNV-1a over words
        for (const auto word : key) h = (h ^ static_cast<std::size_t>(word)) * 1099511628211ull;
        return h;
    }
};

Product& product_for(const Matrix& a, const Matrix& b, const Matrix& c, bool accumulate, bool with_bias) {
    thread_local std::unordered_map<std::vector<std::int64_t>, Product, KeyHash> products;
    thread_local std::vector<std::int64_t> key;
    key.assign({omp_in_parallel() ? 1 : omp_get_max_threads(), accumulate, with_bias});
    for (const Matrix* x : {&a, &b, &c}) {
        key.insert(key.end(), x->dims.begin(), x->dims.end());
        key.insert(key.end(), x->strides.begin(), x->strides.end());
    }
    auto found = products.find(key);
    if (found == products.end()) found = products.emplace(key, make_product(a, b, c, accumulate, with_bias)).first;
    return found->second;
}

void execute(Product& product, const float* pa, const float* pb, float* pc, const float* bias) {
    thread_local dnnl::stream stream(cpu());
    thread_local std::unique_ptr<Buffer> scratch;
    product.a.set_data_handle(const_cast<float*>(pa));
    product.b.set_data_handle(const_cast<float*>(pb));
    product.c.set_data_handle(pc);
    if (bias) product.bias.set_data_handle(const_cast<float*>(bias));
    if (product.scratch) {
        const std::size_t bytes = product.scratch.get_desc().get_size();
        if (!scratch || scratch->capacity < bytes) scratch = std::make_unique<Buffer>(bytes);
        product.scratch.set_data_handle(scratch->data);
    }
    product.primitive.execute(stream, product.arguments);
    stream.wait();
}

// With many threads and a small result oneDNN splits a long K over the threads, and the bits would depend on their
// number: such products are cut here, into pieces that are always the same.
constexpr std::size_t kLongestDepth = 1024, kSmallResult = 512 * 512;
constexpr std::size_t kPlainWork = 4096;  // multiply-adds below which the plain loop is faster than a call

struct OneThread {
    const int before = omp_get_max_threads();
    OneThread() { omp_set_num_threads(1); }
    ~OneThread() { omp_set_num_threads(before); }
};

// Kernels of oneDNN other than brgemm (before AVX-512, and for some strides) divide a product among the threads in ways
// that change its bits: it is cut into tiles that are always the same, and each is computed by one thread.
void tiled(const Problem& p, std::size_t from, const float* a, const float* b, float* c, bool accumulate,
           const float* bias) {
    const auto pieces = [](std::size_t length, std::size_t edge) { return (length + edge - 1) / edge; };
    const auto even = [&](std::size_t length) {  // at most 192, a multiple of 16, and no small rest
        return pieces(pieces(length, pieces(length, 192)), 16) * 16;
    };
    const std::size_t height = even(p.m), width = even(p.n);
    const std::size_t down = pieces(p.m, height), across = pieces(p.n, width), depth = p.k - from;
    const auto dims = [](std::size_t rows, std::size_t columns) {
        return Dims{static_cast<std::ptrdiff_t>(rows), static_cast<std::ptrdiff_t>(columns)};
    };
    parallel_for(p.batches() * down * across, 1, [&](std::size_t begin, std::size_t end) {
        const OneThread scope;
        for (std::size_t tile = begin; tile < end; ++tile) {
            const std::size_t batch = tile / (down * across), i = tile / across % down * height,
                              j = tile % across * width;
            const std::size_t rows = std::min(height, p.m - i), columns = std::min(width, p.n - j);
            const auto row = static_cast<std::ptrdiff_t>(i), column = static_cast<std::ptrdiff_t>(j),
                       k = static_cast<std::ptrdiff_t>(from);
            Product& product =
                product_for({dims(rows, depth), {p.a_row, p.a_col}}, {dims(depth, columns), {p.b_row, p.b_col}},
                            {dims(rows, columns), {p.c_row, p.c_col}}, accumulate, bias != nullptr);
            execute(product, a + p.batch_offset(0, batch) + row * p.a_row + k * p.a_col,
                    b + p.batch_offset(1, batch) + k * p.b_row + column * p.b_col,
                    c + p.batch_offset(2, batch) + row * p.c_row + column * p.c_col, bias ? bias + j : nullptr);
        }
    });
}

void onednn(Problem p, const float* a, const float* b, float* c, bool accumulate, const float* bias) {
    mend_strides(p.m, p.k, p.a_row, p.a_col);
    mend_strides(p.k, p.n, p.b_row, p.b_col);
    mend_strides(p.m, p.n, p.c_row, p.c_col);
    for (std::size_t axis = 0; axis < p.batch.size() && p.batches() > 1; ++axis) {
        if (p.batch_strides[0][axis] == 0 && p.batch_strides[1][axis] == 0) {  // oneDNN takes one of the two
            return tiled(p, 0, a, b, c, accumulate, bias);
        }
    }
    const Matrix mc = matrix(p, 2, p.m, p.n, p.c_row, p.c_col);
    const std::size_t piece = p.m * p.n < kSmallResult ? kLongestDepth : p.k;
    for (std::size_t k = 0; k < p.k; k += piece) {
        const std::size_t depth = std::min(piece, p.k - k);
        Product& product = product_for(matrix(p, 0, p.m, depth, p.a_row, p.a_col),
                                       matrix(p, 1, depth, p.n, p.b_row, p.b_col), mc, accumulate || k > 0, bias && !k);
        if (!product.steady) return tiled(p, k, a, b, c, accumulate || k > 0, k == 0 ? bias : nullptr);
        execute(product, a + static_cast<std::ptrdiff_t>(k) * p.a_col, b + static_cast<std::ptrdiff_t>(k) * p.b_row, c,
                k == 0 ? bias : nullptr);
    }
}

template <class T>
bool multipliable(const Array<T>& x) {  // one of the two last axes is dense, once size-1 axes are set aside
    std::ptrdiff_t row = x.strides()[x.rank() - 2], col = x.strides()[x.rank() - 1];
    // oneDNN 3.7 computes wrong products of a single row or column with gaps between its elements.
    if ((x.dim(-1) == 1 && x.dim(-2) > 1 && row != 1) || (x.dim(-2) == 1 && x.dim(-1) > 1 && col != 1)) return false;
    mend_strides(x.dim(-2), x.dim(-1), row, col);
    return has_layout(x.dim(-2), x.dim(-1), row, col);
}

template <class T>
const T* bias_data(const Array<T>& bias, const Array<T>& c) {
    if (!bias.defined()) return nullptr;
    check(bias.rank() == 1 && bias.dim(0) == c.dim(-1) && bias.is_contiguous(),
          "gemm: a bias of one number a column is required, got {} for {}", bias.shape(), c.shape());
    return bias.data();
}

}  // namespace

template <class T>
void gemm_plain(const Array<T>& a, const Array<T>& b, Array<T>& c, GemmOptions options, const Array<T>& bias) {
    plain(Problem(a, b, c), a.data(), b.data(), c.data(), options.accumulate, bias_data(bias, c));
}

template <>
void gemm(const Array<double>& a, const Array<double>& b, Array<double>& c, GemmOptions options,
          const Array<double>& bias) {
    gemm_plain(a, b, c, options, bias);
}

template <>
void gemm(const Array<float>& a, const Array<float>& b, Array<float>& c, GemmOptions options,
          const Array<float>& bias) {
    const Problem p(a, b, c);
    if (p.batches() * p.m * p.n * p.k < kPlainWork) {
        plain(p, a.data(), b.data(), c.data(), options.accumulate, bias_data(bias, c));
    } else if (!multipliable(a) || !multipliable(b)) {
        gemm(a.contiguous(), b.contiguous(), c, options, bias);
    } else if (multipliable(c) && (c.dim(-1) == 1 || c.strides()[c.rank() - 1] == 1)) {
        onednn(p, a.data(), b.data(), c.data(), options.accumulate, bias_data(bias, c));
    } else if (multipliable(c) && !bias.defined()) {  // C^T = B^T A^T
        Array<float> ct = c.transposed(-2, -1);
        gemm(b.transposed(-2, -1), a.transposed(-2, -1), ct, options);
    } else {
        Array<float> dense = options.accumulate ? c.clone() : Array<float>(c.shape());
        gemm(a, b, dense, options, bias);
        copy_into(c, dense);
    }
}

template void gemm_plain(const Array<float>&, const Array<float>&, Array<float>&, GemmOptions, const Array<float>&);
template void gemm_plain(const Array<double>&, const Array<double>&, Array<double>&, GemmOptions, const Array<double>&);

}  // namespace inkling
