#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Builds onto's plans of convolutions with cuDNN itself, for an H100 that is only described: no GPU is needed.

cuDNN is looked for in the folder $ONTO_CUDNN (with include/ and lib/), then beside the CUDA toolkit, then in
build/tools/cudnn, where ONTO_CUDNN_FROM_PYPI=1 puts it from PyPI (0.5 GB). Without one this is skipped, which it says.
The tables are those of docs/measurements/cudnn_plans.md, where the version is the same; ONTO_UPDATE_GOLDEN=1 writes
them there. Usage: check.py
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "measurements" / "cudnn_plans.md"
TOOLS = ROOT / "build" / "tools" / "cudnn"
# Later ones ask for the driver as soon as a device is described.
PACKAGES = ["nvidia-cudnn-cu13==9.19.0.56", "nvidia-cuda-runtime==13.0.*", "nvidia-cuda-crt==13.0.*"]
BEGIN, END = "<!-- plans -->\n", "<!-- end of plans -->"


def skip(why):
    print(f"skipped: {why}")
    print("cudnn: 0 passed, 0 failed, 1 skipped")
    sys.exit()


def found_in(folders):
    """(include directories, library files) if cuDNN and the CUDA runtime are all there."""
    wanted = {"cudnn_graph.h": None, "cuda_runtime_api.h": None, "libcudnn_graph.so.9": None, "libcudart.so.13": None,
              "libcudart.so.12": None}
    for folder in folders:
        for name in wanted:
            for part in ("include", "lib64", "lib"):
                if not wanted[name] and (folder / part / name).exists():
                    wanted[name] = folder / part / name
    runtime = wanted["libcudart.so.13"] or wanted["libcudart.so.12"]
    headers = [wanted["cudnn_graph.h"], wanted["cuda_runtime_api.h"]]
    if not (all(headers) and wanted["libcudnn_graph.so.9"] and runtime):
        return None
    return [str(h.parent) for h in headers], [wanted["libcudnn_graph.so.9"], runtime]


def find_cudnn():
    nvcc = shutil.which("nvcc")
    toolkits = [os.environ.get("CUDA_PATH"), nvcc and Path(nvcc).resolve().parent.parent, "/usr/local/cuda"]
    toolkits = [Path(t) for t in toolkits if t]
    if os.environ.get("ONTO_CUDNN"):
        return found_in([Path(os.environ["ONTO_CUDNN"]), *toolkits])
    found = found_in(toolkits)
    if found:
        return found
    if not TOOLS.exists() and os.environ.get("ONTO_CUDNN_FROM_PYPI") == "1":
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--target",
                   str(TOOLS), *PACKAGES]
        if subprocess.run(command, capture_output=True).returncode != 0:
            shutil.rmtree(TOOLS, ignore_errors=True)
    return found_in([f for f in sorted(TOOLS.glob("nvidia/*"))] + toolkits)


def main():
    found = find_cudnn()
    if not found:
        skip("there is no cuDNN 9 to make plans with; ONTO_CUDNN=FOLDER names one, ONTO_CUDNN_FROM_PYPI=1 takes 0.5 GB from PyPI")
    includes, libraries = found
    build = ROOT / "build" / "cudnn"
    build.mkdir(parents=True, exist_ok=True)
    program = build / "plans"
    command = [os.environ.get("CXX") or "g++", "-std=c++20", "-O0", "-DONTO_HAS_CUDNN=1", "-Wall", "-Wextra", "-Wpedantic",
               "-Wshadow", "-Wconversion", "-Werror", f"-I{ROOT / 'include'}"]
    for directory in includes:
        command += ["-isystem", directory]
    command += [str(Path(__file__).parent / "plans.cpp"), "-o", str(program), *map(str, libraries)]
    command += [f"-Wl,-rpath,{library.parent}" for library in libraries]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stderr)
        sys.exit("the plans' program does not compile")
    ran = subprocess.run([str(program), str(Path(__file__).parent / "h100.json")], capture_output=True, text=True)
    said = [line for line in ran.stderr.splitlines() if line]
    counts = re.search(r"plans: (\d+) passed, (\d+) failed", ran.stderr)
    if not counts:
        print(ran.stderr)
        sys.exit(f"the plans' program ended with status {ran.returncode}")
    passed, failed = int(counts[1]), int(counts[2])
    print("\n".join(line for line in said if line.startswith("FAIL")))
    tables = ran.stdout.strip() + "\n"
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    known, after = rest.split(END)
    version = tables.splitlines()[0]
    if os.environ.get("ONTO_UPDATE_GOLDEN") == "1":
        PAGE.write_text(before + BEGIN + tables + END + after)
    elif known.splitlines()[0] != version:
        print(f"{PAGE.name} is of {known.splitlines()[0]}; this is {version}: its workspaces are not compared")
    elif known == tables:
        passed += 1
    else:
        failed += 1
        (build / "plans.md").write_text(tables)
        print(f"FAIL the tables of {PAGE.name} are not what {version} says: build/cudnn/plans.md; ONTO_UPDATE_GOLDEN=1 rewrites them")
    print(f"cudnn: {passed} passed, {failed} failed, 0 skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
