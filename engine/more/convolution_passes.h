// The passes of a convolution over dense arrays: forward, the gradient of its image, the gradient of its weight. A
// thread copies the part of an image that some rows of windows cover (Frame), and multiplies the windows in the copy.
#pragma once

#include "engine/array/axes.h"
#include "engine/base/parallel.h"
#include "engine/kernels/gathered_product.h"
#include "engine/memory/buffer_pool.h"

namespace inkling {

using Index = std::ptrdiff_t;

struct WindowAxis {
    Index in, out, kernel, stride, padding, dilation;  // `in` elements have `out` windows
    Index reach() const { return dilation * (kernel - 1); }
};

// The image x is (images, groups, in, y.in, x.in), the weight w (groups, out, in, y.kernel, x.kernel), and the result y
// (images, groups, out, y.out, x.out).
struct Windows {
    Index images, groups, in, out;
    WindowAxis y, x;
    Index in_size() const { return y.in * x.in; }
    Index kernel() const { return y.kernel * x.kernel; }
    Index out_size() const { return y.out * x.out; }
};

inline std::size_t to_size(Index n) { return static_cast<std::size_t>(n); }
inline Index to_index(std::size_t n) { return static_cast<Index>(n); }

inline std::size_t work_grain(Index multiply_adds) {
    constexpr Index kWorkPerThread = 1 << 16;
    return to_size(kWorkPerThread / std::max<Index>(1, multiply_adds) + 1);
}

// A part of an image, with zeros around it, for at most `lines` rows of windows: (channels, rows, phases, length). With
// a stride, the columns of a row are sorted by their remainder, the phase, so that those which neighbouring windows
// have at one place are neighbours.
struct Frame {
    Index channels, lines, rows, phases, length, channel;  // channel: from one to the next

    template <class T>
    static Frame of(Index channels, const WindowAxis& y, const WindowAxis& x, T) {
        constexpr Index kBytes = 1 << 17;  // it stays in L2
        const Index length = to_index(whole_vectors<T>(to_size(x.out))) + x.reach() / x.stride;
        Frame f{channels, 1, 1, x.stride, length, 0};
        const Index fit = kBytes / std::max<Index>(1, channels * f.row() * to_index(sizeof(T)));
        const Index all = std::max<Index>(1, y.out);
        const Index most = std::clamp<Index>((fit - y.reach() - 1) / y.stride + 1, 1, all);
        f.lines = (all - 1) / ((all - 1) / most + 1) + 1;  // frames of even sizes
        f.rows = (f.lines - 1) * y.stride + y.reach() + 1;
        constexpr Index line = 64 / sizeof(T);  // an odd number of lines: channels fill all sets of the cache evenly
        f.channel = ((f.rows * f.row() + line - 1) / line | 1) * line;
        return f;
    }
    Index row() const { return phases * length; }
    Index size() const { return channels * channel; }

    // Copies from row y0 and column x0 of x on.
    template <class T>
    void fill(const T* x, Index height, Index width, Index y0, Index x0, T* memory) const {
        const auto steps = [this](Index columns) {
            return std::clamp<Index>((columns + phases - 1) / phases, 0, length);
        };
        for (Index phase = 0; phase < phases; ++phase) {
            const Index first = x0 + phase, inside = steps(width - first), begin = std::min(inside, steps(-first));
            for (Index c = 0; c < channels; ++c) {
                for (Index i = 0, y = y0; i < rows; ++i, ++y) {
                    T* const to = memory + c * channel + i * row() + phase * length;
                    const Index from = (c * height + y) * width + first;
                    const Index end = y < 0 || y >= height ? 0 : inside;
                    const auto copy = [=](auto step) {  // vectors, for steps that the compiler knows
                        for (Index j = begin; j < end; ++j) to[j] = x[from + j * step];
                    };
                    if (begin > 0 || end < length) std::fill(to, to + length, T{0});
                    if (phases == 1) {
                        copy(std::integral_constant<Index, 1>());
                    } else if (phases == 2) {
                        copy(std::integral_constant<Index, 2>());
                    } else {
                        copy(phases);
                    }
                }
            }
        }
    }

