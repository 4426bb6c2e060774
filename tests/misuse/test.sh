#!/usr/bin/env bash
# The compiler reports an error in a program in a few lines, not once for every template that it tried.
#   tests/misuse/test.sh COMPILER FLAGS...      flags that find the headers
# Each snippet is the body of a function. It must not compile, and the compiler must report it in at most 20 lines, which
# must contain TEXT.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
compile=("$@" -std=c++20 "-I$root")

cat >"$scratch/inkling.h" <<'END'
#include "engine/autograd/backward.h"
#include "engine/ops.h"
#include "models/architecture.h"
#include "nn/attention/scaled_dot_product.h"
#include "nn/linear.h"
#include "nn/sequential.h"
#include "train/optimizers/muon.h"
#include "train/settings/options.h"
#include <iostream>
using namespace inkling;
END
"${compile[@]}" -x c++-header "$scratch/inkling.h" -o "$scratch/inkling.h.gch"  # parsed once

failed=0
refuses() {  # TEXT, and the snippet as input
    { echo 'void snippet(Tensor<double> x, Tensor<float> y) {' && cat && echo '; (void)x, (void)y; }'; } >"$scratch/snippet.cpp"
    if "${compile[@]}" -fsyntax-only -include "$scratch/inkling.h" "$scratch/snippet.cpp" 2>"$scratch/errors"; then
        echo "misuse: this compiles:" >&2
    elif ! grep -qF -- "$1" "$scratch/errors"; then
        echo "misuse: the compiler does not say '$1' of:" >&2
    elif [ "$(wc -l <"$scratch/errors")" -gt 20 ]; then
        echo "misuse: the compiler takes $(wc -l <"$scratch/errors") lines for:" >&2
    else
        return 0
    fi
    failed=1
    cat "$scratch/snippet.cpp" "$scratch/errors" >&2
}

# Correct code compiles, without a warning about omitted options.
cat >"$scratch/good.cpp" <<'END'
void snippet(Tensor<double> x) {
    Tensor<double> z = 2 * x + x.value();
    z += 1;
    std::cout << z;
    std::cout << attention(x, x, x, {.causal = true}) << nn::scaled_dot_product_attention(x, x, x, {.causal = true}).output;
    std::cout << cross_entropy(x, IdArray({1}, 0), {.label_smoothing = 0.1}) << rotary(x, {.start = 3});
    std::cout << x.grad() << argmax(x, -1) << where(x.value() > 0, x, 0) << concatenate({x, x}, 0);
    (void)models::Architecture{.n_layer = 2}, (void)train::TrainOptions{.data = {"a.txt"}};
    (void)train::MuonOptions{.momentum = 0.9};
}
END
"${compile[@]}" -Wall -Wextra -Wpedantic -Wshadow -Werror -fsyntax-only -include "$scratch/inkling.h" "$scratch/good.cpp"

refuses 'T is float or double; token ids are an IdArray' <<<'Tensor<int> ids(IdArray({2}, 1));'
refuses 'T is float or double' <<<'Generator random; nn::Linear<int> layer(random, 2, 3);'
refuses 'both tensors must be of float, or both of double' <<<'x + y'
refuses 'beside a tensor there may be another one, a number or an array' <<<'x * "2"'
refuses 'beside a tensor there may be another one, a number or an array' <<<'x += std::vector<double>{1, 2};'
refuses 'compare the values of tensors: x.item() < 1' <<<'if (x < 1.0) return;'
refuses 'compare the values of tensors: x.item() < 1' <<<'(void)std::max(x, x);'
refuses 'compare the values of tensors: x.item() == 1' <<<'if (x == x) return;'
refuses 'matmul' <<<'matmul(x, y);'
refuses 'backward' <<<'backward(x.value());'
refuses 'conversion from' <<<'Tensor<double> z = x.value();'
refuses 'deleted' <<<'Array<double> z = x.value();'
refuses 'x.value()(0)' <<<'x.value()(0) = 1;'
refuses 'Sequential<T> takes modules of the same T, and functions' <<<'Generator r; nn::Sequential<float> net(nn::Linear<double>(r, 2, 3));'
refuses 'record: a gradient takes (const Tensor<T>& dy, Gradients<T>& grads)' <<<'record("double", x.value(), inputs(x), [](const Array<double>& dy) { (void)dy; });'
exit $failed
