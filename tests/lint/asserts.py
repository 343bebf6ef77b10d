#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# A test asserts something: none returns before its first assertion, none has no assertion at all, neither of its own nor in a
# function of the tests that it calls, and none has all of them under an `if` without an `else`. What cannot be tested on a
# machine says so with WARN, or is asserted otherwise there.
import re
import sys

from source import close, files, relative, without_comments

ASSERTION = re.compile(r"\b(?:STATIC_)?(?:CHECK|REQUIRE)(?:_\w+)?\s*\(|\b(?:FAIL|FAIL_CHECK|SUCCEED|WARN|SKIP)\s*\(")
TEST = re.compile(r"^(?:TEMPLATE_(?:PRODUCT_|LIST_)?)?TEST_CASE(?:_METHOD)?\s*\(", re.M)
FUNCTION = re.compile(r"\b(~?[A-Za-z_]\w*|operator\s*\S{1,3})\s*\((?:[^(){};]|\{\}|\([^(){};]*\))*\)\s*"
                      r"(?:const\b|noexcept\b|override\b|->[^{};]*|requires\b[^{};]*|\s)*\{")
LAMBDA = re.compile(r"\[[^\[\]]*\]\s*(?:\((?:[^(){}]|\([^(){}]*\))*\)\s*)?(?:mutable\b|noexcept\b|->[^{};]*|\s)*\{$")
KEYWORDS = {"if", "for", "while", "switch", "catch", "sizeof", "decltype", "return", "constexpr"}


def end_of(text, brace):
    """Where the block that begins at `brace` ends."""
    depth = 0
    for k in range(brace, len(text)):
        depth += {"{": 1, "}": -1}.get(text[k], 0)
        if depth == 0:
            return k
    return len(text)


def early_return(body):
    """Where a body, not a lambda in it, returns before anything is asserted; or -1."""
    for found in re.finditer(r"\breturn\s*;", body):
        if ASSERTION.search(body, 0, found.start()):
            return -1
        inside = False
        for brace in re.finditer(r"\{", body[: found.start()]):
            opened = brace.start()
            if end_of(body, opened) > found.start() and LAMBDA.search(body[: opened + 1]):
                inside = True
        if not inside:
            return found.start()
    return -1


def without_conditions(body):
    """A body without what an `if` that has no `else` guards; `if constexpr`, which the compiler decides, stays."""
    start = 0
    while found := re.compile(r"\bif \(").search(body, start):
        depth = 0
        for close_at in range(found.end() - 1, len(body)):
            depth += {"(": 1, ")": -1}.get(body[close_at], 0)
            if depth == 0:
                break
        rest = body[close_at + 1 :]
        if rest.lstrip().startswith("{"):
            end = end_of(body, body.index("{", close_at)) + 1
        else:
            end = close_at + 1 + rest.find(";") + 1
        if body[end:].lstrip().startswith("else"):
            start = close_at
        else:
            body = body[: close_at + 1] + ";" + body[end:]
            start = close_at
    return body


def functions(text):
    """Names and bodies of the functions that `text` defines."""
    for found in FUNCTION.finditer(text):
        if found[1] not in KEYWORDS:
            opened = found.end() - 1
            yield found[1], found.start(), text[opened : end_of(text, opened) + 1], opened
    for found in re.finditer(r"\b(\w+)\s*=\s*(\[[^\[\]]*\][^;{}]*\{)", text):
        opened = found.end() - 1
        yield found[1], found.start(), text[opened : end_of(text, opened) + 1], opened


def test_cases(text):
    for found in TEST.finditer(text):
        depth = 0
        for k in range(found.end() - 1, len(text)):
            depth += {"(": 1, ")": -1}.get(text[k], 0)
            if depth == 0:
                break
        opened = text.find("{", k)
        yield found.start(), text[opened : end_of(text, opened) + 1], opened


def problems_of(texts):
    bodies = {}
    for text in texts.values():
        for name, _, body, _ in functions(text):
            bodies.setdefault(name, []).append(body)
    asserting = {"golden"} | {n for n, all_of in bodies.items() if any(ASSERTION.search(b) for b in all_of)}
    calls = {n: set(re.findall(r"\b(\w+)\s*(?:<[^;{}()]*>)?\s*\(", " ".join(b))) for n, b in bodies.items()}
    while True:
        more = {n for n, called in calls.items() if n not in asserting and called & asserting}
        if not more:
            break
        asserting |= more

    def asserts(body):
        words = set(re.findall(r"\b(\w+)\s*(?:<[^;{}()]*>)?\s*[({]", body))
        return ASSERTION.search(body) or words & asserting

    for path, text in texts.items():
        line = lambda at: text.count("\n", 0, at) + 1  # noqa: E731, B023
        seen = set()
        for start, body, opened in test_cases(text):
            seen.add(opened)
            at = early_return(body)
            if at >= 0:
                yield f"{path}:{line(opened + at)}: the test returns before it has asserted anything; assert, or WARN"
            if not asserts(body):
                yield f"{path}:{line(start)}: the test asserts nothing"
            elif not asserts(without_conditions(body)):
                yield f"{path}:{line(start)}: the test asserts only under a condition; assert what holds without it, too, or WARN"
        for name, start, body, opened in functions(text):
            if opened in seen or not ASSERTION.search(body):
                continue
            at = early_return(body)
            if at >= 0:
                yield f"{path}:{line(opened + at)}: {name} returns before it has asserted anything; assert, or WARN"


def self_check():
    """The rules on programs that break them, and on one that does not."""
    head = "void check(int x) { CHECK(x); }\n"
    wrong = [
        'TEST_CASE("a") { if (x) return; CHECK(x); }',
        'TEST_CASE("a") { int x = 1; launch(x); }',
        'void check_all(int x) { if (x != 3) return; CHECK(x); }\nTEST_CASE("a") { check_all(1); }',
        'TEMPLATE_TEST_CASE("a", "[b]", int, float) { for (;;) { if (x) { return; } } REQUIRE(x); }',
        'TEST_CASE("a") { if (devices == 2) { CHECK(x); } }',
        'TEST_CASE("a") { for (;;) { if (f(x)) check(x); if (y) CHECK(y); } }',
    ]
    right = [
        'TEST_CASE("a") { check(1); }',
        'TEST_CASE("a") { const auto f = [&](int k) { if (k) return; g(); }; f(1); CHECK(x); }',
        'TEST_CASE("a") { if (x) { WARN("not here"); return; } CHECK(x); }',
        'TEST_CASE("a") { CHECK(x); if (y) return; CHECK(y); }',
        'TEST_CASE("a") { if (x) { CHECK(x); } else { CHECK(y); } }',
        'TEMPLATE_TEST_CASE("a", "[b]", int) { if constexpr (x) CHECK(x); }',
        'void f(int x) { if (x) return; g(); }\nTEST_CASE("a") { f(1); check(2); }',
    ]
    for text in wrong:
        if not list(problems_of({"x.cpp": head + text})):
            sys.exit(f"asserts: nothing is found in {text}")
    for text in right:
        if found := list(problems_of({"x.cpp": head + text})):
            sys.exit(f"asserts: {found} in {text}")


def main():
    self_check()
    texts = {}
    for path in files(".cpp", ".cu", ".hpp"):
        shown = relative(path)
        if shown.startswith(("tests/unit/", "tests/gpu/", "tests/cuda_emulation/tests/", "tests/mixed/", "tests/golden.hpp")):
            texts[shown] = without_comments(path.read_text())
    close("asserts", len(texts), sorted(set(problems_of(texts))))


if __name__ == "__main__":
    main()
