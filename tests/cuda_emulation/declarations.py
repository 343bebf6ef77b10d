#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Compares tests/cuda_emulation/declarations with the CUDA toolkit, so that they cannot drift apart.

Usage: declarations.py [CXX [TOOLKIT_INCLUDE_DIRECTORY]]; otherwise $CXX or g++, and the toolkit of $CUDA_PATH, of nvcc
or in its usual place. Where there is none there is nothing to compare with, which it says.

NCCL's are compared, and the library's wrapper is compiled, with the header of the folder $ONTO_NCCL (with include/), of
the toolkit, or of build/tools/nccl, where ONTO_NCCL_FROM_PYPI=1 puts it from PyPI (0.2 GB).

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
ROOT = Path(__file__).resolve().parents[2]
NCCL_TOOLS = ROOT / "build" / "tools" / "nccl"
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


def compiles(compiler, toolkit, text, *options):
    command = [compiler, "-std=c++20", "-fsyntax-only", "-x", "c++", "-isystem", toolkit, *options, "-"]
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


def find_nccl(toolkit):
    """The include directory of NCCL, or None."""
    if not os.environ.get("ONTO_NCCL") and os.environ.get("ONTO_NCCL_FROM_PYPI") == "1" and not NCCL_TOOLS.exists():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--target",
                   str(NCCL_TOOLS), "nvidia-nccl-cu13"]
        if subprocess.run(command, capture_output=True).returncode != 0:
            shutil.rmtree(NCCL_TOOLS, ignore_errors=True)
    named = os.environ.get("ONTO_NCCL")
    folders = [Path(named) / "include"] if named else [Path(toolkit), NCCL_TOOLS / "nvidia" / "nccl" / "include"]
    return next((str(f) for f in folders if (f / "nccl.h").exists()), None)


def compare_nccl(compiler, toolkit, include):
    """Compares the declarations, and compiles the wrapper. Returns how many drifts were tried."""
    types, functions = ((HERE / name).read_text() for name in ("nccl_types.h", "nccl_functions.h"))

    def fits(types, functions):
        lines = ["#include <nccl.h>", "#include <cstddef>", "#include <type_traits>", functions, *checks(types),
                 "static_assert(sizeof(ncclUniqueId) == NCCL_UNIQUE_ID_BYTES);",
                 "inline ncclConfig_t configuration = NCCL_CONFIG_INITIALIZER;"]
        return compiles(compiler, toolkit, "\n".join(lines) + "\n", "-isystem", include)

    fine, said = fits(types, functions)
    if not fine:
        print(said)
        sys.exit("the declarations differ from NCCL's")
    drifts = [("an enumerator", types.replace("ncclInProgress = 7", "ncclInProgress = 8"), functions),
              ("a field", types.replace("int blocking;", "char blocking;"), functions),
              ("a result", types, functions.replace("ncclResult_t ncclGroupEnd", "int ncclGroupEnd")),
              ("a type of parameters", types, functions.replace("ncclComm_t* comm, int nranks", "ncclComm_t comm, int nranks"))]
    for what, changed_types, changed in drifts:
        if (changed_types, changed) == (types, functions):
            sys.exit(f"{what} of NCCL's: the drift to try is no longer in the declarations")
        if fits(changed_types, changed)[0]:
            sys.exit(f"{what} of NCCL's that drifts is not found")
    wrapper = "#define ONTO_HAS_NCCL 1\n#include <onto/backend/cuda/nccl.hpp>\n"
    fine, said = compiles(compiler, toolkit, wrapper, "-isystem", include, f"-I{ROOT / 'include'}", "-Wall", "-Wextra",
                          "-Wpedantic", "-Werror")
    if not fine:
        print(said)
        sys.exit("the wrapper does not compile with NCCL's header")
    return len(drifts)


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
    nccl = find_nccl(toolkit)
    tried = len(drifts) + (compare_nccl(compiler, toolkit, nccl) if nccl else 0)
    if not nccl:
        print("there is no NCCL to compare its declarations with; ONTO_NCCL=FOLDER names one")
    print(f"{names} functions and {count} facts are the toolkit's; {tried} kinds of drift are found")
    print(f"declarations: {1 + tried} passed, 0 failed, {0 if nccl else 1} skipped")


if __name__ == "__main__":
    main()
