#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Breaks the CUDA backend on purpose, one change at a time, and reports which changes no test notices.

A copy of the repository is made in which every change of the rules is there behind a switch, so that all of them cost one
build of the emulated tests and a run each. A run in which nothing is changed finds out which tests come by which change.
A test that does not end dies too. Changes that survive with a reason are in survivors.txt, those that make no sense in
skipped.txt; both say it by file, kind, the line's text and the reason, with a tab between them.

A whole run writes docs/measurements/mutants.md.
"""
import argparse
import collections
import concurrent.futures
import datetime
import hashlib
import json
import os
import pathlib
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
    """The changes by file, numbered from 1; and the texts of the files."""
    skipped, texts, mutants = table("skipped.txt"), {}, []
    for path in sorted((ROOT / BACKEND).rglob("*.hpp")):
        name = path.relative_to(ROOT / BACKEND).as_posix()
        texts[name] = path.read_text()
        for mutant in find(name, texts[name]):
            if not reason_of(skipped, mutant):
                mutants.append(mutant)
                mutant.number = len(mutants)
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
        write(SOURCE / name, data)
    switches = {"include/onto_mutant.hpp", "include/onto_mutant_stream.hpp"}
    for name in switches:
        write(SOURCE / name, (HERE / pathlib.Path(name).name).read_bytes())
    for path in [p for p in SOURCE.rglob("*") if p.is_file()]:
        if path.relative_to(SOURCE).as_posix() not in names | switches:
            path.unlink()


def build(jobs, tests):
    """Builds the emulated tests of the copy, or those whose names `tests` is found in. *Returns* the programs."""
    if not (BUILD / "CMakeCache.txt").exists():
        ninja = ["-G", "Ninja"] if shutil.which("ninja") else []
        subprocess.run(["cmake", "--preset", "emulated", "-B", str(BUILD), *ninja, "-DONTO_WARNINGS_AS_ERRORS=OFF",
                        "-DCMAKE_CXX_FLAGS=-w"], cwd=SOURCE, check=True, stdout=subprocess.DEVNULL)
    else:
        subprocess.run(["cmake", str(BUILD)], check=True, stdout=subprocess.DEVNULL)
    folder = BUILD / "emulated"
    names = [name for name in (folder / "programs.txt").read_text().split() if re.search(tests, name)]
    if not names:
        raise SystemExit(f"mutants: no program of the emulated tests is named like {tests}")
    done = subprocess.run(["cmake", "--build", str(BUILD), "--parallel", str(jobs), "--target", *names],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{done.stdout[-6000:]}\nmutants: the copy does not compile; a change that cannot is named in "
                         f"tests/mutants/skipped.txt")
    return [folder / name for name in names]


def run(program, environment, limit):
    """*Returns* the status, 124 for a run that does not end, and what was said."""
    folder = WORK / "scratch" / f"{program.name}-{environment.get('ONTO_MUTANT', 'none')}"
    folder.mkdir(parents=True, exist_ok=True)

    try:
        done = subprocess.run(["nice", program, "--abort"], cwd=folder, env={**os.environ, **environment}, timeout=limit,
                              capture_output=True, text=True, errors="replace", check=False)
        return done.returncode, COLOUR.sub("", done.stdout + done.stderr)
    except subprocess.TimeoutExpired:
        return 124, "it did not end"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def is_good(status, said):
    """Whether a program has passed, or had nothing that can run here (Catch2 3 says so with 4)."""
    return status in (0, 77) or (status == 4 and "skipped" in said)


def meet(programs):
    """Runs the programs as they are. *Returns* the seconds of each, and the programs that come by each change."""
    seconds, met = {}, collections.defaultdict(list)
    for program in programs:
        listing = WORK / "met.txt"
        listing.unlink(missing_ok=True)
        start = time.monotonic()
        status, said = run(program, {"ONTO_MUTANTS_MET": str(listing)}, 1200)
        if not is_good(status, said):
            raise SystemExit(f"{said[-4000:]}\nmutants: {program.name} fails though nothing is changed")
        seconds[program] = time.monotonic() - start
        for number in set(listing.read_text().split()) if listing.exists() else ():
            met[int(number)].append(program)
        print(f"{program.name}: {seconds[program]:.1f} s", flush=True)
    for number in met:
        met[number].sort(key=seconds.get)
    return seconds, met


def killer(mutant, programs, seconds):
    """The first program that fails with the change made, and how; None where all pass."""
    for program in programs:
        status, said = run(program, {"ONTO_MUTANT": str(mutant.number)}, 10 + 5 * seconds[program])
        if not is_good(status, said):
            how = "does not end" if status == 124 else f"signal {-status}" if status < 0 else f"status {status}"
            return program.name, how
    return None


def keys(mutants):
    """What changes are called from one run to the next, by number."""
    names, seen = {}, collections.Counter()
    for m in mutants:
        name = "\t".join((m.path, m.kind, m.text, m.code))
        names[m.number] = f"{name}\t{seen[name]}"
        seen[name] += 1
    return names


def results_of(backend):
    """What is known of changes to this backend, by their names."""
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    return kept["results"] if kept.get("backend") == backend else {}


def page(mutants, results, reasons):
    """The page of a whole run."""
    survivors = [m for m in mutants if results[m.number] is None]
    died = len(mutants) - len(survivors)
    lines = [
        "<!-- SPDX-License-Identifier: BSL-1.0 -->", "# The CUDA backend, broken on purpose", "",
        f"{len(mutants)} changes to `{BACKEND}`, one at a time: {died} were noticed by a test on emulated GPUs, "
        f"{100 * died / len(mutants):.1f} %. Written by `./run mutants` on {datetime.date.today()}. "
        "The rules are in `tests/mutants/rules.py`.", "",
        "| kind | what is changed | made | noticed | survived |", "|---|---|---|---|---|"]
    for kind, what in KINDS.items():
        of_kind = [m for m in mutants if m.kind == kind]
        alive = sum(results[m.number] is None for m in of_kind)
        lines.append(f"| {kind} | {what} | {len(of_kind)} | {len(of_kind) - alive} | {alive} |")
    lines += ["", f"A test that does not end counts as one that fails: {sum(bool(r) and r[1] == 'does not end' for r in results.values())} "
              "of them.", "", "| first to notice | changes |", "|---|---|"]
    first = collections.Counter(result[0] for result in results.values() if result)
    lines += [f"| `{name}` | {count} |" for name, count in first.most_common()]
    if survivors:
        lines += ["", "## What survives", "", "| where | kind | what is changed | why no test notices |", "|---|---|---|---|"]
    for m in survivors:
        shown = m.code.replace("|", "\\|")
        shown = shown if len(shown) <= 80 else shown[:77] + "..."
        lines.append(f"| `{m.path}` | {m.kind} | `{shown}` | {reasons.get(m.number) or 'not known'} |")
    PAGE.write_text("\n".join(lines) + "\n")


def main():
    """Makes the copy, builds it, and runs what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="name the changes, and make none")
    parser.add_argument("--only", metavar="PATTERN", help="those whose `file kind text` this regular expression is found in")
    parser.add_argument("--most", type=int, metavar="N", help="at most so many of each kind, spread evenly")
    parser.add_argument("--resume", action="store_true", help="go on with a run over the same backend that was cut off")
    parser.add_argument("--survivors", action="store_true", help="those that survived the last run of the same backend")
    parser.add_argument("--copy", action="store_true", help="make the copy in build/mutants/source, and no more")
    parser.add_argument("--tests", default="", metavar="PATTERN", help="with those programs of the emulated tests alone")
    options = parser.parse_args()

    mutants, texts = all_mutants()
    names = keys(mutants)
    backend = hashlib.sha256("".join(texts.values()).encode()).hexdigest()
    known = results_of(backend) if options.resume or options.survivors else {}
    chosen = [m for m in mutants if not options.only or re.search(options.only, f"{m.path} {m.kind} {m.text}")]
    if options.survivors:
        chosen = [m for m in chosen if known.get(names[m.number], ()) is None]
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
    make_source(mutants, texts)
    if options.copy:
        return 0
    programs = build(int(os.environ.get("ONTO_JOBS") or AT_ONCE), options.tests)
    seconds, met = meet(programs)

    if options.resume:
        chosen = [m for m in chosen if names[m.number] not in known]
    listed = table("survivors.txt")
    reasons = {m.number: reason_of(listed, m) for m in mutants}
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        waiting = {pool.submit(killer, m, met[m.number], seconds): m for m in chosen}
        for done in concurrent.futures.as_completed(waiting):
            m = waiting[done]
            result = known[names[m.number]] = done.result()
            RESULTS.write_text(json.dumps({"backend": backend, "results": known}, indent=1))
            if result:
                verdict = f"{result[0]}, {result[1]}"
            else:
                verdict = "SURVIVED" + ("" if met[m.number] else ", no test comes by") + \
                          (f" ({reasons[m.number]})" if reasons[m.number] else "")
            print(f"{m.number}: {m.path}:{m.line}: {m.kind}: {m.code[:100]}: {verdict}", flush=True)

    results = {m.number: known[names[m.number]] for m in mutants if names[m.number] in known}
    survivors = [m for m in mutants if m.number in results and results[m.number] is None]
    without = [m for m in survivors if not reasons[m.number]]
    if len(results) == len(mutants) and not options.tests:
        page(mutants, results, reasons)
    print(f"{len(results)} changes of {len(mutants)}: {len(results) - len(survivors)} noticed, {len(survivors)} survived, "
          f"{len(without)} of them without a reason")
    return 0 if not without else 1


if __name__ == "__main__":
    sys.exit(main())
