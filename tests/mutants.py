#!/usr/bin/env python3
"""Do the tests notice a wrong formula? Breaks the formulas of the ops one at a time, and runs the tests on each.

    tests/mutants.py                      # all; about 15 minutes on 2 cores
    tests/mutants.py --only softmax       # of files whose path contains "softmax"; repeatable
    tests/mutants.py --tests gradcheck    # only with the tests whose names contain "gradcheck"

A mutant is one small change: an operator replaced by its opposite, a term or a factor left out, operands swapped, a
constant changed, exp() left out, += made = or -=, a statement left out, a condition negated. Only numbers are changed,
not indices: operators of integers and pointers stay as they are. All mutants of all files are compiled into one test
program, in build-mutants/, each as `(mutant 17 is on ? changed : original)`; the environment variable INKLING_MUTANT
turns one on. A mutant is run with the tests that reach it, the fastest first, until one fails.

Mutants that no test can notice, since they compute the same, are listed with the reason in tests/mutants_equivalent.txt.
Exit code 1: a mutant that is not listed there survived.
"""
import argparse
import bisect
import collections
import concurrent.futures
import dataclasses
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"  # its objects are used, but for those of the files that hold mutants
SCRATCH = ROOT / "build-mutants"
TREE = SCRATCH / "tree"
# No header that the tests include: they are compiled without mutants.
FILES = ["engine/ops/**/*.cpp", "engine/fused/*.cpp", "engine/fused/*[dsk].h", "engine/more/*.cpp", "engine/array/map.cpp", "engine/kernels/*_row.h",
         "engine/array/axes.cpp", "nn/attention/*.cpp"]
EXCLUDED = re.compile(r"gradcheck")
# Messages, assertions and measurements, not what is computed.
NOT_FORMULAS = {"check", "check_options", "check_defined", "check_pair", "static_assert", "format", "count_flops", "count_bytes", "throw",
                "alignas", "decltype", "sizeof", "__builtin_prefetch", "record"}
# Functions that a mutant leaves out, f(x) becoming x, and those whose arguments it swaps (which two).
LEFT_OUT = {"exp", "log", "sqrt", "tanh", "erf", "sin", "cos", "logistic", "at_least", "contiguous"}
SWAPPED = {"sub": (0, 1), "div": (0, 1), "pow": (0, 1), "matmul": (0, 1), "select": (1, 2), "choose": (2, 3), "product": (0, 1),
           "rotate_row": (1, 2), "scaled_scores": (0, 1), "transposed_product": (0, 1)}
IDS = 2000  # a file's mutants are numbered from a multiple of it
OPPOSITE = {"+": "-", "-": "+", "*": "/", "/": "*"}
PRECEDENCE = {"*": 9, "/": 9, "%": 9, "+": 8, "-": 8, "<<": 7, ">>": 7, "<": 6, ">": 6, "<=": 6, ">=": 6, "==": 5, "!=": 5,
              "&": 4, "^": 3, "|": 2, "&&": 1, "||": 0}
TOKEN = re.compile(r'[A-Za-z_]\w*|(?:\d[\w.]*(?:[eE][+-]\d+)?)|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|'
                   r'\.\.\.|->|::|<<=|>>=|\+\+|--|<<|[-+*/%&|^=!<>]=|&&|\|\||[^\s\w]')
HEADER = """#pragma once
#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>
namespace inkling_mutants {
inline const int active = std::getenv("INKLING_MUTANT") ? std::atoi(std::getenv("INKLING_MUTANT")) : -1;
inline unsigned char reached[@COUNT@], known[@COUNT@];
template <int Id>
struct Known {
    static inline const bool set = (known[Id] = 1, true);
};
// Whether the mutant is on; operators of pointers and texts are no formulas, nor are those of integers (see --indices).
template <int Id, class Of>
inline bool on() {
    using T = std::remove_cvref_t<Of>;
    constexpr bool is_index = std::is_integral_v<T> && !@INDICES@;
    if constexpr (is_index || std::is_pointer_v<T> || std::is_same_v<T, std::string>) {
        return false;
    } else {
        (void)Known<Id>::set;
        reached[Id] = 1;
        return active == Id;
    }
}
struct Record {
    ~Record() {
        const char* const path = std::getenv("INKLING_MUTANTS_REACHED");
        std::FILE* const file = path ? std::fopen(path, "w") : nullptr;
        if (!file) return;
        for (int i = 0; i < @COUNT@; ++i)
            if (known[i]) std::fprintf(file, "%d %d\\n", i, reached[i]);
        std::fclose(file);
    }
};
inline Record record;
}  // namespace inkling_mutants
"""

