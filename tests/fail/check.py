#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Programs that must not compile. Each file of this folder is compiled twice by every compiler that is installed: as it is, it
# must be refused for the reason it names in few lines of ours; with -DONTO_TWIN, one thing changed, it must compile (nvcc is
# asked for that only where there is no other compiler).
"""usage: check.py [--show] [NAME_PART...]

In the head of a file:
  // FAIL: <regex>          must be found in what the compiler says; more than one line: each of them
  // FAIL(nvcc): <regex>    the same for one compiler
  // LINES: 10              the most lines of ours (naming include/onto or the file, or carrying an [onto.] tag)
  // ONLY: g++ clang++      the compilers the file is for; without it, all
  // FLAGS: -fno-exceptions  the one thing that the twin is compiled without, where it is no line of the program
  // ALONE: why             it is compiled in a file of its own
Beside it, NAME.words holds lines of g++ 12's message that the documents quote: each must be in the message, in this order.
They say in which header of ours something is, not in which line: lines move with every change to it.
ONTO_UPDATE_GOLDEN=1 rewrites the .words files that exist; --show prints what each compiler says."""
import functools
import itertools
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from compilers import INCLUDE, ROOT, TOGETHER, TOGETHER_BY_NVCC, Memory, close, compilers, first_error, in_parts, included_by, indent, is_ours, joined, joins, parallel, relative, says_half, without_root  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SCRATCH = ROOT / "build" / "fail"
DIRECTIVE = re.compile(r"//\s*(FAIL|LINES|ONLY|FLAGS)(?:\(([^)]+)\))?:\s*(.*?)\s*$")


A_FEW = 9  # programs in one file, where each is to say something
WHOLE = "#include <onto/onto.hpp>"
COMPILED = "#include <onto/compiled.hpp>"


class Case:
    def __init__(self, path):
        self.path, self.text = path, path.read_text()
        self.reasons, self.limit, self.only, self.flags = [], 10, None, []
        for line in self.text.splitlines():
            match = DIRECTIVE.match(line)
            if not match:
                continue
            kind, compiler, value = match.groups()
            if kind == "FAIL":
                self.reasons.append((compiler, value))
            elif kind == "LINES":
                self.limit = int(value)
            elif kind == "FLAGS":
                self.flags = value.split()
            else:
                self.only = value.split()
        words = path.with_suffix(".words")
        self.words = words if words.is_file() else None

    @property
    def joins(self):
        """Whether the twin can stand in a namespace beside others."""
        return not self.flags and joins(self.text)

    @functools.cached_property
    def headers(self):
        """The lines that include headers of onto's."""
        return tuple(line for line in self.text.splitlines() if line.startswith("#include <onto/"))

    @property
    def chooses_includes(self):
        """Whether the twin includes something else."""
        return bool(re.search(r"^#\s*if(?:(?!^#\s*endif).)*^#\s*include", self.text, re.M | re.S))

    @functools.cached_property
    def begins_with(self):
        """The whole of onto or a header of it, where to include that is its first word to the compiler; else None."""
        said = [line for line in self.text.splitlines() if line and not line.startswith("//")]
        begins = said[:1] and said[0].startswith("#include <onto/") and said[0] != COMPILED
        return said[0] if begins and not self.flags and not self.words else None

    def wrong(self):
        """What is wrong with the file itself, or None."""
        if not self.reasons:
            return "the file has no line `// FAIL: <regex>`"
        if "ONTO_TWIN" not in self.text and not self.flags:
            return "the file has no `#ifdef ONTO_TWIN` section, the same program made right"
        return None


def ours(said, case):
    """The lines of ours. Source excerpts and carets carry no name, so they count only where they show a tag."""
    return [line for line in said.splitlines() if is_ours(line, case.path)]


def without_numbers(said):
    """What a compiler says without the numbers of our headers' lines and the hashes of types."""
    said = re.sub(r"\bboxed_node<\d+>", "boxed_node<hash>", re.sub(r"^( *)\d+ \|", r"\1|", said, flags=re.M))
    said = re.sub(r"\(auto:\d+", "(auto:1", said)  # g++ counts them through all that is included
    return re.sub(r"(include/onto/[\w/]+\.hpp):[\d:,]*\d\b", r"\1", said)


