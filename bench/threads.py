#!/usr/bin/env python3
"""Predicts how long a training step takes with more threads than this machine has cores, from counted and timed work.

    bench/threads.py --preset tiny,small --threads 2,4,8,16,64            # the table of bench/scaling.md
    bench/threads.py --preset small --threads 64 --places                 # which places limit it
    bench/threads.py --preset tiny --check --delay 0,20,100               # the model against 2 real threads

A step is work on one thread and parallel regions, each cut into a part for each thread. threads.c, loaded before
OpenMP's library, runs the parts of T threads one after the other and times each, so T may be any number. Then
    step(T) = serial + sum over regions of (longest part + meeting(T))
    meeting(T) = the cost of a meeting of 2 threads here + (T - 2) * 2 * (a cache line from one core to another)
               + the cost of waking threads that have waited so long that they sleep
with the lower quartile of each part over the steps. The model assumes that each core is as fast as one core alone, and the
memory, too, except in the two passes over all parameters. Their bytes are known, and --memory gives their speed.
"""

import array
import collections
import ctypes
import os
import re
import tempfile

import common

SPINS = 2000  # engine/process/threads.h
BYTES = {"AdamW::step": 28, "gradient_norm": 4}  # bytes that a pass reads and writes per parameter
Region = collections.namedtuple("Region", "site before wall parts")  # seconds


def quartile(numbers):
    """The lower quartile: other programs only make times longer."""
    numbers = sorted(numbers)
    return numbers[len(numbers) // 4]


class Machine:
    """The costs that make up a meeting on this machine."""

    def __init__(self, library, line_ns):
        calls = ctypes.CDLL(library)
        for name in ("line_us", "spin_us", "wake_us"):
            getattr(calls, name).restype = ctypes.c_double
        self.line = (line_ns or 1e3 * min(calls.line_us() for _ in range(100))) * 1e-9
        self.spin = min(calls.spin_us(SPINS) for _ in range(20)) * 1e-6
        self.wake = min(calls.wake_us(16) for _ in range(20)) / 16 * 1e-6
        self.meeting = 1e-6  # of 2 awake threads; the first run of real threads measures it

    def cost(self, threads, parts, longest, gap):
        """Meeting cost of a region: awake threads meet; threads that wait longer than they spin must be woken."""
        if len(parts) < 2:
            return 0
        here = self.meeting + (len(parts) - 2) * 2 * self.line
        sleepers = sum(longest - part > self.spin for part in parts)
        if gap > self.spin:  # the wait before the region
            sleepers += len(parts) - 1
        return here + sleepers * self.wake


class Steps:
    """The regions of a step of `inkling bench` under threads.c."""

    def __init__(self, library, inkling, flags, mode, delay=0):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "regions")
            variables = {"LD_PRELOAD": library, "THREADS_MODE": mode, "THREADS_OUT": path, "THREADS_DELAY": str(delay)}
            result = common.last_json([inkling, "bench", "--json", *flags], env=os.environ | variables)
            self.parameters = result["params"]
            with open(path + ".sites") as file:
                stacks = [line.split() for line in file]
            self.places = [self.names(inkling, stack) for stack in stacks]
            self.order = [(names[1], int(stack[1], 16)) for names, stack in zip(self.places, stacks)]
            with open(path, "rb") as file:
                steps = self.split(self.read(file.read()))
        shape = collections.Counter(tuple((r.site, len(r.parts)) for r in step) for step in steps).most_common(1)
        if not shape:
            self.regions, self.count = [], 0
            return
        steps = [step for step in steps if tuple((r.site, len(r.parts)) for r in step) == shape[0][0]][-40:]
        self.count = len(steps)
        self.regions = [Region(same[0].site, quartile(r.before for r in same), quartile(r.wall for r in same),
                               [quartile(part) for part in zip(*(r.parts for r in same))]) for same in zip(*steps)]
        self.meetings = [quartile(r.wall - max(r.parts) for r in same) for same in zip(*steps)]

    @staticmethod
    def names(inkling, addresses):
        lines = common.run(["addr2line", "-f", "-C", "-e", inkling, *addresses]).stdout.splitlines()[::2]
        return [re.sub(r"\(anonymous namespace\)::|inkling::|kernels::|train::", "", line) for line in lines]

    @staticmethod
    def read(data):
        at, regions = 0, []
        while at < len(data):
            site, parts = array.array("I", data[at:at + 8])
            numbers = array.array("f", data[at + 8:at + 16 + 4 * parts])
            regions.append(Region(site, numbers[0], numbers[1], numbers[2:].tolist()))
            at += 16 + 4 * parts
        return regions

    def split(self, regions):
        """Splits regions into steps: a step ends with the last region of the optimizer."""
        ends = [any("AdamW" in name for name in names) for names in self.places]
        steps, step = [], []
        for i, region in enumerate(regions):
            step.append(region)
            if ends[region.site] and (i + 1 == len(regions) or not ends[regions[i + 1].site]):
                steps.append(step)
                step = []
        return steps[3:]  # the first steps allocate buffers

    def place(self, site):
        """The function that opens a region; for a product, the op that needs it and the number of the region."""
        names = [self.function(name) for name in self.places[site]]
        helpers = (r"(parallel_\w+|chunked_sum|run|StridedLoop::run|map_\w+|SavedInput::.*|Gradients::.*|"
                   r"FunctionRef::.*|std::.*|\?\?|)$")
        own = [name for name in names if not re.match(helpers, name)] or ["?"]
        inside = r"(blocks|Product::\w+|gemm|product|multiply)$"
        if not re.match(inside, own[0]):
            return own[0]
        ops = [name for name in own if not re.match(inside, name)] or ["?"]
        at = sorted({names for names in self.order if names[0] == self.places[site][1]})
        return f"{ops[0]}: product {at.index(self.order[site]) + 1}"

    @staticmethod
    def function(name):
        while name != (shorter := re.sub(r"<[^<>]*>", "", name)):
            name = shorter
        return name.split("(")[0].split(" ")[-1]


