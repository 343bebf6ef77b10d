#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Breaks the CUDA backend on purpose, one change at a time, and reports which changes no test notices.

A copy of the repository is made in which every change of the rules is there behind a switch, so that all of them cost one
build of the tests on emulated GPUs and of the backend's plain arithmetic. A run in which nothing is changed finds out which
test case comes by which change; with a change made only those are run, each in a process of its own, until one fails or
does not end. Changes that survive with a reason are in survivors.txt, those that make no sense in skipped.txt; both say it
by file, kind, the line's text and the reason, with a tab between them.

What a change met with is kept in build/mutants/results.json for as long as its line is as it was; the page says of how many
other lines of their files have changed since.
The changes come in an order that is spread evenly over their kinds, so that a run that is cut off is a sample.
docs/measurements/mutants.md is written once all are known, or with --page from what is, and says how much that is. What
survives the programs of --tests counts as a survivor until more of them notice it (--survivors); the page names the programs
that were left out.
"""
import argparse
import collections
import concurrent.futures
import datetime
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

from rules import KINDS
from sites import find, rewrite

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BACKEND = pathlib.Path("include/onto/backend/cuda")
WORK = ROOT / "build" / "mutants"
SOURCE, BUILD, RESULTS = WORK / "source", WORK / "build", WORK / "results.json"
PAGE = ROOT / "docs" / "measurements" / "mutants.md"
LISTENER = "onto_mutant_listener.hpp"
MAINS = ("tests/cuda_emulation/main.cpp", "tests/unit/main.cpp")
ARITHMETIC = "unit_backend_cuda"  # the tests of what is plain arithmetic, on the host
AT_ONCE = 2
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def table(name):
    """The reasons of a list, by (file, kind, text of the line); "*" stands for all kinds or all lines."""
    reasons = {}
    for line in (HERE / name).read_text().splitlines():
        if line and not line.startswith("#"):
            path, kind, text, reason = line.split("\t")
            reasons[path, kind, text] = reason
    return reasons


def reason_of(reasons, mutant):
    for kind in (mutant.kind, "*"):
        for text in (mutant.text, "*"):
            if (mutant.path, kind, text) in reasons:
                return reasons[mutant.path, kind, text]
    return None


def all_mutants():
    """The changes by file, and the texts of the files. What is skipped has a number too, so that the others keep theirs."""
    skipped, texts, mutants, found = table("skipped.txt"), {}, [], 0
    for path in sorted((ROOT / BACKEND).rglob("*.hpp")):
        name = path.relative_to(ROOT / BACKEND).as_posix()
        texts[name] = path.read_text()
        for mutant in find(name, texts[name]):
            found += 1
            mutant.number = found
            if not reason_of(skipped, mutant):
                mutants.append(mutant)
    return mutants, texts


def write(path, data):
    """Leaves a file alone that is as it should be, so that it is not built again."""
    if not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def make_source(mutants, texts):
    """The repository's files, with the changes in the backend's."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout.split("\0")
    names = {name for name in listed if name and (ROOT / name).is_file()}
    for name in sorted(names):
        inside = pathlib.Path(name)
        if inside.is_relative_to(BACKEND) and inside.suffix == ".hpp":
            header = inside.relative_to(BACKEND).as_posix()
            data = rewrite(texts[header], [m for m in mutants if m.path == header]).encode()
        else:
            data = (ROOT / name).read_bytes()
        if name in MAINS:
            data += f'#include "../../include/{LISTENER}"\n'.encode()
        write(SOURCE / name, data)
    switches = {"include/onto_mutant.hpp", "include/onto_mutant_stream.hpp", f"include/{LISTENER}"}
    for name in switches:
        write(SOURCE / name, (HERE / pathlib.Path(name).name).read_bytes())
    for path in [p for p in SOURCE.rglob("*") if p.is_file()]:
        if path.relative_to(SOURCE).as_posix() not in names | switches:
            path.unlink()


def checks_of_bounds():
    """How the compiler checks indices of arrays: with `bounds` alone g++ leaves out those at the end of structs, and takes
    an index too far for one that never comes."""
    strict = [os.environ.get("CXX", "c++"), "-fsanitize=bounds-strict", "-fsyntax-only", "-x", "c++", os.devnull]
    return "bounds-strict" if subprocess.run(strict, capture_output=True, check=False).returncode == 0 else "bounds"


