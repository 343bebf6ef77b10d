#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Fails when the machine code of a kernel is not what its speed rests on.

kernels.cu is compiled for one architecture. The assembler's own report gives each kernel's registers, stack and spills,
cuobjdump its instructions. rows.json says which kernels a row is about, by a regular expression on a short form of their
names (`--list` shows them), and what is asked of them:

  blocks        so many blocks of 256 threads on a multiprocessor
  registers     as many as last recorded, or fewer; `--update` records
  loads, stores "16 bytes": there is one of that size to global memory
  together      so many loads from global memory with no branch between them: with a branch around each, one was seen to
                wait for the other
  later         what is asked of the row and not so yet, by its name; a row that has come to be so must not be named

Asked of every row: no spills and no stack, loads and stores that say which memory they are to, and no division of whole
numbers.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
ROWS = HERE / "rows.json"
ARCHITECTURE = "sm_90"
REGISTERS, THREADS = 65536, 256  # of a multiprocessor; of a block
GIVEN = 8  # registers are given to threads in units of so many
FUNCTIONS = re.compile(r"Compiling entry function '(\w+)'.*?(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes "
                       r"spill loads.*?Used (\d+) registers", re.S)
# Every call of these divides whole numbers by some twenty instructions of 64 bits at least.
DIVISIONS = re.compile(r"__cuda_sm\w*_(?:div|rem)_[su]\d+")


def tool(name, variable, packages):
    """A program of the toolkit: beside nvcc, on the path, or where its Python package has put it."""
    named = os.environ.get(variable)
    places = [named] if named else []
    places += [shutil.which(name)]
    nvcc = shutil.which("nvcc")
    if nvcc:
        places.append(Path(nvcc).resolve().parent / name)
    for folder in [*sys.path, str(ROOT / "build" / "tools")] if packages else ():
        places += sorted(Path(folder).glob(f"nvidia/*/bin/{name}"))
    return next((str(p) for p in places if p and os.access(p, os.X_OK)), None)


def enumerators(header, name):
    """The names of an enum class, in order."""
    text = (ROOT / "include" / "onto" / header).read_text()
    return [n.strip() for n in re.search(rf"enum class {name}[^{{]*{{([^}}]*)}}", text)[1].split(",")]


class Shortened:
    """Names of kernels without what every name has."""

    def __init__(self):
        self.elements, self.folds = enumerators("core/element.hpp", "element"), enumerators("ops/reduce.hpp", "fold")

    def __call__(self, name):
        """`flat_map_kernel: float32 add` for a kernel, its element types, operations, folds and other arguments."""
        depth, end = 0, len(name)
        for at, mark in enumerate(name):
            depth += {"<": 1, ">": -1}.get(mark, 0)
            # The parameters' types; an enumerator's type stands in brackets too.
            if mark == "(" and depth == 0 and at > 0:
                end = at
                break
        name = name[:end]
        kernel = re.search(r"(\w+)(?:<|$)", name.removeprefix("void "))[1]
        words = [self.elements[int(e)] for e in dict.fromkeys(re.findall(r"element\)(\d+)", name))]
        words += re.findall(r"\b(?:float|double|half|bfloat16|unsigned \w+|long|int)\b(?=[,>])", name)
        for found in re.finditer(r"instruction<(?:\w+::)*(\w+),|\(onto::fold\)(\d+)", name):
            if found[2]:
                words.append(self.folds[int(found[2])] if int(found[2]) < len(self.folds) else f"fold{found[2]}")
            elif not found[1].startswith(("load_", "store_")):
                words.append(found[1])
        words += re.findall(r", (true|false|\d+)(?=[,>])", name.rsplit("> >", 1)[-1])
        return " ".join([kernel + ":", *words])


def demangled(names):
    """Names as C++ has them."""
    filter_ = tool("cu++filt", "CUFILT", True) or shutil.which("c++filt")
    if not filter_:
        return None
    return subprocess.run([filter_], input="\n".join(names), capture_output=True, text=True, check=True).stdout.split("\n")