@dataclasses.dataclass(eq=False)
class Mutant:
    path: str
    line: int  # in the original file
    begin: int  # the text that is replaced
    end: int
    original: str
    mutated: str
    of: str  # the expression whose type decides whether this is a formula; "void": it is
    statement: bool = False  # left out
    number: int = 0  # among those of the file with the same text
    id: int = 0

    def text(self):
        again = f" ({self.number})" if self.number > 1 else ""
        return f"{self.path}: {self.original} => {self.mutated or 'nothing'}{again}"


class Source:
    """A file as tokens. clang-format has put blanks around binary operators and nowhere else, so that an operand is what
    stands between blanks, with whatever its brackets hold."""

    def __init__(self, path):
        self.path = path
        text = (ROOT / path).read_text()
        blank = lambda m: re.sub(r"[^\n]", " ", m.group())
        text = re.sub(r'//[^\n]*|/\*.*?\*/', blank, text, flags=re.S)  # no string of these files holds a comment
        self.text = text
        code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, text, flags=re.M)
        found = [(m.group(), m.start(), m.end()) for m in TOKEN.finditer(code)]
        self.tokens = [t for t, _, _ in found]
        self.begins = [b for _, b, _ in found]
        self.ends = [e for _, _, e in found]
        self.match_brackets()

    def blank_before(self, i):
        return i == 0 or self.ends[i - 1] != self.begins[i]

    def blank_after(self, i):
        return i + 1 == len(self.tokens) or self.ends[i] != self.begins[i + 1]

    def binary(self, i):
        return self.tokens[i] in PRECEDENCE and self.blank_before(i) and self.blank_after(i)

    def match_brackets(self):
        self.partner, stack = {}, []
        for i, t in enumerate(self.tokens):
            if t in "([{" or (t == "<" and not self.blank_after(i) and self.tokens[i - 1] != "operator"):
                stack.append(i)
            elif t in ")]}" or (t == ">" and stack and self.tokens[stack[-1]] == "<" and not self.binary(i)):
                self.partner[i] = stack.pop()
                self.partner[self.partner[i]] = i
        assert not stack, self.path
        self.parent, stack = [], [-1]  # the bracket around each token
        for i in range(len(self.tokens)):
            if i in self.partner and self.partner[i] < i:
                stack.pop()
            self.parent.append(stack[-1])
            if self.partner.get(i, -1) > i:
                stack.append(i)

    def operand_before(self, i):
        """The first token of what ends at token i - 1 and has no blank outside brackets."""
        k = i - 1
        while True:
            k = self.partner[k] if self.partner.get(k, k + 1) < k else k
            before = k - 1
            if before < 0 or self.tokens[before] in ",;" or self.partner.get(before, -1) > before:
                return k
            if self.blank_before(k) and self.tokens[k] not in (".", "->") and self.tokens[before] not in (".", "->"):
                return k
            k = before

    def operand_after(self, i):
        """The last token of what begins at token i + 1."""
        k = i + 1
        while True:
            k = self.partner[k] if self.partner.get(k, -1) > k else k
            after = k + 1
            if self.tokens[after] in ",;" or self.partner.get(after, after) < after:
                return k
            if self.blank_after(k) and self.tokens[after] not in (".", "->"):
                return k
            k = after

    def left(self, i, least):
        """The first token of the left side of the operator i: operators of at least this precedence belong to it."""
        first = self.operand_before(i)
        while self.binary(first - 1) and PRECEDENCE[self.tokens[first - 1]] >= least:
            first = self.operand_before(first - 1)
        return first

    def right(self, i, least):
        last = self.operand_after(i)
        while self.binary(last + 1) and PRECEDENCE[self.tokens[last + 1]] >= least:
            last = self.operand_after(last + 1)
        return last

    def between(self, first, last):
        """The text of tokens first .. last on one line."""
        return re.sub(r"\s+", " ", self.text[self.begins[first]:self.ends[last]])

    def arguments(self, open_bracket):
        parts, first = [], open_bracket + 1
        for i in range(first, self.partner[open_bracket] + 1):
            if i == self.partner[open_bracket] or (self.tokens[i] == "," and self.parent[i] == open_bracket):
                if i > first:
                    parts.append((first, i - 1))
                first = i + 1
        return parts

    def called(self, bracket):
        """The name in front of a bracket, without what stands in template brackets."""
        i = bracket - 1
        if self.tokens[i] == ">" and i in self.partner:
            i = self.partner[i] - 1
        return self.tokens[i] if i >= 0 else ""

    def no_formula(self, i):
        """Whether token i is in a message, an assertion, a loop's head, a template's brackets or a constant."""
        at, inner = self.parent[i], i
        while at >= 0:
            if self.tokens[at] == "<":
                return True
            if self.tokens[at] == "(" and self.called(at) in NOT_FORMULAS - {"record"} | {"for", "while"}:
                return True
            if self.tokens[at] == "(" and self.tokens[at - 1] == "constexpr":
                return True
            if self.tokens[at] == "{":
                break
            inner, at = at, self.parent[at]
        k = inner
        while k > 0 and self.tokens[k - 1] not in ";{}":
            k -= 1
            if self.tokens[k] in ("constexpr", "using", "typedef", "operator", "template", "product_flops"):
                return True
            if self.tokens[k:k + 3] == ["const", "double", "seen"]:  # for the number of operations
                return True
        return False

    def mutants(self):
        found = []

        def add(first, last, mutated, of, statement=False):
            line = self.text.count("\n", 0, self.begins[first]) + 1
            found.append(Mutant(self.path, line, self.begins[first], self.ends[last], self.between(first, last), mutated, of,
                                statement))

        for i, t in enumerate(self.tokens):
            if self.no_formula(i):
                continue
            before = self.tokens[i - 1]
            after = self.tokens[i + 1] if i + 1 < len(self.tokens) else ""
            if t in OPPOSITE and self.binary(i):
                first, last = self.left(i, PRECEDENCE[t]), self.right(i, PRECEDENCE[t] + 1)
                a, b, of = self.between(first, i - 1), self.between(i + 1, last), f"decltype({self.between(first, last)})"
                changes = [f"({a}) {OPPOSITE[t]} ({b})", a]
                changes += [b] if t in "+*" else [f"({b}) {t} ({a})"] if a != b else []
                for mutated in dict.fromkeys(changes):
                    add(first, last, mutated, of)
            elif t == "-" and self.blank_before(i) != self.blank_after(i) or (t == "-" and before in "([{" and not self.blank_after(i)):
                last = self.operand_after(i)
                add(i, last, self.between(i + 1, last), f"decltype({self.between(i, last)})")
            elif t in ("+=", "-=", "*=", "/="):
                first, last = self.operand_before(i), i
                while self.tokens[last + 1] not in (";", ")") and not (self.tokens[last + 1] == "," and self.parent[last + 1] == self.parent[i]):
                    last = self.partner.get(last + 1, last + 1)
                a, b = self.between(first, i - 1), self.between(i + 1, last)
                for other in (OPPOSITE[t[0]] + "=", "="):
                    add(first, last, f"{a} {other} {b}", f"decltype({a})")
            elif t == "?":
                add(self.left(i, 0), i - 1, f"!({self.between(self.left(i, 0), i - 1)})", "void")
            elif t == "(" and before == "if":
                add(i + 1, self.partner[i] - 1, f"!({self.between(i + 1, self.partner[i] - 1)})", "void")
            elif t in ("<", ">", "<=", ">=", "==", "!=") and self.binary(i):
                first, last = self.left(i, PRECEDENCE[t]), self.right(i, PRECEDENCE[t] + 1)
                whole = self.tokens[first - 1] in "=,({" and self.tokens[last + 1] in ";,)}"
                if whole and self.tokens[first - 2] != "if":
                    add(first, last, f"!({self.between(first, last)})", "void")
            elif t in ("true", "false") and before in "=,({" and after in ";,)}":
                add(i, i, "false" if t == "true" else "true", "void")
            elif t == "(" and self.called(i) in LEFT_OUT and len(self.arguments(i)) >= 1:
                first, arguments = self.operand_before(i), self.arguments(i)
                add(first, self.partner[i], self.between(*arguments[-1]), f"decltype({self.between(first, self.partner[i])})")
            elif t == "(" and self.called(i) in SWAPPED:
                parts, (a, b) = [self.between(*part) for part in self.arguments(i)], SWAPPED[self.called(i)]
                if len(parts) > b:
                    parts[a], parts[b] = parts[b], parts[a]
                    first, end = self.operand_before(i), self.partner[i]
                    if not self.blank_before(i) and self.tokens[first] != "Tensor":
                        add(first, end, self.between(first, i) + ", ".join(parts) + ")", "void")
            elif t == "{" and before in ("T", "V") and re.fullmatch(r"[\d.]+", after) and self.tokens[i + 2] == "}":
                add(i - 1, i + 2, f"{before}{{{after} + 1}}", before)
            elif re.fullmatch(r"\d+\.\d*", t):
                add(i, i, f"({t} + 1)", "double")
            if t == ";" and before == ")":  # a call that stands alone
                first = self.operand_before(i)
                start = self.tokens[first - 1] in (";", "{", "}", ")", "else")
                name = self.called(self.partner[i - 1])
                if start and name not in NOT_FORMULAS and re.match(r"[a-z_]", self.tokens[first]) and "operator" not in self.tokens[first:i]:
                    if self.tokens[first] not in ("return", "for", "if", "while", "template", "throw", "delete", "do"):
                        add(first, i - 1, "", "void", True)
        numbers = collections.Counter()
        for m in found:
            numbers[m.original, m.mutated] += 1
            m.number = numbers[m.original, m.mutated]
        return found

    def schema(self, mutants):
        """The file with all mutants, and the mutant of each of its lines that holds one."""
        groups = collections.defaultdict(list)
        for m in mutants:
            groups[m.begin, m.end].append(m)
        spans = sorted(groups, key=lambda s: (s[0], -s[1]))
        out, owner = [], {}
        line = 1

        def emit(text, mutant=None):
            nonlocal line
            if mutant is not None:
                owner[line] = mutant
            out.append(text)
            line += text.count("\n")

        def copy(begin, end, at):
            """Writes [begin, end) with the spans from number `at` on; returns the number behind them."""
            while at < len(spans) and spans[at][1] <= end and spans[at][0] < end:
                first, last = spans[at]
                emit(self.text[begin:first])
                group = groups[first, last]
                statement = group[0].statement
                for m in group:
                    emit("(\n" if m is group[0] else "\n")
                    emit(f"::inkling_mutants::on<{m.id}, {m.of}>() ? ({m.mutated or '(void)0'}) :", m)
                emit("\n(void)(" if statement else "\n(", group[-1])
                at = copy(first, last, at + 1)
                emit("))\n")
                begin = last
            emit(self.text[begin:end])
            return at

        include = re.search(r'^#include', self.text, flags=re.M).start()
        emit(self.text[:include] + '#include "engine/mutants.h"\n')
        copy(include, len(self.text), 0)
        return "".join(out), owner


