# SPDX-License-Identifier: BSL-1.0
# Finds where the rules apply in a header, and writes the header with all changes behind their switches.
import re

from rules import OPERATORS, RULES, SUCCESSES

TOKEN = re.compile(r"""
    (?P<skip>\s+|//[^\n]*|/\*.*?\*/)
  | (?P<directive>^[ \t]*\#(?:[^\n\\]|\\.)*)
  | (?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | (?P<number>\d(?:[\w.]|'\d)*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<mark><<=|>>=|<=>|->\*|\.\.\.|::|->|\+\+|--|&&|\|\||[-+*/%&|^!=<>]=|<<|.)
""", re.X | re.S | re.M)
CLOSERS = {"(": ")", "[": "]", "{": "}"}
# In front of a call they do not make it a declaration.
BEFORE_CALLS = {"return", "else", "case", "const", "do", "throw", "co_return"}
WEAKER = {"==", "!=", "&", "^", "|", "&&", "||", "?", ":", "=", "+=", "-=", "*=", "/=", ",", ";", "(", "[", "{", ")", "]",
          "}", "return", "<", "<=", ">", ">=", "!"}
UNMET = ("__CUDACC__", "__CUDA_ARCH__")


class Token:
    def __init__(self, kind, text, begin, end):
        self.kind, self.text, self.begin, self.end = kind, text, begin, end
        self.partner = None  # the bracket that closes or opens with it
        self.angle = False  # a bracket of template arguments
        self.fixed = False  # nothing here is computed while the program runs


class Rule:
    """A pattern taken apart; what it matches first is a name or a mark of C++."""

    def __init__(self, kind, pattern, replacement):
        words = pattern.split()
        self.kind = kind
        self.member = words[0] in ("$r", "«$r")
        self.changes_object = words[0] == "«$r"
        self.words = words[1:] if self.member else words
        if self.changes_object:
            self.words[0] = "«" + self.words[0]
        self.before, self.after = replacement.split("{code}")


RULES_FROM = {}
for given in RULES:
    made = Rule(*given)
    RULES_FROM.setdefault(made.words[0].strip("«»"), []).append(made)


def rules_from(word):
    """The rules whose patterns begin with this token."""
    return RULES_FROM.get(word, ())


class Mutant:
    """A change: a range of the header, the text before and after it, and other text for one of its tokens."""

    def __init__(self, path, kind, begin, end, before, after, middle=None):
        self.path, self.kind, self.begin, self.end = path, kind, begin, end
        self.before, self.after, self.middle = before, after, middle
        self.number = 0
        self.line = self.text = self.code = None


def met(condition):
    """Whether an #if holds in emulation; None where nobody knows."""
    condition = condition.strip()
    if re.fullmatch(r"!\s*defined\(ONTO_CUDA_EMULATION\)", condition):
        return False
    if re.fullmatch(r"defined\(ONTO_CUDA_EMULATION\)", condition):
        return True
    if re.fullmatch(r"defined\((\w+)\)", condition) and any(u in condition for u in UNMET):
        return False
    return None


def tokens_of(text):
    """The tokens of what is compiled in emulation."""
    found, stack = [], []  # of the #ifs: whether what stands here is compiled
    position = 0
    while position < len(text):
        match = TOKEN.match(text, position)
        position = match.end()
        kind = match.lastgroup
        if kind == "directive":
            words = match[0].strip().lstrip("#").strip()
            if words.startswith("if"):
                stack.append(met(words[3:]) if words.startswith("if ") else None)
            elif words.startswith("else") and stack:
                stack[-1] = None if stack[-1] is None else not stack[-1]
            elif words.startswith("endif") and stack:
                stack.pop()
        elif kind != "skip" and False not in stack:
            if match[0] == "<<" and not (text[match.start() - 1] == " " and text[match.end()] in " \n"):
                for k in range(2):
                    found.append(Token(kind, "<", match.start() + k, match.start() + k + 1))
            else:
                found.append(Token(kind, match[0], match.start(), match.end()))
    return found


def pair(text, tokens):
    """Finds the brackets' partners, those of template arguments among them."""
    stack = []
    for i, t in enumerate(tokens):
        if t.kind != "mark":
            continue
        spaced = text[t.begin - 1] in " \n"
        if t.text in CLOSERS:
            stack.append(i)
        elif t.text in CLOSERS.values():
            while stack and tokens[stack[-1]].text == "<":
                stack.pop()
            if stack and CLOSERS[tokens[stack[-1]].text] == t.text:
                t.partner = stack.pop()
                tokens[t.partner].partner = i
        elif t.text == "<" and i and ((tokens[i - 1].kind == "name" and not spaced) or tokens[i - 1].text == "template"):
            stack.append(i)
        elif t.text == ">" and not spaced and stack and tokens[stack[-1]].text == "<":
            t.partner = stack.pop()
            tokens[t.partner].partner = i
            t.angle = tokens[t.partner].angle = True