def compiled(nvcc, cubin):
    """The assembler's report, by kernel: registers, bytes of stack, bytes spilt."""
    done = subprocess.run([nvcc, "-std=c++20", f"-arch={ARCHITECTURE}", "-O3", "-Xptxas", "-v", "-cubin", "-I",
                           str(ROOT / "include"), str(HERE / "kernels.cu"), "-o", str(cubin)],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"sass: kernels.cu does not compile:\n{done.stdout}{done.stderr}")
    return {m[1]: {"registers": int(m[5]), "stack": int(m[2]), "spilt": int(m[3]) + int(m[4])}
            for m in FUNCTIONS.finditer(done.stderr)}


def add_instructions(cuobjdump, cubin, kernels):
    """Adds each kernel's instructions, and the subroutines that it has."""
    code = subprocess.run([cuobjdump, "-sass", str(cubin)], capture_output=True, text=True, check=True).stdout
    for part in re.split(r"^\s*Function : ", code, flags=re.M)[1:]:
        name = part.split("\n", 1)[0].strip()
        if name in kernels:
            kernels[name]["code"] = re.findall(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)", part, re.M)
    elf = subprocess.run([cuobjdump, "-elf", str(cubin)], capture_output=True, text=True, check=True).stdout
    sections = {}
    for section, name in re.findall(r"FUNC\s.*?(0x[0-9a-f]+)\s+(\S+)$", elf, re.M):
        sections.setdefault(section, []).append(name)
    for names in sections.values():
        for name in names:
            if name in kernels:
                kernels[name]["subroutines"] = [n for n in names if n != name]


def loads_together(code):
    """The most loads from global memory that no branch, barrier or store parts."""
    most = run = 0
    for instruction in code:
        if instruction.startswith("LDG"):
            run += 1
            most = max(most, run)
        elif re.match(r"(BRA|BSSY|BSYNC|BAR|STG|EXIT|CALL|RET|WARPSYNC)(\.|$)", instruction):
            run = 0
    return most


def blocks_of(registers):
    """How many blocks of a kernel are on a multiprocessor at once, as far as registers go."""
    return REGISTERS // (THREADS * -(-registers // GIVEN) * GIVEN)


def wrong_with(row, kernel):
    """What a kernel has not that its row asks for: the name of the demand, and a sentence."""
    if kernel["spilt"] or kernel["stack"]:
        yield "spills", f"{kernel['spilt']} bytes are spilt, {kernel['stack']} bytes of stack"
    if "blocks" in row and blocks_of(kernel["registers"]) < row["blocks"]:
        yield "blocks", f"{kernel['registers']} registers are for {blocks_of(kernel['registers'])} blocks, not {row['blocks']}"
    if kernel["registers"] > row.get("registers", kernel["registers"]):
        yield "registers", f"{kernel['registers']} registers, recorded {row['registers']}"
    if "code" not in kernel:
        return
    generic = sorted({i for i in kernel["code"] if re.match(r"(LD|ST|ATOM|RED)(\.|$)", i) and not i.startswith("ATOMS")})
    if generic:
        yield "generic", f"{', '.join(generic)}: to memory of whichever kind"
    if any(re.match(r"(LDL|STL)(\.|$)", i) for i in kernel["code"]) and not kernel["spilt"]:
        yield "spills", "local memory is used"
    for what, instruction in (("loads", "LDG"), ("stores", "STG")):
        if row.get(what) == "16 bytes" and not any(re.match(rf"{instruction}\..*128", i) for i in kernel["code"]):
            yield what, f"no {instruction} of 16 bytes"
    if loads_together(kernel["code"]) < row.get("together", 0):
        yield "together", f"{loads_together(kernel['code'])} loads side by side, not {row['together']}"
    divisions = sorted({m[0] for m in map(DIVISIONS.search, kernel.get("subroutines", ())) if m})
    if divisions:
        yield "divisions", f"calls of {', '.join(divisions)}"