def run(command, **options):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)


def write_if_changed(path, text):
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


class Build:
    """The test program of build/, with the objects of changed files in place of its own."""

    def __init__(self):
        if not (BUILD / "build.ninja").exists():
            sys.exit("configure build/ first: cmake --preset release")
        wanted = r"^(tests/CMakeFiles/inkling_test_objects\.dir/(?:Unity/unity_(?:engine|nn|instances)|main)\S*\.o|tests/CMakeFiles/inkling_tests\.dir/\S+\.o):"
        tests = re.findall(wanted, run(["ninja", "-C", BUILD, "-t", "targets", "all"]).stdout, flags=re.M)
        result = run(["ninja", "-C", BUILD, "libinkling.a", *tests])
        if result.returncode:
            sys.exit(result.stdout)
        link = next(line for line in run(["ninja", "-C", BUILD, "-t", "commands", "inkling_tests"]).stdout.splitlines()
                    if "-o tests/inkling_tests " in line)
        words = link.split("&&")[1].split()
        self.objects = [w for w in words if w.startswith("CMakeFiles/inkling_lib.dir/")] + tests
        self.link = [w for w in words if not w.endswith(".o")]
        self.link[self.link.index("-o") + 1] = str(SCRATCH / "mutants")
        self.commands = {}
        for entry in json.loads((BUILD / "compile_commands.json").read_text()):
            if " -o CMakeFiles/inkling_lib.dir/" in entry["command"]:
                self.commands[entry["file"]] = entry["command"].split()

    def replaced(self, sources):
        """File that is compiled -> the changed files in it."""
        headers = {path for path in sources if path.endswith(".h")}
        uses = lambda path: {path} & sources.keys() | (included(path) & headers)
        parts = {}
        for file in self.commands:
            text = pathlib.Path(file).read_text() if "/Unity/" in file else f'#include "{file}"'
            inside = [os.path.relpath(f, ROOT) for f in re.findall(r'#include "(/[^"]+)"', text)]
            changed = set().union(*(uses(path) for path in inside if path.startswith(("engine/", "nn/"))))
            if changed:
                parts[file] = (inside, changed)
        return parts

    def compile(self, file, inside):
        """Compiles a file whose parts lie in TREE, where they are changed. Returns what the compiler says, or nothing."""
        command = list(self.commands[file])
        place = str(SCRATCH / command[command.index("-o") + 1].replace("/", "_"))
        write_if_changed(pathlib.Path(place + ".cpp"), "".join(
            f'#include "{(TREE if (TREE / path).exists() else ROOT) / path}"\n' for path in inside))
        command[command.index("-o") + 1] = place
        command[command.index("-c") + 1:] = [place + ".cpp", "-O1", "-w", "-Wno-error", f"-I{SCRATCH}"]
        command.insert(1, f"-I{TREE}")
        behind = sorted(set(inside).union(*(included(path) for path in inside))) + ["engine/mutants.h"]
        texts = [(TREE / path if (TREE / path).exists() else ROOT / path).read_text() for path in behind]
        key = hashlib.sha256("\0".join([*command, *texts]).encode()).hexdigest()
        done = pathlib.Path(place + ".key")
        if done.exists() and done.read_text() == key and pathlib.Path(place).exists():
            return ""
        result = run(command, cwd=BUILD)
        if result.returncode:
            return result.stdout
        done.write_text(key)
        return ""

    def compile_all(self, sources, mutants, jobs):
        """Compiles the test program; mutants that are no C++ are dropped. Returns the others."""
        known = SCRATCH / "not_cpp.json"
        before = json.loads(known.read_text()) if known.exists() else {}  # what an earlier run found
        key = {path: path + " " + hashlib.sha256(source.text.encode()).hexdigest() for path, source in sources.items()}
        dropped = {m.id for m in mutants if m.text() in before.get(key[m.path], [])}
        parts = self.replaced(sources)
        todo = set(parts)
        while todo:
            owners = {}
            for path, source in sources.items():
                text, owners[path] = source.schema([m for m in mutants if m.path == path and m.id not in dropped])
                write_if_changed(TREE / path, text)
            with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
                said = dict(zip(sorted(todo), pool.map(lambda file: self.compile(file, parts[file][0]), sorted(todo))))
            wrong = set()
            for file, text in said.items():
                found = set()
                for path, line in re.findall(r"^\S*/build-mutants/tree/(\S+?):(\d+):\d+: error:", text, flags=re.M):
                    lines = sorted(owners.get(path, {}))
                    at = bisect.bisect_right(lines, int(line)) - 1
                    if at >= 0:
                        found.add(owners[path][lines[at]])
                if text and not {m.id for m in found} - dropped:
                    (SCRATCH / "build.log").write_text(text)
                    sys.exit(f"{file} does not compile, and not because of a mutant: see {SCRATCH / 'build.log'}")
                wrong |= found
            dropped |= {m.id for m in wrong}
            todo = {file for file, (_, changed) in parts.items() if changed & {m.path for m in wrong}}
            print(f"  {len(dropped)} are no C++; {len(todo)} files to compile again", flush=True)
        for m in mutants:
            if m.id in dropped:
                before[key[m.path]] = sorted({*before.get(key[m.path], []), m.text()})
        known.write_text(json.dumps(before, indent=1))
        own = {self.object(file) for file in parts}
        objects = [str(SCRATCH / o.replace("/", "_")) for o in own] + [o for o in self.objects if o not in own]
        result = run(self.link[:1] + objects + self.link[1:], cwd=BUILD)  # of an inline function the linker keeps the first
        if result.returncode:
            sys.exit(result.stdout)
        return [m for m in mutants if m.id not in dropped]

    def object(self, file):
        command = self.commands[file]
        return command[command.index("-o") + 1]


