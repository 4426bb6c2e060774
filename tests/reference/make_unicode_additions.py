"""Writes data/tokenizers/unicode_additions.h: the characters that Unicode 15 and 16 added to version 14, with their categories.

    python make_unicode_additions.py > ../../data/tokenizers/unicode_additions.h
    python make_unicode_additions.py --marks      # newer_marks of ../../data/tokenizers/nfc.cpp

Needs a Python whose unicodedata is of version 14 (3.11) and the `tokenizers` library, whose regular expressions are asked.
"""

import sys
import unicodedata

from tokenizers import Regex, normalizers, pre_tokenizers

assert unicodedata.unidata_version == "14.0.0"
if sys.argv[1:] == ["--marks"]:  # those that NFC of the library does not move or join, for its tables are of Unicode 9
    nfc = normalizers.NFC()
    marks = []
    for c in (c for c in range(0x110000) if unicodedata.combining(chr(c))):
        pairs = [t for m in "\u0334\u0327\u0301\u0345\u05b0\u0c55\u093c\u3099" for t in ("x" + m + chr(c), "x" + chr(c) + m)]
        if any(nfc.normalize_str(t) != unicodedata.normalize("NFC", t) for t in pairs):
            marks.append(c)
    for whole in (chr(c) for c in range(0x110000)):
        parts = unicodedata.normalize("NFD", whole)
        if len(parts) == 2 and unicodedata.normalize("NFC", parts) == whole != nfc.normalize_str(parts):
            marks.append(ord(parts[1]))
    runs = []
    for c in sorted(set(marks)):
        if runs and runs[-1][1] == c - 1:
            runs[-1][1] = c
        else:
            runs.append([c, c])
    sys.exit(print(", ".join("{0x%X, 0x%X}" % tuple(r) for r in runs)))
text = "".join(chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000)
found = {}
for category in "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp".split():
    split = pre_tokenizers.Split(Regex(r"\p{%s}+" % category), "removed", invert=True)
    members = "".join(part for part, _ in split.pre_tokenize_str(text))
    found.update({ord(c): category for c in members if unicodedata.category(c) == "Cn"})

ranges = []
for c in sorted(found):
    if ranges and ranges[-1][1] == c - 1 and ranges[-1][2] == found[c]:
        ranges[-1][1] = c
    else:
        ranges.append([c, c, found[c]])

print("""// Characters that Unicode 16 has and 14 has not, with their general categories. Debian 12's PCRE2 knows 14, Debian 13's
// knows 16, and so does the `tokenizers` library: with these, a text has the same ids everywhere.
// Made by tests/reference/make_unicode_additions.py.
#pragma once

namespace inkling::data {

struct UnicodeRange {
    char32_t first, last;
    const char* category;
};

// clang-format off
inline constexpr UnicodeRange unicode_additions[] = {""")
line = "   "
for first, last, category in ranges:
    item = ' {0x%X, 0x%X, "%s"},' % (first, last, category)
    if len(line) + len(item) > 120:
        print(line)
        line = "   "
    line += item
print(line)
print("""};
// clang-format on

}  // namespace inkling::data""")
