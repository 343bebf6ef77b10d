#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# One program may have files for nvcc and files for the host's compiler. The linker keeps one of two inline functions of the
# same name, so both compilers must have made the same of it; what differs has names of its own (ONTO_ABI).
"""usage: odr.py FOLDER, in which the objects of tests/mixed are. They are not optimized: the same text gives functions of the
same size."""
import pathlib
import subprocess
import sys

from compilers import close


def shared_symbols(file):
    """The symbols of which the linker keeps one, with their sizes."""
    said = subprocess.run(["nm", "-S", "--defined-only", file], capture_output=True, text=True, check=True).stdout
    fields = [line.split() for line in said.splitlines()]
    return {f[3]: int(f[1], 16) for f in fields if len(f) == 4 and f[2] in "WVu"}


def main():
    folder = pathlib.Path(sys.argv[1])
    host, device = (shared_symbols(folder / name) for name in ("host.cpp.o", "device.cu.o"))
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
