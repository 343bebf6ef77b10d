#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Headers include only the layers beneath their own, as layers.txt says, and only backend/cuda names the CUDA toolkit. Whether a
# program has CUDA is asked by the configuration and the list of backends alone.
import re

from source import ROOT, close, relative, without_comments

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)
# Names of the toolkit's own. __CUDA_ARCH__ and __CUDACC__ are the compiler's.
TOOLKIT = re.compile(r"\b(?:cu(?:da|blas)(?:[A-Z]\w*|Lt\w*)|(?:thrust|cub)::\w+|__(?:global|shared|launch_bounds|constant)__"
                     r"|CUBLAS_\w+|threadIdx|blockIdx|blockDim|gridDim)\b")
FUNCTION_SPACE = re.compile(r"__(?:host|device)__")
HAS_CUDA = re.compile(r"\bONTO_CUDA\b")
ASKS_FOR_CUDA = {"core/config.hpp", "session/backends.hpp"}
TOOLKIT_HEADER = re.compile(r"^(?:cuda|cublas|cub/|thrust/|cooperative_groups|nv/|curand|nvtx)")


def read_layers():
    order, neighbours = [], {}
    for line in (ROOT / "tests/lint/layers.txt").read_text().splitlines():
        line = line.split("#")[0].strip()
        if line:
            name, _, allowed = (part.strip() for part in line.partition(":"))
            order.append(name)
            neighbours[name] = allowed.split()
    return order, neighbours


def main():
    order, neighbours = read_layers()

    def layer(path):
        fits = [name for name in order if path == name or path.startswith(name + "/")]
        return max(fits, key=len) if fits else None

    problems, headers = [], sorted((ROOT / "include/onto").rglob("*.[hc][pu]*"))
    for header in headers:
        name = header.relative_to(ROOT / "include/onto").as_posix()
        mine, shown = layer(name), relative(header)
        if mine is None:
            problems.append(f"{shown}: it lies in no layer of tests/lint/layers.txt")
            continue
        text = header.read_text()
        code = without_comments(text, strings=False)
        for match in INCLUDE.finditer(code):
            where = f"{shown}:{code.count(chr(10), 0, match.start(1)) + 1}"
            included = match[1]
            if included.startswith("onto/"):
                theirs = layer(included.removeprefix("onto/"))
                beside = theirs and theirs != mine and "/" in mine and theirs.rpartition("/")[0] == mine.rpartition("/")[0]
                if theirs is None:
                    problems.append(f"{where}: <{included}> lies in no layer")
                elif not (ROOT / "include" / included).is_file():
                    problems.append(f"{where}: <{included}> does not exist")
                elif order.index(theirs) > order.index(mine) or (beside and theirs not in neighbours[mine]):
                    problems.append(f"{where}: {mine} must not include {theirs} (<{included}>)")
            elif match[0].rstrip().endswith('"'):
                problems.append(f'{where}: "{included}" is written <onto/...>')
            elif TOOLKIT_HEADER.match(included) and mine != "backend/cuda":
                problems.append(f"{where}: only backend/cuda includes <{included}>")
        if mine != "backend/cuda":
            code = without_comments(text)
            found = [TOOLKIT.search(code)] + ([FUNCTION_SPACE.search(code)] if name != "core/config.hpp" else [])
            for match in filter(None, found):
                line = code.count("\n", 0, match.start()) + 1
                problems.append(f"{shown}:{line}: only backend/cuda names the toolkit ({match[0]})")
            asks = HAS_CUDA.search(code) if name not in ASKS_FOR_CUDA else None
            if asks:
                line = code.count("\n", 0, asks.start()) + 1
                problems.append(f"{shown}:{line}: only the list of backends, session/backends.hpp, asks for CUDA")
    close("layers", len(headers), problems)


if __name__ == "__main__":
    main()