    // Calls body(image, line, count, memory) for every `lines` of `height` rows of windows, for each group of each
    // image; `memory` has room for the frame and `more`.
    template <class T, class F>
    void each(const Windows& n, Index height, Index more, const F& body) const {
        const Index blocks = (height + lines - 1) / lines, all = n.images * n.groups * blocks;
        const Index work = n.images * n.out_size() * n.groups * n.out * n.in * n.kernel() / std::max<Index>(1, all);
        parallel_for(to_size(all), work_grain(work), [&](std::size_t begin, std::size_t end) {
            T* const memory = static_cast<T*>(thread_memory(to_size(size() + more) * sizeof(T)));
            for (auto i = to_index(begin); i < to_index(end); ++i) {
                const Index line = i % blocks * lines;
                body(i / blocks, line, std::min(lines, height - line), memory);
            }
        });
    }
};

// Where the elements of a window are: in a row of w, and in the frame.
inline Steps window_steps(const Windows& n, const Frame& frame) {
    Steps steps;
    for (Index i = 0; i < n.in * n.kernel(); ++i) {
        const Index c = i / n.kernel(), k = i % n.kernel();
        const Index y = k / n.x.kernel * n.y.dilation, x = k % n.x.kernel * n.x.dilation;
        steps.add(i, c * frame.channel + y * frame.row() + x % n.x.stride * frame.length + x / n.x.stride);
    }
    return steps;
}

template <class T>
std::vector<const T*> row_pointers(const T* first, Index count, Index step) {
    std::vector<const T*> rows;
    for (Index i = 0; i < count; ++i) rows.push_back(first + i * step);
    return rows;
}

// y = w * x + bias
template <class T>
void convolve(const Windows& n, const T* x, const T* w, const T* bias, T* y) {
    const Frame frame = Frame::of(n.in, n.y, n.x, T{});
    const Steps steps = window_steps(n, frame);
    const auto rows = row_pointers(w, n.groups * n.out, n.in * n.kernel());
    Columns<T> columns;
    for (Index i = 0; i < frame.lines; ++i) columns.add(i * n.y.stride * frame.row(), i * n.x.out, n.x.out);
    const Index of_line = to_index(columns.all.size()) / frame.lines;
    frame.each<T>(n, n.y.out, 0, [&](Index image, Index line, Index count, T* memory) {
        frame.fill(x + image * n.in * n.in_size(), n.y.in, n.x.in, line * n.y.stride - n.y.padding, -n.x.padding,
                   memory);
        const Index first = image % n.groups * n.out;
        GatheredProduct<T>{.rows = n.out,
                           .a = rows.data() + first,
                           .b = memory,
                           .c = y + image * n.out * n.out_size() + line * n.x.out,
                           .c_row = n.out_size(),
                           .bias = bias ? bias + first : nullptr}
            .run(steps, steps.all.size(), columns, count * of_line);
    });
}

// dx = w *^T dy + bias. Element stride q + r of a padded row is in the windows q - t, at the places k with dilation k =
// stride t + r: a convolution without a stride for each remainder r of the row and the column.
template <class T>
void convolve_transposed(const Windows& n, const T* dy, const T* w, const T* bias, T* dx) {
    const auto along = [](const WindowAxis& a) {
        const Index quotients = (a.padding + a.in - 1) / a.stride - a.padding / a.stride + 1;
        return WindowAxis{a.out, quotients, a.reach() / a.stride + 1, 1, a.reach() / a.stride - a.padding / a.stride,
                          1};
    };
    const WindowAxis y = along(n.y), x = along(n.x);
    const Frame frame = Frame::of(n.out, y, x, T{});
    const Index remainders = n.y.stride * n.x.stride, dense = n.x.stride == 1 ? 0 : frame.lines * x.out;
    std::vector<Steps> steps(to_size(remainders));
    for (Index i = 0; i < n.out * n.kernel(); ++i) {
        const Index o = i / n.kernel(), k = i % n.kernel();
        const Index ky = k / n.x.kernel * n.y.dilation, kx = k % n.x.kernel * n.x.dilation;
        Steps& s = steps[to_size(ky % n.y.stride * n.x.stride + kx % n.x.stride)];
        s.add(o * n.in * n.kernel() + k,
              o * frame.channel + (y.reach() - ky / n.y.stride) * frame.row() + x.reach() - kx / n.x.stride);
    }
    frame.each<T>(n, y.out, n.in * dense, [&](Index image, Index line, Index count, T* memory) {
        frame.fill(dy + image * n.out * n.out_size(), n.y.out, n.x.out, line - y.padding, -x.padding, memory);
        const Index group = image % n.groups;
        const auto rows = row_pointers(w + group * n.out * n.in * n.kernel(), n.in, n.kernel());
        T* const sums = memory + frame.size();
        T* const to = dx + image * n.in * n.in_size();
        for (Index r = 0; r < remainders; ++r) {
            const Index from_y = (n.y.padding / n.y.stride + line) * n.y.stride + r / n.x.stride - n.y.padding;
            const Index from_x = r % n.x.stride - n.x.padding % n.x.stride;
            const auto steps_to = [](Index distance, Index stride) {  // at least 0
                return std::max<Index>(0, (distance + stride - 1) / stride);
            };
            const Index begin = steps_to(-from_x, n.x.stride);
            const Index width = std::min(x.out, steps_to(n.x.in - from_x, n.x.stride)) - begin;
            const Index top = steps_to(-from_y, n.y.stride);
            const Index bottom = std::min(count, steps_to(n.y.in - from_y, n.y.stride));
            Columns<T> columns;
            for (Index i = top; i < bottom; ++i) {
                const Index at = (from_y + i * n.y.stride) * n.x.in + from_x + begin;
                columns.add(i * frame.row() + begin, dense ? i * x.out : at, width);
            }
            const Steps& s = steps[to_size(r)];
            GatheredProduct<T>{.rows = n.in,
                               .a = rows.data(),
                               .b = memory,
                               .c = dense ? sums : to,
                               .c_row = dense ? dense : n.in_size(),
                               .bias = bias ? bias + group * n.in : nullptr}
                .run(s, s.all.size(), columns, to_index(columns.all.size()));
            for (Index i = 0; i < n.in * (bottom - top) && dense; ++i) {
                const Index c = i / (bottom - top), line_of = top + i % (bottom - top);
                T* row = to + c * n.in_size() + (from_y + line_of * n.y.stride) * n.x.in + from_x + begin * n.x.stride;
                for (Index j = 0; j < width; ++j, row += n.x.stride) *row = sums[c * dense + line_of * x.out + j];
            }
        }
    });
}

// dw (groups, out, in y.kernel x.kernel): sums over chunks of images, in order, so that the bits do not depend on the
// number of threads.
template <class T>
Array<T> weight_gradient(const Windows& n, const T* x, const T* dy) {
    constexpr Index kChunks = 16;
    const Frame frame = Frame::of(n.in, n.y, n.x, T{});
    const Steps places = window_steps(n, frame);
    const Index depth = n.in * n.kernel(), wide = to_index(whole_vectors<T>(to_size(n.out)));
    Steps windows;
    for (Index i = 0; i < frame.lines * n.x.out; ++i) {
        windows.add(i / n.x.out * n.y.stride * frame.row() + i % n.x.out, i * wide);
    }
    Columns<T> columns;
    columns.add(0, 0, wide);
    const Index chunk = std::max<Index>(1, (n.images + kChunks - 1) / kChunks), chunks = (n.images + chunk - 1) / chunk;
    Array<T> sums({to_size(chunks), to_size(n.groups), to_size(depth), to_size(wide)}, T{0});
    const auto add = [&](Index image, T* sum, T* memory) {  // one group of an image
        T* const turned = memory + frame.size();            // dy: (windows, channels)
        for (Index line = 0; line < n.y.out; line += frame.lines) {
            const std::size_t count = std::min(frame.lines, n.y.out - line) * n.x.out;
            frame.fill(x + image * n.in * n.in_size(), n.y.in, n.x.in, line * n.y.stride - n.y.padding, -n.x.padding,
                       memory);
            transpose_into(dy + image * n.out * n.out_size() + line * n.x.out, n.out_size(), to_size(n.out), count,
                           turned, to_size(wide));
            std::vector<const T*> rows;
            for (const Steps::Step& at : places.all) rows.push_back(memory + at.b);
            GatheredProduct<T>{depth, rows.data(), turned, sum, wide, nullptr, true}.run(windows, count, columns,
                                                                                         to_index(columns.all.size()));
        }
    };
    const Index work = chunk * n.groups * n.out_size() * n.out * depth;
    const auto bytes = to_size(frame.size() + frame.lines * n.x.out * wide) * sizeof(T);
    parallel_for(to_size(chunks), work_grain(work), [&](std::size_t begin, std::size_t end) {
        T* const memory = static_cast<T*>(thread_memory(bytes));
        const Index last = std::min(n.images, to_index(end) * chunk);
        for (Index i = to_index(begin) * chunk * n.groups; i < last * n.groups; ++i) {
            const Index to = i / n.groups / chunk * n.groups + i % n.groups;
            add(i, sums.data() + to * depth * wide, memory);
        }
    });
    return sum_over<T>(sums, {0}).sliced(2, 0, to_size(n.out)).transposed(1, 2);
}

}  // namespace inkling