def fix(tokens):
    """Marks what only the compiler computes."""

    def mark(begin, end):
        for t in tokens[begin:end + 1]:
            t.fixed = True

    def end_of(i, marks):
        while i < len(tokens) and tokens[i].text not in marks:
            i = tokens[i].partner + 1 if tokens[i].partner and tokens[i].partner > i else i + 1
        return min(i, len(tokens) - 1)

    for i, t in enumerate(tokens):
        following = tokens[i + 1].text if i + 1 < len(tokens) else ""
        if t.angle and t.partner > i:
            mark(i, t.partner)
        elif t.text in ("static_assert", "alignas", "noexcept", "decltype", "sizeof") and following == "(":
            mark(i, tokens[i + 1].partner)
        elif t.text in ("using", "case"):
            mark(i, end_of(i, {";", ":"} if t.text == "case" else {";"}))
        elif t.text == "constexpr":
            if i and tokens[i - 1].text == "if":
                mark(i, tokens[i + 1].partner)
                continue
            end = i + 1
            while tokens[end].text not in ("=", "(", "{", ";"):
                end = tokens[end].partner + 1 if tokens[end].text == "[" or tokens[end].angle else end + 1
            if tokens[end].text in ("=", ";"):
                mark(i, end_of(end, {";"}))
        elif t.text == "[" and i > 1 and tokens[i - 1].kind == "name" and t.partner:
            # The extent of an array that is declared.
            if tokens[i - 2].kind == "name" and tokens[i - 2].text != "return" or tokens[i - 2].angle:
                mark(i, t.partner)


def argument_end(tokens, i):
    """One past the argument that begins at i."""
    start = i
    while i < len(tokens) and tokens[i].text not in (",", ")", ";", "}", "]"):
        i = tokens[i].partner + 1 if tokens[i].partner and tokens[i].partner > i else i + 1
    return i if i > start else None


def object_begin(tokens, i):
    """Where the object begins whose member the token i is; i where there is none."""
    while i >= 2 and tokens[i - 1].text in (".", "->"):
        i -= 2
        while tokens[i].partner is not None and tokens[i].partner < i:
            i = tokens[i].partner - 1
        if tokens[i].kind != "name":
            return None
    return i


def match(tokens, words, i):
    """The first and last token that a pattern changes where it begins at token i, and the range of its last argument."""
    begin = end = argument = None
    for word in words:
        if word.startswith("«"):
            begin = i
        core = word.strip("«»")
        if core == "$x":
            to = argument_end(tokens, i)
            if to is None:
                return None
            argument = i, to
            i = to
        elif core == "$*":
            while i < len(tokens) and tokens[i].text not in (")", "}"):
                i = tokens[i].partner + 1 if tokens[i].partner and tokens[i].partner > i else i + 1
        elif i >= len(tokens) or (tokens[i].kind != "name" if core == "$i" else tokens[i].text != core):
            return None
        else:
            i += 1
        if word.endswith("»"):
            end = i - 1
    return (begin, end, argument) if begin <= end else None


def is_declaration(tokens, i, first):
    """Whether the name at i is being declared."""
    before = tokens[first - 1] if first else None
    if before is None or tokens[i].kind != "name":
        return False
    if before.kind == "name":
        return before.text not in BEFORE_CALLS
    if before.angle and first == i:
        return True
    following = tokens[i + 1] if i + 1 < len(tokens) else None
    if following is not None and following.text == "(" and following.partner and following.partner + 1 < len(tokens):
        after = tokens[following.partner + 1].text
        return after in ("{", "const", "noexcept", "override") or (before.text in ("*", "&") and after in ("{",))
    return False


def is_prefix(tokens, i):
    """Whether the mark at i has an operand on its right side only."""
    before = tokens[i - 1]
    return before.text == "return" or (before.kind == "mark" and before.text not in (")", "]"))


def operand(tokens, i, step):
    """The last token of the operand that begins beside the operator, seen from there."""
    last = None
    while 0 <= i < len(tokens):
        t = tokens[i]
        if t.partner is not None and (t.partner > i) == (step > 0):
            i = last = t.partner
        elif t.text in WEAKER and not t.angle and not (t.text == "&" and is_prefix(tokens, i)):
            break
        else:
            last = i
        i += step
    return last


