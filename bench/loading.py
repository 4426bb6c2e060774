#!/usr/bin/env python3
"""Times opening a model: SmolLM2 135M's shape in bfloat16 (random weights, a vocabulary of 49,152), against reading its file.

    bench/loading.py --python /path/to/venv/bin/python      # needs numpy there

`inkling generate -n 0` is a whole process: it starts, reads weights and tokenizer, and ends. Reading is one read() of
model.safetensors into new memory by the interpreter that runs this script, in turn. The files are in the system's
cache; --cold drops them from it before each run (which needs root). Prints medians, and the peak of memory over the size
of the file.
"""

import os
import statistics
import sys
import tempfile

import common


def timed(work, cold):
    if cold:
        os.sync()
        open("/proc/sys/vm/drop_caches", "w").write("1")
    return common.timed(work)[0]


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--python", default=sys.executable, help="a python that has numpy")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--cold", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        made, model = os.path.join(folder, "made"), os.path.join(folder, "model")
        common.make_model(args.python, "smollm2", made)
        common.run([args.inkling, "export", "--model", made, "--out", model, "--format", "hf", "--type", "bf16"])
        weights = os.path.join(model, "model.safetensors")
        size = os.path.getsize(weights)
        command = [args.inkling, "generate", "--model", model, "-p", "a", "-n", "0", "--precision", "bf16"]

        def read():
            with open(weights, "rb", buffering=0) as file:
                assert len(file.read()) == size

        load, reading = [], []
        for _ in range(args.rounds):
            load.append(timed(lambda: common.run(command), args.cold))
            reading.append(timed(read, args.cold))
        # In a separate process: getrusage reports the largest of all children, and the export was a child, too.
        report = common.run([sys.executable, "-c",
                             "import resource, subprocess, sys; subprocess.run(sys.argv[1:], capture_output=True);"
                             "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)", *command])
        load_s, read_s, peak = statistics.median(load), statistics.median(reading), int(report.stdout)
        print(f"loading {load_s:.3f} s, reading {read_s:.3f} s: {load_s / read_s:.2f} times; "
              f"peak {peak / 1e6:.1f} MB, file {size / 1e6:.1f} MB: {peak / size:.3f} times")


if __name__ == "__main__":
    main()