def included(path):
    """The headers of the project behind a file."""
    found, todo = set(), [path]
    while todo:
        for header in re.findall(r'^#include "([^"]+)"', (ROOT / todo.pop()).read_text(), flags=re.M):
            if header not in found and (ROOT / header).exists():
                found.add(header)
                todo.append(header)
    return found


class Tests:
    """The test program, run with chosen tests and one mutant."""

    def __init__(self, part):
        self.program = SCRATCH / "mutants"
        names = run([self.program, "--list-test-names-only", "~[slow]"]).stdout
        if "nrecognised" in names:  # Catch2 3
            names = run([self.program, "--list-tests", "--verbosity", "quiet", "~[slow]"]).stdout
        self.names = [n.strip() for n in names.splitlines() if n.strip() and part in n]
        self.seconds, self.reaching, self.known = {}, collections.defaultdict(list), set()

    def run(self, names, mutant, tag, limit, reached=None):
        lists = SCRATCH / f"names-{tag}.txt"
        lists.write_text("".join('"' + n.replace(",", "\\,") + '"\n' for n in names))
        environment = dict(os.environ, INKLING_MUTANT=str(mutant), OMP_NUM_THREADS="2", OMP_WAIT_POLICY="passive")
        if reached:
            environment["INKLING_MUTANTS_REACHED"] = str(reached)
        try:
            return run([self.program, "-a", "-f", lists], env=environment, timeout=limit, cwd=SCRATCH).returncode
        except subprocess.TimeoutExpired:
            return "time"
        finally:
            lists.unlink()

    def measure(self, name):
        start, record = time.monotonic(), SCRATCH / f"reached-{self.names.index(name)}.txt"
        code = self.run([name], -1, f"test-{self.names.index(name)}", 300, record)
        rows = [tuple(map(int, row.split())) for row in record.read_text().splitlines()] if record.exists() else []
        record.unlink(missing_ok=True)
        return name, code, time.monotonic() - start, rows

    def measure_all(self, jobs):
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for name, code, seconds, rows in pool.map(self.measure, self.names):
                if code != 0:
                    if code != 4:  # 4: it skipped itself
                        print(f"  left out, since it fails without a mutant: {name}")
                    continue
                self.seconds[name] = seconds
                for mutant, reached in rows:
                    self.known.add(mutant)
                    if reached:
                        self.reaching[mutant].append(name)

    def kills(self, mutant):
        """Whether a test fails: the three fastest are run first, since one of them fails nearly always."""
        names = sorted(self.reaching[mutant.id], key=self.seconds.get)
        for part in (names[:3], names[3:12], names[12:]):
            limit = 10 + 5 * sum(self.seconds[n] for n in part)
            if part and self.run(part, mutant.id, mutant.id, limit) != 0:
                return True
        return False


