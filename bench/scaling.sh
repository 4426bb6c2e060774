#!/bin/sh
# Time and memory of a training step by context, vocabulary and batch, at width 384 (6 layers, 6 heads): ms and MB.
#   bench/scaling.sh [arguments of inkling bench, such as --precision bf16]
set -eu
inkling=$(dirname "$0")/../build/inkling
row() {  # a name, then the shape's flags
    name=$1
    shift
    "$inkling" bench --preset small --seconds 3 --json "$@" $more |
        sed -E "s/.*\"ms_step\":([0-9.]+).*\"tok_s\":([0-9.]+).*\"peak_rss_mb\":([0-9]+).*/\1 \2 \3/" |
        while read -r ms tokens mb; do printf '| %s | %.1f | %.0f | %s |\n' "$name" "$ms" "$tokens" "$mb"; done
}
more=$*
printf '| shape | ms per step | tokens/s | MB |\n|---|---|---|---|\n'
for n in 64 128 256 512 1024 2048; do row "context $n, batch 4" --block-size $n --batch 4; done
for n in 65 1024 8192 50257; do row "vocabulary $n, context 256, batch 4" --vocab-size $n --batch 4; done
for n in 1 4 16 64; do row "batch $n, context 256" --batch $n; done
