#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Programs that must not compile. Each file of this folder is compiled twice by every compiler that is installed: as it is, it
# must be refused for the reason it names in few lines of ours; with -DONTO_TWIN, one thing changed, it must compile.
"""usage: check.py [--show] [NAME_PART...]

In the head of a file:
  // FAIL: <regex>          must be found in what the compiler says; more than one line: each of them
  // FAIL(nvcc): <regex>    the same for one compiler
  // LINES: 10              the most lines of ours (naming include/onto or the file, or carrying an [onto.] tag)
  // ONLY: g++ clang++      the compilers the file is for; without it, all
  // FLAGS: -fno-exceptions  the one thing that the twin is compiled without, where it is no line of the program
Beside it, NAME.words holds lines of g++ 12's message that the documents quote: each must be in the message, in this order.
ONTO_UPDATE_GOLDEN=1 rewrites the .words files that exist; --show prints what each compiler says."""
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from compilers import JOBS, ROOT, Memory, close, compilers, indent, is_ours, parallel, relative, without_root  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SCRATCH = ROOT / "build" / "fail"
DIRECTIVE = re.compile(r"//\s*(FAIL|LINES|ONLY|FLAGS)(?:\(([^)]+)\))?:\s*(.*?)\s*$")


DEFINE = re.compile(r"^#\s*define\s+(\w+)", re.M)
INCLUDE_LINE = re.compile(r"#include <")
TOGETHER = 12  # twins in one file for nvcc: few files, and few twins again where one of them fails


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
        """Whether the twin can stand in a namespace beside others: it sets nothing for the headers, and is no program. CUDA
        has a `half` of its own, which the headers of others may bring."""
        apart = r"define ONTO_|namespace onto\b(?!;)|\bmain\(|template <>|#include \"|(?<!::)\bhalf\b"
        return not self.flags and not re.search(apart, self.text)

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


def twins_together(tasks):
    """Those of the tasks whose twins were seen to compile. nvcc takes seconds for a twin, nearly all of it for headers, so it
    reads some twins as one file, each in a namespace of its own. Nothing is judged by a file that fails: its twins are
    compiled one by one. Whether a twin includes what it needs, g++ and clang++ say, who compile each alone."""
    tasks = [t for t in tasks if t[1].name == "nvcc" and t[0].joins]

    def compile_some(number, some):
        includes = dict.fromkeys(line for case, _ in some for line in case.text.splitlines() if INCLUDE_LINE.match(line))
        lines = list(includes)
        for at, (case, _) in enumerate(some):
            lines += [f"namespace twin_{at} {{", f'#include "{case.path}"', "}"]
            lines += [f"#undef {name}" for name in dict.fromkeys(DEFINE.findall(case.text))]
        file = SCRATCH / f"twins_{number}.cu"
        file.write_text("\n".join(lines) + "\n")
        return some if some[0][1].check(file, "-DONTO_TWIN", f"-I{HERE}")[0] else []

    if not tasks:
        return set()
    SCRATCH.mkdir(parents=True, exist_ok=True)
    each = max(1, min(TOGETHER, -(-len(tasks) // JOBS)))
    parts = [(at, tasks[at:at + each]) for at in range(0, len(tasks), each)]
    return {task for done in parallel(lambda part: compile_some(*part), parts) for task in done}


def judge(case, compiler, show, twin_compiles):
    """The reason the case fails on this compiler, or None."""
    good, said = compiler.check(case.path, *case.flags)
    said = without_root(said)
    if show:
        print(f"---- {relative(case.path)}, {compiler.name}\n{said}", flush=True)
    if good:
        return "it compiles, and must not"
    for only, reason in case.reasons:
        if only in (None, compiler.name) and not re.search(reason, said):
            return f"it is refused, but `{reason}` is not in the message:\n{indent(said, 30)}"
    lines = ours(said, case)
    if len(lines) > case.limit:
        return f"the message has {len(lines)} lines of ours, at most {case.limit} are allowed:\n{indent(said)}"
    if case.words and compiler.name == "g++" and re.search(r" 12\.\d", compiler.version):
        if os.environ.get("ONTO_UPDATE_GOLDEN") == "1":
            case.words.write_text("\n".join(lines) + "\n")
        rest = iter(said.splitlines())
        for quoted in case.words.read_text().splitlines():
            if not any(quoted == line for line in rest):
                return f"{case.words.name} quotes a line g++ does not say (in this order): {quoted}\n{indent(said)}"
    if twin_compiles:
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

    again = show or "ONTO_UPDATE_GOLDEN" in os.environ
    good_twins = twins_together([t for t in tasks if again or not memory.knows(key(t))])

    def run(task):
        case, compiler = task
        if memory.knows(key(task)) and not again:
            return None
        reason = judge(case, compiler, show, task in good_twins)
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
