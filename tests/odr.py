#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# One program may have files for nvcc and files for the host's compiler. The linker keeps one of two inline functions of the
# same name, so both compilers must have made the same of it; what differs has names of its own (ONTO_ABI).
"""usage: odr.py [NVCC]"""
import os
import pathlib
import subprocess
import sys
import tempfile

from compilers import INCLUDE, ROOT, close, nvcc_path


def shared_symbols(file):
    """The symbols of which the linker keeps one, with their sizes."""
    said = subprocess.run(["nm", "-S", "--defined-only", file], capture_output=True, text=True, check=True).stdout
    fields = [line.split() for line in said.splitlines()]
    return {f[3]: int(f[1], 16) for f in fields if len(f) == 4 and f[2] in "WVu"}


def main():
    nvcc = nvcc_path()
    if not nvcc:
        print("skipped: nvcc is not installed")
        close("one definition", 0, 0, 1)
    compilers = {"host.cpp": [os.environ.get("CXX") or "g++"], "device.cu": [nvcc, "-arch=sm_90"]}
    with tempfile.TemporaryDirectory() as folder:
        found = []
        for name, compiler in compilers.items():
            objects = pathlib.Path(folder) / (name + ".o")
            # Not optimized: the same text gives functions of the same size.
            text = f'#include "{ROOT}/tests/mixed/program.hpp"\nmixed::results function() {{ return mixed::run(); }}\n'
            source = pathlib.Path(folder) / name
            source.write_text(text)
            subprocess.run([*compiler, "-std=c++20", "-O0", f"-I{INCLUDE}", "-c", source, "-o", objects], check=True)
            found.append(shared_symbols(objects))
    host, device = found
    both = host.keys() & device.keys()
    differ = sorted(s for s in both if host[s] != device[s])
    for symbol in differ[:20]:
        name = subprocess.run(["c++filt", symbol], capture_output=True, text=True, check=False).stdout.strip()
        print(f"FAIL {name[:300]}: {host[symbol]} bytes by the host's compiler, {device[symbol]} by nvcc")
    print(f"{len(both)} functions and variables are in both objects, {len(differ)} of them differ")
    enough = len(both) > 100
    close("one definition", int(enough and not differ), int(not enough or bool(differ)), 0)


if __name__ == "__main__":
    sys.exit(main())
