// oneDNN's matmul. A primitive is made once for each type, shape, layout and number of threads, and kept with its
// memory objects. This is the only file that knows oneDNN.
#include <omp.h>

#include <oneapi/dnnl/dnnl.hpp>
#include <string_view>
#include <unordered_map>

#include "engine/gemm_kernels.h"
#include "engine/parallel.h"

namespace inkling::kernels {
namespace {

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

template <class In>
constexpr auto kType = std::is_same_v<In, BFloat16> ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;

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

Product make_product(dnnl::memory::data_type type, const Matrix& a, const Matrix& b, const Matrix& c, bool accumulate,
                     bool with_bias) {
    using dnnl::memory;
    constexpr auto f32 = memory::data_type::f32;
    const memory::desc da(a.dims, type, a.strides), db(b.dims, type, b.strides), dc(c.dims, f32, c.strides);
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

Product& product_for(dnnl::memory::data_type type, const Matrix& a, const Matrix& b, const Matrix& c, bool accumulate,
                     bool with_bias) {
    thread_local std::unordered_map<std::vector<std::int64_t>, Product, KeyHash> products;
    thread_local std::vector<std::int64_t> key;
    key.assign({static_cast<int>(type), omp_in_parallel() ? 1 : omp_get_max_threads(), accumulate, with_bias});
    for (const Matrix* x : {&a, &b, &c}) {
        key.insert(key.end(), x->dims.begin(), x->dims.end());
        key.insert(key.end(), x->strides.begin(), x->strides.end());
    }
    auto found = products.find(key);
    if (found == products.end())
        found = products.emplace(key, make_product(type, a, b, c, accumulate, with_bias)).first;
    return found->second;
}

template <class In>
void execute(Product& product, const In* pa, const In* pb, float* pc, const float* bias) {
    thread_local dnnl::stream stream(cpu());
    thread_local std::unique_ptr<Buffer> scratch;
    product.a.set_data_handle(const_cast<In*>(pa));
    product.b.set_data_handle(const_cast<In*>(pb));
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
constexpr std::size_t kWorthThreads = 1 << 20;  // multiply-adds; less is done before a second thread has woken up

struct OneThread {
    const int before = omp_get_max_threads();
    explicit OneThread(bool wanted = true) {
        if (wanted) omp_set_num_threads(1);
    }
    ~OneThread() { omp_set_num_threads(before); }
};

// Kernels of oneDNN other than brgemm (before AVX-512, and for some strides) divide a product among the threads in ways
// that change its bits: it is cut into tiles that are always the same, and each is computed by one thread.
template <class In>
void tiled(const Problem& p, std::size_t from, const In* a, const In* b, float* c, bool accumulate, const float* bias) {
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
            Product& product = product_for(kType<In>, {dims(rows, depth), {p.a_row, p.a_col}},
                                           {dims(depth, columns), {p.b_row, p.b_col}},
                                           {dims(rows, columns), {p.c_row, p.c_col}}, accumulate, bias != nullptr);
            execute(product, a + p.batch_offset(0, batch) + row * p.a_row + k * p.a_col,
                    b + p.batch_offset(1, batch) + k * p.b_row + column * p.b_col,
                    c + p.batch_offset(2, batch) + row * p.c_row + column * p.c_col, bias ? bias + j : nullptr);
        }
    });
}

}  // namespace

template <class T>
bool fits_onednn(const Array<T>& x) {  // one of the two last axes is dense, once size-1 axes are set aside
    std::ptrdiff_t row = x.strides()[x.rank() - 2], col = x.strides()[x.rank() - 1];
    // oneDNN 3.7 computes wrong products of a single row or column with gaps between its elements.
    if ((x.dim(-1) == 1 && x.dim(-2) > 1 && row != 1) || (x.dim(-2) == 1 && x.dim(-1) > 1 && col != 1)) return false;
    mend_strides(x.dim(-2), x.dim(-1), row, col);
    return has_layout(x.dim(-2), x.dim(-1), row, col);
}

template <class In>
void onednn(Problem p, const In* a, const In* b, float* c, bool accumulate, const float* bias) {
    const OneThread scope(p.work() < kWorthThreads);
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
        Product& product = product_for(kType<In>, matrix(p, 0, p.m, depth, p.a_row, p.a_col),
                                       matrix(p, 1, depth, p.n, p.b_row, p.b_col), mc, accumulate || k > 0, bias && !k);
        if (!product.steady) return tiled(p, k, a, b, c, accumulate || k > 0, k == 0 ? bias : nullptr);
        execute(product, a + static_cast<std::ptrdiff_t>(k) * p.a_col, b + static_cast<std::ptrdiff_t>(k) * p.b_row, c,
                k == 0 ? bias : nullptr);
    }
}

template bool fits_onednn(const Array<float>&);
template bool fits_onednn(const Array<BFloat16>&);
template void onednn(Problem, const float*, const float*, float*, bool, const float*);
template void onednn(Problem, const BFloat16*, const BFloat16*, float*, bool, const float*);

}  // namespace inkling::kernels