def files_of(tasks, alike=None):
    """Programs that are compiled in one file. For g++ and clang++ they are those with the same headers of onto's: whether each
    includes what it needs is seen as if it were alone. nvcc, which takes longest, gets them as they come. Neighbours in name,
    which are often about the same, are in different files; or else a few that are `alike` in one."""
    groups = {}
    for case, compiler in sorted(tasks, key=alike) if alike else tasks:
        key = says_half(case.text) if compiler.name == "nvcc" else case.headers
        groups.setdefault((compiler, key), []).append((case, compiler))
    for (compiler, _), group in groups.items():
        parts = in_parts(group, A_FEW if alike else TOGETHER_BY_NVCC if compiler.name == "nvcc" else TOGETHER)
        for at in range(len(parts)):
            some = parts[at] if alike else group[at::len(parts)]
            if len(some) > 1:
                yield some


def check_joined(name, some, ready, *flags):
    """What the compiler of the tasks says of them in one file, which begins with the whole of onto where they include that."""
    case, compiler = some[0]
    first = [WHOLE] if WHOLE in case.headers else []
    file = joined(SCRATCH / f"{name}{'.cu' if compiler.name == 'nvcc' else '.cpp'}", [case.path for case, _ in some], first)
    return compiler.check(file, f"-I{HERE}", *flags, before=ready.get(compiler.name, ()) if first else ())


def twins_together(tasks, ready):
    """Those of the tasks whose twins were seen to compile. Compilers spend nearly all of a twin's time on headers, so several
    are one file. Nothing is judged by a file that fails: its twins are compiled one by one."""

    def compile_some(number, some):
        good, said = check_joined(f"twins_{number}", some, ready, "-DONTO_TWIN")
        if not good:
            print(f"slow: {some[0][1].name} does not compile {len(some)} twins in one file: {first_error(said)}", flush=True)
        return some if good else []

    parts = list(enumerate(files_of([task for task in tasks if task[0].joins])))
    return {task for done in parallel(lambda part: compile_some(*part), parts) for task in done}


DIAGNOSTIC = re.compile(r": (?:fatal )?(error|warning|note): ")
CONTEXT = re.compile(r"^In file included from |^ +from |: (?:In|At) .*:$|:   (?:recursively )?required (?:from|by) ")


def mistakes(said, compiler):
    """What a compiler says of each mistake: an error with where it was met before it and the notes after it."""
    if compiler.name == "nvcc":
        return [block for block in re.split(r"\n\s*\n", said) if "error" in block]
    found, context = [], []
    for line in said.splitlines():
        kind = DIAGNOSTIC.search(line)
        if kind and kind[1] == "error":
            found.append([*context, line])
        elif kind is None and (context or CONTEXT.search(line)):
            context.append(line)
            continue
        elif found:
            found[-1] += [*context, line]
        context = []
    return ["\n".join(lines) for lines in found]


def refused_together(tasks, ready):
    """What is said of those of the tasks that are refused in one file with others: {task: words}. Each program is in a
    namespace of its own, so nothing of another is seen by it, and words are its own where they name its file, or follow
    such. Nothing is said of a program whose mistake another has made before it, nor, by some, of what would be seen later
    than the mistakes of others (by nvcc, on the host than for devices): it is asked again, in turn beside those that are
    refused for like reasons and beside others, as long as that helps. What is left, and what is not refused as it must be, is
    compiled alone."""
    tasks = [(case, c) for case, c in tasks if case.joins and not case.chooses_includes and not (case.words and c.name == "g++")]
    said, left = {}, tasks
    for alike in itertools.cycle((None, lambda task: task[0].reasons[0][1])):
        found = refused_in_files(files_of(left, alike), ready)
        if not found:
            return said
        said |= found
        left = [task for task in left if task not in said]