def equivalent():
    """Text of a mutant -> why no test can notice it."""
    reasons, reason = {}, ""
    for line in (ROOT / "tests/mutants_equivalent.txt").read_text().splitlines():
        if line.startswith("    "):
            reasons[line.strip()] = reason
        elif line.strip() and not line.startswith("#"):
            reason = line.strip()
    return reasons


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", help="mutants whose file and text contain this; repeatable")
    parser.add_argument("--tests", default="", help="tests whose names contain this")
    parser.add_argument("--indices", action="store_true", help="change the arithmetic of integers, too")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", action="store_true", help="print all mutants, and stop")
    args = parser.parse_args()

    start = time.monotonic()
    paths = sorted({str(p.relative_to(ROOT)) for pattern in FILES for p in ROOT.glob(pattern) if not EXCLUDED.search(p.name)})
    sources = {path: Source(path) for path in paths}
    mutants = []
    for at, source in enumerate(sources.values()):
        of_file = source.mutants()
        assert len(of_file) < IDS
        for i, m in enumerate(of_file):
            m.id = IDS * at + i
        mutants += [m for m in of_file if any(part in m.text() for part in args.only or [""])]
    if args.list:
        for m in mutants:
            print(f"{m.text()}   at line {m.line}")
        return 0
    holding = {path: source for path, source in sources.items() if any(m.path == path for m in mutants)}
    shutil.rmtree(TREE, ignore_errors=True)
    print(f"{len(mutants)} places in {len(holding)} files: compiling", flush=True)
    text = HEADER.replace("@COUNT@", str(IDS * (len(sources) + 1))).replace("@INDICES@", str(args.indices).lower())
    write_if_changed(TREE / "engine/mutants.h", text)
    mutants = Build().compile_all(holding, mutants, args.jobs)
    tests = Tests(args.tests)
    print(f"compiled after {time.monotonic() - start:.0f} s; {len(tests.names)} tests: which mutants does each reach?", flush=True)
    if not tests.names:
        sys.exit(f"{tests.program} has no such test")
    tests.measure_all(args.jobs)
    mutants = [m for m in mutants if m.id in tests.known]
    print(f"{len(mutants)} mutants of formulas: running the tests on each ({time.monotonic() - start:.0f} s)", flush=True)
    reasons, survivors, table = equivalent(), [], collections.defaultdict(collections.Counter)
    random.Random(1).shuffle(mutants)  # so that an interrupted run has seen something of all files
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for n, (m, killed) in enumerate(zip(mutants, pool.map(tests.kills, mutants)), 1):
            how = "killed" if killed else "equivalent" if m.text() in reasons else "survived"
            table[m.path][how] += 1
            if how == "survived":
                survivors.append(m)
                where = "" if tests.reaching[m.id] else "   (no test reaches it)"
                print(f"survived: {m.text()}   at line {m.line}{where}", flush=True)
            if killed and m.text() in reasons:
                print(f"listed as equivalent, but a test notices it: {m.text()}")
            if n % 100 == 0:
                print(f"  {n} of {len(mutants)} ({time.monotonic() - start:.0f} s)", flush=True)
    print(f"\n{'file':<44} {'mutants':>8} {'killed':>8} {'equivalent':>11} {'survived':>9}")
    total = collections.Counter()
    for path, counts in sorted(table.items()):
        total += counts
        print(f"{path:<44} {sum(counts.values()):8} {counts['killed']:8} {counts['equivalent']:11} {counts['survived']:9}")
    print(f"{'all':<44} {sum(total.values()):8} {total['killed']:8} {total['equivalent']:11} {total['survived']:9}")
    there = {m.text() for source in sources.values() for m in source.mutants()}
    for text in sorted(reasons.keys() - there):
        print(f"listed as equivalent, but there is no such mutant: {text}")
    print(f"{time.monotonic() - start:.0f} s")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