def wait_for_memory(steps, bandwidth):
    """Seconds by which the passes over all parameters exceed their parts."""
    wait = 0
    for name, size in BYTES.items():
        longest = sum(max(r.parts) for r in steps.regions if steps.place(r.site) == name)
        wait += max(0, size * steps.parameters / bandwidth - longest) if bandwidth else 0
    return wait


def predict(machine, steps, threads, delay=0):
    """Seconds: serial, in all parts, in the longest parts, in meetings."""
    serial = sum(r.before for r in steps.regions)
    total = sum(sum(r.parts) for r in steps.regions)
    longest = meetings = 0
    for r in steps.regions:
        parts = r.parts[:-1] + [r.parts[-1] + delay]
        longest += max(parts)
        meetings += machine.cost(threads, parts, max(parts), r.before)
    return serial, total, longest, meetings


def table_of_places(steps, threads):
    by_place = collections.defaultdict(list)
    for r in steps.regions:
        by_place[steps.place(r.site)].append(r)
    lost = lambda rs: sum(max(r.parts) - sum(r.parts) / threads for r in rs)
    print("\n| place | regions | parts | work, ms | longest parts, ms | lost by uneven or too few parts, ms | "
          "on one thread before, ms |\n|---|---|---|---|---|---|---|")
    for name, rs in sorted(by_place.items(), key=lambda item: -lost(item[1])):
        sizes = sorted({len(r.parts) for r in rs})
        print(f"| {name} | {len(rs)} | {sizes[0]}{f' to {sizes[-1]}' if sizes[1:] else ''} | "
              f"{1e3 * sum(sum(r.parts) for r in rs):.3f} | {1e3 * sum(max(r.parts) for r in rs):.3f} | "
              f"{1e3 * lost(rs):.3f} | {1e3 * sum(r.before for r in rs):.3f} |")
    print()


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--preset", default="tiny,small")
    parser.add_argument("--precision", default="fp32")
    parser.add_argument("--threads", default="2,4,8,16,64")
    parser.add_argument("--seconds", default="4", help="a run")
    parser.add_argument("--line", type=float, default=0, help="ns for a cache line from core to core; 0: as here")
    parser.add_argument("--memory", type=float, default=0, help="GB/s of all cores together; 0: no limit")
    parser.add_argument("--places", action="store_true", help="also a table of where regions are opened")
    parser.add_argument("--check", action="store_true", help="2 threads that really run, against the model")
    parser.add_argument("--delay", default="0", help="with --check: microseconds that one of them loses in each region")
    args = parser.parse_args()
    inkling = os.path.realpath(args.inkling)
    with tempfile.TemporaryDirectory() as folder:
        library = os.path.join(folder, "threads.so")
        common.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, common.HERE / "threads.c"])
        machine = Machine(library, args.line)
        for preset in args.preset.split(","):
            for precision in args.precision.split(","):
                flags = ["--preset", preset, "--precision", precision, "--seconds", args.seconds]
                one = common.last_json([inkling, "bench", "--json", "--threads", "1", *flags])["ms_step"]
                real = Steps(library, inkling, [*flags, "--threads", "2"], "real")
                if not real.regions:
                    print(f"{preset} {precision}: {one:.3f} ms, all on one thread\n")
                    continue
                machine.meeting = quartile([m for m, r in zip(real.meetings, real.regions) if len(r.parts) == 2])
                print(f"{preset} {precision}: {one:.2f} ms on one thread; "
                      f"a meeting of 2 {1e6 * machine.meeting:.1f} us, a line {1e9 * machine.line:.0f} ns, "
                      f"sleep after {1e6 * machine.spin:.0f} us, "
                      f"waking a thread {1e6 * machine.wake:.1f} us\n")
                if args.check:
                    check(machine, library, inkling, flags, [float(d) for d in args.delay.split(",")])
                    continue
                print("| threads | regions | serial, ms | parts, ms | longest parts, ms | waiting for memory, ms | "
                      "meetings, ms | step, ms | times faster |\n|---|---|---|---|---|---|---|---|---|")
                tables, whole = [], 0
                for threads in map(int, args.threads.split(",")):
                    steps = Steps(library, inkling, [*flags, "--threads", str(threads)], "turns")
                    serial, total, longest, meetings = (1e3 * x for x in predict(machine, steps, threads))
                    whole = whole or serial + total  # one thread would do the work of the smallest count
                    memory = 1e3 * wait_for_memory(steps, 1e9 * args.memory)
                    step = serial + longest + memory + meetings
                    print(f"| {threads} | {len(steps.regions)} | {serial:.2f} | {total:.2f} | {longest:.2f} | "
                          f"{memory:.2f} | {meetings:.2f} | {step:.2f} | {whole / step:.1f} |", flush=True)
                    tables.append((steps, threads))
                for steps, threads in tables if args.places else []:
                    print(f"\n{threads} threads:")
                    table_of_places(steps, threads)
                print()


def check(machine, library, inkling, flags, delays):
    print("| delay, us | predicted, ms | measured, ms |\n|---|---|---|")
    flags = [*flags, "--threads", "2"]
    turns = Steps(library, inkling, flags, "turns")
    for delay in delays:
        serial, _, longest, meetings = predict(machine, turns, 2, delay * 1e-6)
        real = Steps(library, inkling, flags, "real", delay)
        measured = sum(r.before + r.wall for r in real.regions)
        print(f"| {delay:g} | {1e3 * (serial + longest + meetings):.2f} | {1e3 * measured:.2f} |", flush=True)
    print()


if __name__ == "__main__":
    main()