def build(jobs, tests):
    """Builds the tests of the copy, or those whose names `tests` is found in. *Returns* the programs, and the names of
    those that are left out."""
    if not (BUILD / "CMakeCache.txt").exists():
        ninja = ["-G", "Ninja"] if shutil.which("ninja") else []
        checked = checks_of_bounds()
        subprocess.run(["cmake", "--preset", "emulated", "-B", str(BUILD), *ninja, "-DONTO_WARNINGS_AS_ERRORS=OFF",
                        f"-DCMAKE_CXX_FLAGS=-w -fsanitize={checked} -fno-sanitize-recover={checked}",
                        "-DCMAKE_CXX_FLAGS_DEBUG=-O1"], cwd=SOURCE, check=True, stdout=subprocess.DEVNULL)
    else:
        subprocess.run(["cmake", str(BUILD)], check=True, stdout=subprocess.DEVNULL)
    programs = [BUILD / "emulated" / name for name in (BUILD / "emulated" / "programs.txt").read_text().split()]
    everything = [BUILD / "unit" / ARITHMETIC, *programs]
    programs = [p for p in everything if re.search(tests, p.name)]
    if not programs:
        raise SystemExit(f"mutants: no program of the tests is named like {tests}")
    done = subprocess.run(["cmake", "--build", str(BUILD), "--parallel", str(jobs), "--target", *[p.name for p in programs]],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{done.stdout[-6000:]}\nmutants: the copy does not compile; a change that cannot is named in "
                         f"tests/mutants/skipped.txt")
    return programs, [p.name for p in everything if p not in programs]


def run(program, environment, limit, test=None):
    """*Returns* the status, 124 for a run that does not end, and what was said."""
    folder = WORK / "scratch" / f"{program.name}-{environment.get('ONTO_MUTANT', 'none')}"
    folder.mkdir(parents=True, exist_ok=True)
    chosen = [re.sub(r'([\\,\[\]"*~])', r"\\\1", test)] if test else []

    try:
        done = subprocess.run(["nice", program, *chosen, "--abort"], cwd=folder, env={**os.environ, **environment},
                              timeout=limit, capture_output=True, text=True, errors="replace", check=False)
        said = COLOUR.sub("", done.stdout + done.stderr)
        if test and ("No tests ran" in said or "No test cases matched" in said):
            raise SystemExit(f"mutants: {program.name} does not know its own test {test}")
        return done.returncode, said
    except subprocess.TimeoutExpired:
        return 124, "it did not end"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def is_good(status, said):
    """Whether a program has passed, or had nothing that can run here (Catch2 3 says so with 4)."""
    return status in (0, 77) or (status == 4 and "skipped" in said)


def meet(programs):
    """Runs the programs as they are. *Returns* the (program, test case) that come by each change, None where it is met
    outside of test cases alone, and the seconds of each."""
    seconds, met = {}, collections.defaultdict(list)
    for program in programs:
        listing, spent = WORK / "met" / program.name, WORK / "met" / f"{program.name}.seconds"
        if not spent.exists() or spent.stat().st_mtime < program.stat().st_mtime:
            listing.parent.mkdir(exist_ok=True)
            listing.unlink(missing_ok=True)
            start = time.monotonic()
            status, said = run(program, {"ONTO_MUTANTS_MET": str(listing)}, 1200)
            if not is_good(status, said):
                raise SystemExit(f"{said[-4000:]}\nmutants: {program.name} fails though nothing is changed")
            spent.write_text(f"{time.monotonic() - start}")
        seconds[program, None] = float(spent.read_text())
        outside, inside = set(), set()
        for line in listing.read_text().splitlines() if listing.exists() else ():
            if "\t" not in line:
                outside.add(int(line))
                continue
            took, name, numbers = line.split("\t")
            seconds[program, name] = float(took)
            for number in map(int, numbers.split()):
                met[number].append((program, name))
                inside.add(number)
        for number in outside - inside:
            met[number].append((program, None))
        print(f"{program.name}: {seconds[program, None]:.1f} s", flush=True)
    return seconds, met


