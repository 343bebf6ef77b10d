#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# What clang-format 14 misreads, and then lays out wrongly: rulers over a section that are too long and are broken over two
# lines, `a && b<...>`, `a * b` and `a<b>` taken for declarations and comparisons. `--fix` mends rulers; an expression is
# written so that it cannot be misread, mostly by parentheses.
import re
import sys

from source import CPP, close, files, relative, without_comments

WIDTH = 110
RULER = re.compile(r"^([ ]*)// ---- (\S.*?)(?: -+)?\n(?:[ ]*// -{4,}\n)?", re.M)
EXPRESSIONS = [
    (re.compile(r"\w&& \w+(?:::|<|\(| &&| \|\|| \?)"), "`a && b` is laid out as a declaration; write (a && b)"),
    (re.compile(r"[\w)] > ;|[\w)] < \w[^;<]* > [,)]"), "`a<b>` is laid out as a comparison; name the argument before it"),
    (re.compile(r"\b(?:static_assert|CHECK|REQUIRE|plan_of|fetches|assign\w*|sqrt)\(.*[(,] ?\w+\* \w+(?:[),]| [-+*/] )"),
     "`a * b` is laid out as a declaration; write (a * b)"),
]


def ruler(match):
    """The ruler as it is to be: in one line, of the same width everywhere."""
    head = f"{match[1]}// ---- {match[2]} "
    return head + "-" * max(WIDTH - len(head), 4) + "\n"


def problems_of(shown, text):
    for found in RULER.finditer(text):
        if found[0] != ruler(found):
            yield f"{shown}:{text.count(chr(10), 0, found.start()) + 1}: the ruler is not one line of {WIDTH} columns; ./run format mends it"
    for number, line in enumerate(without_comments(text).split("\n"), 1):
        for wrong, what in EXPRESSIONS:
            if wrong.search(line):
                yield f"{shown}:{number}: {what}"


def self_check():
    """The rules on lines that break them, and on some that do not."""
    wrong = [
        "// ---- errors\n// " + "-" * 100 + "\n",
        "// ---- errors ------\n",
        "template <class P, bool Packs = has_packs&& P::packable>\n",
        "constexpr bool b = has_packs&& std::is_same_v<T, float>;\n",
        "  return folds_packs < is_argument(F) ? fold::max : F, T > ;\n",
        "static_assert(plan_of(fetches(x + y, x* y)).kernels == 1);\n",
    ]
    right = [
        "// ---- errors " + "-" * (WIDTH - 15) + "\n",
        "template <class A> void f(A&& a, A&&... more, T* const p, std::vector<int>&& v);\n",
        "  for (int k = 0; k < count && a > b; ++k) g(a < b, c > d);\n",
        "static_assert(plan_of(fetches(x + y, (x * y))).kernels == 1);\n",
        "  const bool both = a && b<T>;\n",
    ]
    for text in wrong:
        if not list(problems_of("x.cpp", text)):
            sys.exit(f"misread: nothing is found in {text}")
    for text in right:
        if found := list(problems_of("x.cpp", text)):
            sys.exit(f"misread: {found} in {text}")


def main():
    self_check()
    problems, checked = [], 0
    for path in files(*CPP):
        checked += 1
        text = path.read_text()
        if "--fix" in sys.argv and (mended := RULER.sub(ruler, text)) != text:
            path.write_text(mended)
            text = mended
        problems += problems_of(relative(path), text)
    close("misread", checked, problems)


if __name__ == "__main__":
    main()
