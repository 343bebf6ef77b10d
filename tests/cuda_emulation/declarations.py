#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Compares tests/cuda_emulation/declarations with the CUDA toolkit, so that they cannot drift apart.

Usage: declarations.py [CXX [TOOLKIT_INCLUDE_DIRECTORY]]; otherwise $CXX or g++, and the toolkit of $CUDA_PATH, of nvcc
or in its usual place. Where there is none there is nothing to compare with, which it says.

Functions are declared once more beside the toolkit's: a signature that differs is an error. Enumerators, constants and
fields are asked for in static_asserts. Then each kind of drift is made on purpose, and must be found.
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent / "declarations"
TYPES = ["cuda_runtime_api.h", "cublasLt.h"]
FUNCTIONS = ["cuda_runtime_functions.h", "cublaslt_functions.h"]
CUDNN = ["cudnn_graph.h", "cudnn_functions.h"]  # compared where the toolkit's folder has cuDNN too


def checks(types):
    """The static_asserts that a header of types stands for."""
    lines = []
    for name, value in re.findall(r"^\s*(?:inline constexpr unsigned )?(\w+) = (\d+)[,;]", types, re.M):
        lines.append(f'static_assert(static_cast<long long>({name}) == {value}, "{name}");')
    structures = re.findall(r"^struct (cuda\w+) \{\n(.*?)^\};", types, re.M | re.S)
    structures += [(name, body) for body, name in re.findall(r"^typedef struct \{\n(.*?)^\} (\w+);", types, re.M | re.S)]
    for name, body in structures:
        before = None
        for kind, field, count in re.findall(r"^  ([\w\s*]+?[\s*])(\w+)(\[\d+\])?;", body, re.M):
            lines.append(f'static_assert(std::is_same_v<decltype({name}::{field}), {kind.strip()}{count}>, "{name}::{field}");')
            if before:
                lines.append(f'static_assert(offsetof({name}, {before}) < offsetof({name}, {field}), "{name}::{field}");')
            before = field
    for name, kind in re.findall(r"^typedef (?:struct|enum) \w+\s*(\*?) (\w+);", types, re.M):
        lines.append(f"using has_{kind} = {kind};")
    return lines


def program(types, functions):
    lines = ["#include <cuda_runtime_api.h>", "#include <cublasLt.h>", "#include <cstddef>", "#include <type_traits>"]
    if "cudnnBackend" in functions:
        lines += ["#include <cudnn_graph.h>"]
    lines += ["#define ONTO_BY_DEFAULT(value)", functions]
    return "\n".join(lines + checks(types)) + "\n"


def compiles(compiler, toolkit, text):
    command = [compiler, "-std=c++20", "-fsyntax-only", "-x", "c++", "-isystem", toolkit, "-"]
    result = subprocess.run(command, input=text, capture_output=True, text=True)
    return result.returncode == 0, result.stderr


def find_toolkit():
    """The include directory of the toolkit, or None."""
    nvcc = shutil.which("nvcc")
    roots = [os.environ.get("CUDA_PATH"), nvcc and Path(nvcc).resolve().parent.parent, "/usr/local/cuda"]
    for root in filter(None, roots):
        include = Path(root) / "include"
        if (include / "cuda_runtime_api.h").exists() and (include / "cublasLt.h").exists():
            return str(include)
    return None


def main():
    compiler = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("CXX") or "g++"
    toolkit = sys.argv[2] if len(sys.argv) > 2 else find_toolkit()
    if not toolkit:
        print("there is no CUDA toolkit to compare the declarations with")
        print("declarations: 0 passed, 0 failed, 1 skipped")
        return
    types = "\n".join((HERE / name).read_text() for name in TYPES)
    functions = "\n".join((HERE / name).read_text() for name in FUNCTIONS)
    cudnn = (Path(toolkit) / CUDNN[0]).exists()
    if cudnn:
        types += (HERE / CUDNN[0]).read_text()
        functions += (HERE / CUDNN[1]).read_text()
    count = len(checks(types))
    fine, said = compiles(compiler, toolkit, program(types, functions))
    if not fine:
        print(said)
        sys.exit("the declarations differ from the toolkit's")
    drifts = [
        ("an enumerator", "cudaErrorNotReady = 600", "cudaErrorNotReady = 601", ""),
        ("a constant", "cudaStreamNonBlocking = 1", "cudaStreamNonBlocking = 2", ""),
        ("a field", "size_t maxSize;", "int maxSize;", ""),
        ("an opaque structure", "uint64_t data[32];", "uint64_t data[31];", ""),
        ("a parameter", "", "", ("cudaGraphInstantiate(cudaGraphExec_t* pGraphExec", "cudaGraphInstantiate(cudaGraph_t* pGraphExec")),
        ("a result", "", "", ("cudaError_t cudaFreeHost", "int cudaFreeHost")),
    ]
    if cudnn:
        drifts += [
            ("an attribute of cuDNN's", "CUDNN_ATTR_ENGINECFG_ENGINE = 300", "CUDNN_ATTR_ENGINECFG_ENGINE = 301", ""),
            ("a parameter of cuDNN's", "", "", ("cudaStream_t streamId", "void** streamId")),
        ]
    for what, old, new, in_functions in drifts:
        changed_types = types.replace(old, new) if old else types
        changed = functions.replace(*in_functions) if in_functions else functions
        if (changed_types, changed) == (types, functions):
            sys.exit(f"{what}: the drift to try is no longer in the declarations")
        if compiles(compiler, toolkit, program(changed_types, changed))[0]:
            sys.exit(f"{what} that drifts is not found")
    names = len(re.findall(r"\bcu\w+\(", functions))
    if not cudnn:
        print("cuDNN is not beside the toolkit: its declarations are compared with nothing")
    print(f"{names} functions and {count} facts are the toolkit's; {len(drifts)} kinds of drift are found")
    print(f"declarations: {1 + len(drifts)} passed, 0 failed, 0 skipped")


if __name__ == "__main__":
    main()