class Runner:
    """Runs tests with changes made; those first that are quick and have noticed much so far."""

    def __init__(self, seconds, met):
        self.seconds, self.met = seconds, met
        self.tried, self.noticed = collections.Counter(), collections.Counter()

    def cost(self, test):
        return (self.seconds[test] + 0.02) * (self.tried[test] + 4) / (self.noticed[test] + 1)

    def killer(self, mutant):
        """The first test that fails with the change made, and how; None where all pass."""
        for test in sorted(self.met[mutant.number], key=self.cost):
            program, name = test
            self.tried[test] += 1
            status, said = run(program, {"ONTO_MUTANT": str(mutant.number)}, 8 + 8 * self.seconds[test], name)
            if not is_good(status, said):
                self.noticed[test] += 1
                how = "does not end" if status == 124 else f"signal {-status}" if status < 0 else f"status {status}"
                return program.name, how, name or ""
        return None


def keys(mutants):
    """What changes are called from one run to the next, by number."""
    names, seen = {}, collections.Counter()
    for m in mutants:
        name = "\t".join((m.path, m.kind, m.text, m.code))
        names[m.number] = f"{name}\t{seen[name]}"
        seen[name] += 1
    return names


def digests(texts):
    return {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in texts.items()}


def is_of_now(name, files, file):
    """Whether the file of a change is as it was when its digest was this."""
    return files.get(name.split("\t")[0]) == file


def known_results(names):
    """What is known of changes to lines that are as they were, by the changes' names: a result, and the digest of the
    file that it was found with. And the programs that this was found without."""
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"results": {}}
    return {name: (result, file) for name, (result, file) in kept["results"].items()
            if name in names}, kept.get("without", [])


def spread(mutants):
    """In an order of which each beginning has changes of all kinds and files."""
    places = []
    for kind in KINDS:
        of_kind = [m for m in mutants if m.kind == kind]
        random.Random(kind).shuffle(of_kind)
        places += [((k + 0.5) / len(of_kind), m.number, m) for k, m in enumerate(of_kind)]
    return [m for _, _, m in sorted(places)]


def page(mutants, results, reasons, without, earlier):
    """What is known, as a page; `earlier` of it was found before other lines of the file changed."""
    made = [m for m in mutants if m.number in results]
    survivors = [m for m in made if results[m.number] is None]
    died = len(made) - len(survivors)
    all_of = f"All {len(mutants)} single changes" if len(made) == len(mutants) else \
        f"{len(made)} of {len(mutants)} single changes, spread evenly over the kinds,"
    explained = sum(bool(reasons[m.number]) for m in survivors)
    before = f" {earlier} of them were made before other lines of their file changed." if earlier else ""
    rest = f"; the {len(mutants) - len(made)} others were not" if len(made) < len(mutants) else ""
    lines = [
        "<!-- SPDX-License-Identifier: BSL-1.0 -->", "# The CUDA backend, broken on purpose", "",
        f"{all_of} to `{BACKEND}` were made, one at a time{rest}. **{died} were noticed by a test: "
        f"{100 * died / len(made):.1f} %.** {len(survivors)} survived, of which {explained} make no difference that a test could "
        f"show, each for the reason below; of what can be noticed, {100 * died / (len(made) - explained):.1f} % was.", "",
        "The tests are those on emulated GPUs" + (f" (without {', '.join(f'`{n}`' for n in without)})" if without else "") +
        " and those of the backend's plain arithmetic. Each change ran with the test cases "
        "that come by it. Indices of arrays were checked (`-fsanitize=bounds`), as they are in these tests' own stages. Written by "
        f"`./run mutants` on {datetime.date.today()}; the rules are in `tests/mutants/rules.py`, what makes no sense to change "
        f"is in `tests/mutants/skipped.txt`.{before}", "",
        "| kind | what is changed | there are | made | noticed | survived |", "|---|---|---|---|---|---|"]
    for kind, what in KINDS.items():
        of_kind = [m for m in made if m.kind == kind]
        alive = sum(results[m.number] is None for m in of_kind)
        lines.append(f"| {kind} | {what} | {sum(m.kind == kind for m in mutants)} | {len(of_kind)} | {len(of_kind) - alive} "
                     f"| {alive} |")
    endless = sum(bool(results[m.number]) and results[m.number][1] == "does not end" for m in made)
    lines += ["", f"A test that does not end counts as one that fails: {endless} of them.", "",
              "| first to notice | changes |", "|---|---|"]
    first = collections.Counter(results[m.number][0] for m in made if results[m.number])
    lines += [f"| `{name}` | {count} |" for name, count in first.most_common()]
    if survivors:
        lines += ["", "## What survives", "", "| where | kind | what is changed | why no test notices |", "|---|---|---|---|"]
    for m in survivors:
        shown = m.code.replace("|", "\\|")
        shown = shown if len(shown) <= 80 else shown[:77] + "..."
        lines.append(f"| `{m.path}` | {m.kind} | `{shown}` | {reasons[m.number] or 'not known'} |")
    PAGE.write_text("\n".join(lines) + "\n")


