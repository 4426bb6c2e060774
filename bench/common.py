"""Shared by the scripts of this folder: flags, commands that must succeed, and JSON lines.

    args = parser(__doc__).parse_args()
    lines = json_lines(run([args.inkling, "train", "--json", ...]).stdout)
"""
import argparse
import json
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent


def parser(doc):
    made = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--inkling", "--program", default=str(ROOT / "build" / "inkling"))
    return made


def parse_with_flags(made):
    """Parses the arguments; the arguments after "--" are args.flags."""
    end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    args = made.parse_args(sys.argv[1:end])
    args.flags = sys.argv[end + 1:]
    return args


def run(command, **more):
    """Runs the command and returns its result. If it fails, the script ends with its error output."""
    command = [str(word) for word in command]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", **more)
    if done.returncode:
        sys.exit(f"{' '.join(command)[:200]}: exit {done.returncode}\n{done.stderr.strip()[-500:]}")
    return done


def json_lines(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def last_json(command, **more):
    return json_lines(run(command, **more).stdout)[-1]


def metrics(out):
    """Reads metrics.jsonl of the run in this folder."""
    return json_lines((pathlib.Path(out) / "metrics.jsonl").read_text())


def timed(call):
    """Returns the seconds of a call, and its result."""
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def make_model(python, shape, folder):
    """Makes a model of random weights (generate.py) in an empty folder; `python` must have numpy."""
    folder = pathlib.Path(folder)
    if not (folder / "tokenizer.json").exists():
        folder.mkdir(parents=True, exist_ok=True)
        run([python, HERE / "generate.py", "--make", "--shape", shape, "--folder", folder])