def chooses(tokens, right):
    """Whether this is the condition of a choice, as in `a < b ? a : b`: most are of what is as good where both are equal."""
    return right + 1 < len(tokens) and tokens[right + 1].text == "?"


def find(path, text):
    """The mutants of a header, in the order of its text."""
    tokens = tokens_of(text)
    pair(text, tokens)
    fix(tokens)
    found, taken = [], set()

    def add(kind, begin, end, before, after, middle=None):
        if (kind, begin, end) in taken:
            return
        taken.add((kind, begin, end))
        # One unit less is one block less; a loop that begins at 1 is a bound's matter.
        if kind == "grid" and any(m.kind == kind and m.begin <= begin and end <= m.end for m in found):
            return
        if kind == "offset" and text[begin:end] == "0":
            return
        found.append(Mutant(path, kind, begin, end, before, after, middle))

    for i, t in enumerate(tokens):
        if t.fixed:
            continue
        for rule in rules_from(t.text) if t.kind != "string" else ():
            first = object_begin(tokens, i) if rule.member else i
            result = match(tokens, rule.words, i) if first is not None else None
            if result is None or is_declaration(tokens, i, first):
                continue
            begin, end, argument = result
            if rule.changes_object:
                begin = first
            if rule.kind == "layout" and rule.member:
                # A member's value, not the member.
                if first == i or (end == i and tokens[i + 1].text in ("=", "(", "++")):
                    continue
            values = {"{r}": text[tokens[first].begin:t.begin],
                      "{x}": text[tokens[argument[0]].begin:tokens[argument[1] - 1].end] if argument else ""}
            before, after = rule.before, rule.after
            for word, value in values.items():
                before, after = before.replace(word, value), after.replace(word, value)
            add(rule.kind, tokens[begin].begin, tokens[end].end, before, after)
        if t.kind == "mark" and t.text in OPERATORS and not t.angle and text[t.begin - 1] in " \n" and text[t.end] in " \n":
            kind, name = OPERATORS[t.text]
            left, right = operand(tokens, i - 1, -1), operand(tokens, i + 1, 1)
            if left is not None and right is not None and not chooses(tokens, right):
                add(kind, tokens[left].begin, tokens[right].end, "::onto_mutant::" + name + "<{n}>(", ")",
                    (t.begin, t.end, ","))
        if t.text in ("==", "!=") and tokens[i + 1].text in SUCCESSES:
            left = operand(tokens, i - 1, -1)
            if left is not None:
                add("status", tokens[left].begin, tokens[i + 1].end,
                    "({is} || " if t.text == "==" else "(!{is} && ", ")")
    lines = text.splitlines()
    for m in found:
        m.line = text.count("\n", 0, m.begin) + 1
        m.text = lines[m.line - 1].strip()
        m.code = " ".join(text[m.begin:m.end].split())
    found.sort(key=lambda m: (m.begin, -m.end))
    return nested(found)


def nested(mutants):
    """Without those whose ranges cross another's."""
    kept = []
    for m in mutants:
        crosses = any(k.begin < m.begin < k.end < m.end for k in kept)
        repeats = any(k.middle and m.middle and k.middle[0] == m.middle[0] for k in kept)
        if not crosses and not repeats:
            kept.append(m)
    return kept


def rewrite(text, mutants):
    """The text with every mutant in it, behind the switch of its number."""
    opening, closing, replaced = {}, {}, {}
    for m in sorted(mutants, key=lambda m: (m.begin, -m.end, m.number)):  # the outer first
        names = (("{is}", f"::onto_mutant::is<{m.number}>()"), ("{n}", str(m.number)))
        before, after = m.before, m.after
        for word, value in names:
            before, after = before.replace(word, value), after.replace(word, value)
        opening.setdefault(m.begin, []).append(before)
        closing.setdefault(m.end, []).insert(0, after)
        if m.middle:
            replaced[m.middle[0]] = m.middle
    pieces, position = [], 0
    for at in sorted({*opening, *closing, *replaced}):
        pieces.append(text[position:at])
        position = at
        pieces += closing.get(at, [])
        pieces += opening.get(at, [])
        if at in replaced:
            pieces.append(replaced[at][2])
            position = replaced[at][1]
    pieces.append(text[position:])
    header = "onto_mutant_stream.hpp" if any("other_stream" in m.before for m in mutants) else "onto_mutant.hpp"
    return "".join(pieces).replace("#pragma once\n", f"#pragma once\n#include <{header}>\n", 1)