def main():
    """Makes the copy, builds it, and runs what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="name the changes, and make none")
    parser.add_argument("--only", metavar="PATTERN", help="those whose `file kind text` this regular expression is found in")
    parser.add_argument("--most", type=int, metavar="N", help="at most so many of each kind, spread evenly")
    parser.add_argument("--resume", action="store_true", help="leave out those that were noticed before; what has survived comes last")
    parser.add_argument("--survivors", action="store_true", help="those that have survived so far")
    parser.add_argument("--copy", action="store_true", help="make the copy in build/mutants/source, and no more")
    parser.add_argument("--page", action="store_true", help="write the page from what is known, and make no change")
    parser.add_argument("--tests", default="", metavar="PATTERN", help="with those programs of the emulated tests alone")
    options = parser.parse_args()

    mutants, texts = all_mutants()
    names, files = keys(mutants), digests(texts)
    known, without = known_results(set(names.values()))
    listed = table("survivors.txt")
    reasons = {m.number: reason_of(listed, m) for m in mutants}
    chosen = [m for m in mutants if not options.only or re.search(options.only, f"{m.path} {m.kind} {m.text}")]
    if options.survivors:
        chosen = [m for m in chosen if known.get(names[m.number], [True])[0] is None]
    if options.resume:
        chosen = [m for m in chosen if not known.get(names[m.number], [None])[0]]
    if options.most:
        for kind in KINDS:
            of_kind = [m for m in chosen if m.kind == kind]
            kept = {of_kind[len(of_kind) * k // options.most].number for k in range(options.most)} if of_kind else set()
            chosen = [m for m in chosen if m.kind != kind or m.number in kept]
    if options.list:
        for m in chosen:
            print(f"{m.number}: {m.path}:{m.line}: {m.kind}: {m.code}")
        print(f"{len(chosen)} changes")
        return 0
    if not options.page:
        make_source(mutants, texts)
        if options.copy:
            return 0
        at_once = int(os.environ.get("ONTO_JOBS") or AT_ONCE)
        programs, left_out = build(at_once, options.tests)
        without = left_out if not known else [n for n in without if n in left_out]
        runner = Runner(*meet(programs))
        order = sorted(spread(chosen), key=lambda m: (names[m.number] in known, bool(reasons[m.number])))
        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            waiting = {pool.submit(runner.killer, m): m for m in order}
            for done in concurrent.futures.as_completed(waiting):
                m = waiting[done]
                result = done.result()
                if result or not known.get(names[m.number], [None])[0]:
                    known[names[m.number]] = result, files[m.path]
                    RESULTS.write_text(json.dumps({"without": without, "results": known}, indent=1))
                if result:
                    verdict = f"{result[0]}, {result[1]}: {result[2]}"
                else:
                    verdict = "SURVIVED" + ("" if runner.met[m.number] else ", no test comes by") + \
                              (f" ({reasons[m.number]})" if reasons[m.number] else "")
                print(f"{m.number}: {m.path}:{m.line}: {m.kind}: {m.code[:100]}: {verdict}", flush=True)

    results = {m.number: known[names[m.number]][0] for m in mutants if names[m.number] in known}
    unknown = [m for m in mutants if m.number in results and results[m.number] is None and not reasons[m.number]]
    if results and (options.page or len(results) == len(mutants)):
        earlier = sum(not is_of_now(name, files, file) for name, (_, file) in known.items())
        page(mutants, results, reasons, without, earlier)
    for path, kind, text in listed:
        like = [results.get(m.number) for m in mutants if reason_of({(path, kind, text): "listed"}, m)]
        if all(like):
            print(f"survivors.txt: no such change, or noticed after all: {path}: {kind}: {text}")
    died = sum(bool(r) for r in results.values())
    print(f"{len(results)} changes of {len(mutants)}: {died} noticed, {len(results) - died} survived, "
          f"{len(unknown)} of them without a reason")
    return 0 if not unknown else 1


if __name__ == "__main__":
    sys.exit(main())