def refused_in_files(files, ready):
    def compile_some(number, some):
        compiler = some[0][1]
        good, words = check_joined(f"refused_{number}", some, ready, *compiler.every_error)
        found, unclear, last = {}, set(), None
        for mistake in mistakes(without_root(words), compiler) if not good else []:
            named = [task for task in some if re.search(rf"\b{re.escape(relative(task[0].path))}\b", mistake)]
            if not named and compiler.name == "nvcc":  # it names no file where a function is instantiated at the end of all
                meant = [task for task in some if any(re.search(reason, mistake) for only, reason in task[0].reasons if only in (None, "nvcc"))]
                named = meant if len(meant) == 1 else []
            if len(named) > 1:
                unclear.update(named)
            last = named[-1] if named else last
            if last:
                found[last] = found.get(last, "") + mistake + "\n\n"
        return {task: words for task, words in found.items() if task not in unclear}

    return {task: words for found in parallel(lambda part: compile_some(*part), list(enumerate(files))) for task, words in found.items()}


def headers_ready(tasks):
    """Makes the whole of onto ready for g++ and clang++: the options with which each takes it as it was compiled, once. With
    them only the lines that say from where a header was included differ."""
    wanted = {c.name: c for case, c in tasks if c.name != "nvcc" and case.begins_with}
    if sum(case.begins_with is not None for case, _ in tasks) < TOGETHER:
        return {}
    ready = {}
    for name, compiler in wanted.items():
        folder = SCRATCH / "ready" / name / "onto"
        folder.mkdir(parents=True, exist_ok=True)
        made = folder / ("onto.hpp.gch" if name == "g++" else "onto.pch")
        if compiler.precompile(INCLUDE / "onto" / "onto.hpp", made):
            ready[name] = (f"-I{folder.parent}",) if name == "g++" else ("-include-pch", str(made))
    return ready


def ready_for_many(ready, tasks):
    """The same for files that include the whole of onto more than once, which g++ does only with what it was not the main file
    of: `#pragma once` counts there."""
    compiler = next((c for _, c in tasks if c.name == "g++"), None)
    if compiler is None or "g++" not in ready:
        return ready
    file = SCRATCH / "ready" / "many.hpp"
    file.write_text(WHOLE + "\n")
    return {**ready, "g++": ("-include", str(file)) if compiler.precompile(file, f"{file}.gch") else ()}


INCLUDED = re.compile(r"^(?:In file included| +)from ")
ERROR_IN = re.compile(r"^include/(onto/[^:]+):.*\berror: ", re.M)


@functools.cache
def depths(headers):
    """How many files include one another down to each header of ours, where it is first met after those lines."""
    found = {}

    def visit(text, depth):
        for name in included_by(text):
            if name not in found:
                found[name] = depth
                visit((INCLUDE / name).read_text(), depth + 1)

    visit("\n".join(headers), 1)
    return found


def unsaid(case, said):
    """How many lines about who included a header are not in what is said of a program together with others, or with headers
    made ready, and would be were it alone: before each error in another file than the last, one for each file above."""
    files = [name for name, _ in itertools.groupby(ERROR_IN.findall(said))]
    shown = sum(INCLUDED.match(line) is not None for line in ours(said, case))
    return max(0, sum(depths(case.headers).get(name, 0) for name in files) - shown)


def refusal(case, compiler, good, said, hidden=0):
    """What is wrong with how a program was refused, or None. `hidden`: lines of ours that were not said."""
    if good:
        return "it compiles, and must not"
    for only, reason in case.reasons:
        if only in (None, compiler.name) and not re.search(reason, said):
            return f"it is refused, but `{reason}` is not in the message:\n{indent(said, 30)}"
    lines = ours(said, case)
    if len(lines) + hidden > case.limit:
        return f"the message has {len(lines)} lines of ours, at most {case.limit} are allowed:\n{indent(said)}"
    return None