def judge(row, matching, with_code):
    """*Returns* (passed, failed, skipped) of a row, having said why."""
    if not matching:
        print(f"FAIL {row['row']}: no kernel is named {row['kernel']}")
        return 0, 1, 0
    wrong = {}
    for name, kernel in matching.items():
        for demand, sentence in wrong_with(row, kernel):
            wrong.setdefault(demand, []).append(f"{sentence} ({name})" if len(matching) > 1 else sentence)
    later = row.get("later", [])
    judged = later if with_code else [d for d in later if d in ("spills", "blocks", "registers")]
    stale = [d for d in judged if d not in wrong]
    bad = [s for d, sentences in wrong.items() if d not in later for s in sentences]
    for demand in stale:
        bad.append(f'"{demand}" is as asked now: take it out of "later"')
    for sentence in bad:
        print(f"FAIL {row['row']}: {sentence}")
    for demand in later:
        for sentence in wrong.get(demand, ()):
            print(f"later {row['row']}: {sentence}")
    most = max(k["registers"] for k in matching.values())
    if not bad:
        note = "" if most >= row.get("registers", most) else f"; recorded {row['registers']}: gate.py --update keeps that"
        print(f"ok   {row['row']}: {most} registers, {blocks_of(most)} blocks{note}")
    return int(not bad), int(bool(bad)), len(later)


def main():
    """Compiles, and compares or records."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="write the registers of today into rows.json")
    parser.add_argument("--list", action="store_true", help="the kernels, and what there is to know of them")
    options = parser.parse_args()
    nvcc = tool("nvcc", "NVCC", False)
    if not nvcc:
        print("skip nvcc is not installed\nsass: 0 passed, 0 failed, 1 skipped")
        return 0
    rows = json.loads(ROWS.read_text())
    folder = ROOT / "build" / "sass"
    folder.mkdir(parents=True, exist_ok=True)
    cubin = folder / "kernels.cubin"
    kernels = compiled(nvcc, cubin)
    names = demangled(list(kernels))
    if not names:
        print("skip neither cu++filt nor c++filt is installed\nsass: 0 passed, 0 failed, 1 skipped")
        return 0
    cuobjdump = tool("cuobjdump", "CUOBJDUMP", True)
    if cuobjdump:
        add_instructions(cuobjdump, cubin, kernels)
    shortened = Shortened()
    by_name = {}
    for long, kernel in zip(names, kernels.values()):
        name = shortened(long)
        while name in by_name:  # the same operations on other operands
            name += "'"
        by_name[name] = kernel

    if options.list:
        for name, k in sorted(by_name.items()):
            wide = {i: k.get("code", []).count(i) for i in sorted(set(k.get("code", [])))
                    if re.match(r"(LD|ST)[GSL]?(\.|$)", i)}
            calls = [re.sub(r".*__cuda", "__cuda", s) for s in k.get("subroutines", ())]
            print(f"{name}: {k['registers']} registers, {k['spilt']} spilt; "
                  f"{', '.join(f'{n} {i}' for i, n in wide.items())}; {', '.join(calls)}")
        return 0
    passed = failed = skipped = 0
    for row in rows:
        matching = {n: k for n, k in by_name.items() if re.fullmatch(row["kernel"], n)}
        if options.update and matching:
            row["registers"] = max(k["registers"] for k in matching.values())
        p, f, s = judge(row, matching, cuobjdump is not None)
        passed, failed, skipped = passed + p, failed + f, skipped + s
    if options.update:
        text = json.dumps(rows, indent=1)
        ROWS.write_text(re.sub(r"\[\s+(\"[^\[\]]*?\")\s+\]", lambda m: "[" + " ".join(m[1].split()) + "]", text) + "\n")
    if not cuobjdump:
        print("skip cuobjdump is not installed: nobody has looked at the instructions; it is part of the CUDA toolkit, and of "
              "the Python package nvidia-cuda-cuobjdump")
        skipped += 1
    print(f"sass: {passed} passed, {failed} failed, {skipped} skipped")
    return 0 if failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
