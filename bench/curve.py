#!/usr/bin/env python3
"""Draws the losses of a run as an SVG picture: training loss as a line, validation loss as dots.

    bench/curve.py runs/stories/metrics.jsonl --floor 0.4398 >docs/images/curve.svg

--floor draws a dashed line: the entropy of the stories, which `inkling train` prints at the start.
"""
import argparse
import json
import math

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 300, 56, 16, 16, 44


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("metrics", help="metrics.jsonl of a run")
    parser.add_argument("--floor", type=float, help="the lowest possible loss")
    args = parser.parse_args()
    lines = [json.loads(line) for line in open(args.metrics)]
    train = [(m["step"], m["loss"]) for m in lines if m.get("loss") is not None]
    val = [(m["step"], m["val_loss"]) for m in lines if m.get("val_loss") is not None]
    losses = [y for _, y in train + val] + ([args.floor] if args.floor else [])
    low, high, last = 0.9 * min(losses), 1.05 * max(losses), max(step for step, _ in train + val)

    def x(step):
        return round(LEFT + (WIDTH - LEFT - RIGHT) * step / last, 1)

    def y(loss):  # logarithmic
        return round(TOP + (HEIGHT - TOP - BOTTOM) * math.log(high / loss) / math.log(high / low), 1)

    def text(x0, y0, what, anchor="middle"):
        print(f'<text x="{x0}" y="{y0}" text-anchor="{anchor}" fill="#5f6368">{what}</text>')

    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
          'font-family="sans-serif" font-size="13">')
    print(f'<title>Loss of a training run</title>\n<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>')
    for loss in (0.1, 0.2, 0.5, 1, 2, 5, 10):
        if low <= loss <= high:
            print(f'<path d="M{LEFT} {y(loss)}H{WIDTH - RIGHT}" stroke="#dadce0"/>')
            text(LEFT - 8, y(loss) + 4, f"{loss:g}", "end")
    stride = 10 ** math.floor(math.log10(last))
    stride /= 1 if last / stride >= 4 else 2 if last / stride >= 2 else 5
    for i in range(int(last / stride) + 1):
        text(x(i * stride), HEIGHT - BOTTOM + 20, f"{i * stride:g}", "end" if i * stride > 0.95 * last else "middle")
    text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, "step")
    points = " ".join(f"{x(step)},{y(loss)}" for step, loss in train)
    print(f'<polyline points="{points}" fill="none" stroke="#26828e" stroke-width="1.5"/>')
    for step, loss in val:
        print(f'<circle cx="{x(step)}" cy="{y(loss)}" r="4" fill="#440154"/>')
    if args.floor:
        print(f'<path d="M{LEFT} {y(args.floor)}H{WIDTH - RIGHT}" stroke="#5f6368" stroke-dasharray="5 4"/>')
    right = WIDTH - RIGHT - 150
    print(f'<path d="M{right} {TOP + 10}h24" stroke="#26828e" stroke-width="1.5"/>')
    text(right + 32, TOP + 14, "training loss", "start")
    print(f'<circle cx="{right + 12}" cy="{TOP + 30}" r="4" fill="#440154"/>')
    text(right + 32, TOP + 34, "validation loss", "start")
    if args.floor:
        print(f'<path d="M{right} {TOP + 50}h24" stroke="#5f6368" stroke-dasharray="5 4"/>')
        text(right + 32, TOP + 54, "entropy of the text", "start")
    print("</svg>")


main()