def judge(case, compiler, show, twin_compiles, before=(), together=None):
    """The reason the case fails on this compiler, or None. What compiles faster, with headers made ready or together with
    others, may only say that all is well; where it does not, the program is compiled alone. That a single header is
    enough is shown by the twin, which has no other."""
    before = before if case.begins_with else ()
    if case.begins_with != WHOLE and compiler.name == "g++" and before:
        before = (*before, "-include", "onto/onto.hpp")
    known = together is not None and refusal(case, compiler, False, together, unsaid(case, together)) is None
    if not known and before:
        good, said = compiler.check(case.path, before=before)
        said = without_root(said)
        known = refusal(case, compiler, good, said, unsaid(case, said)) is None
    if not known or show or (case.words and compiler.name == "g++"):
        good, said = compiler.check(case.path, *case.flags)
        said = without_root(said)
        if show:
            print(f"---- {relative(case.path)}, {compiler.name}\n{said}", flush=True)
        reason = refusal(case, compiler, good, said)
        if reason:
            return reason
    if case.words and compiler.name == "g++" and re.search(r" 12\.\d", compiler.version):
        said = without_numbers(said)
        if os.environ.get("ONTO_UPDATE_GOLDEN") == "1":
            case.words.write_text("\n".join(ours(said, case)) + "\n")
        rest = iter(said.splitlines())
        for quoted in case.words.read_text().splitlines():
            if not any(quoted == line for line in rest):
                return f"{case.words.name} quotes a line g++ does not say (in this order): {quoted}\n{indent(said)}"
    if twin_compiles:
        return None
    if before and case.begins_with == WHOLE and compiler.check(case.path, "-DONTO_TWIN", before=before)[0]:
        return None
    good, said = compiler.check(case.path, "-DONTO_TWIN")
    if not good:
        return f"with -DONTO_TWIN it must compile, and does not:\n{indent(without_root(said), 30)}"
    return None


def main():
    arguments = sys.argv[1:]
    if "--help" in arguments:
        sys.exit(__doc__)
    show = "--show" in arguments
    parts = [a for a in arguments if not a.startswith("--")]
    found, missing = compilers()
    cases = [Case(p) for p in sorted(HERE.rglob("*.cpp")) if not parts or any(part in p.name for part in parts)]
    remember = not (show or parts)
    memory = Memory("fail" if remember else "fail-part")
    failures, tasks = [], []
    for case in cases:
        wrong = case.wrong()
        if wrong:
            failures.append(f"FAIL {relative(case.path)}: {wrong}")
        else:
            tasks += [(case, c) for c in found if not case.only or c.name in case.only]

    def key(task):
        case, compiler = task
        return memory.key(compiler.version, case.path, case.text, case.words.read_text() if case.words else "")

    by_others = {case for case, compiler in tasks if compiler.name != "nvcc"}

    def asks_twin(task):
        """Whether a compiler is asked for the twin: nvcc, which takes six times as long as the others, where it is alone."""
        return task[1].name != "nvcc" or task[0] not in by_others

    again = show or "ONTO_UPDATE_GOLDEN" in os.environ
    left = [t for t in tasks if again or not memory.knows(key(t))]
    ready = {} if show else headers_ready(left)
    for_many = ready_for_many(ready, left)
    good_twins = twins_together([t for t in left if asks_twin(t)], for_many)
    refused = {} if show else refused_together(left, for_many)

    def run(task):
        case, compiler = task
        if memory.knows(key(task)) and not again:
            return None
        reason = judge(case, compiler, show, task in good_twins or not asks_twin(task), ready.get(compiler.name, ()), refused.get(task))
        if reason is None:
            memory.passed(key(task))
            return None
        return f"FAIL {relative(case.path)}, {compiler.name}: {reason}"

    if remember:
        failures += [f for f in parallel(run, tasks) if f]
        memory.save()
    else:
        failures += [f for f in map(run, tasks) if f]
    print("\n".join(failures), end="\n" if failures else "")
    for name in missing:
        print(f"skipped: {name} is not installed")
    print(f"{len(cases)} programs on {', '.join(c.name for c in found)}")
    total = len(tasks) + len([c for c in cases if c.wrong()])
    close("fail", total - len(failures), len(failures), len(missing))


if __name__ == "__main__":
    main()
