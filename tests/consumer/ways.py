#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Gets onto in the ways that CMake has, and as a Debian package made by CPack, and builds and runs the smallest program each time.
"""usage: ways.py [--compiler CXX]

A folder of its own in build/install for each way. What is fetched is a clone of this repository as it is committed; what is packaged
and what is a subdirectory is the working tree. Where git or dpkg-deb is missing, that way is skipped and says so."""
import argparse
import concurrent.futures
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
OUT = ROOT / "build" / "install" / "ways"
sys.path.insert(0, str(HERE.parent))
from compilers import JOBS, close, indent  # noqa: E402


class Failed(Exception):
    """A command's own words."""


def run(*command, cwd=None):
    """What a command prints; *raises* `Failed` where it does not succeed."""
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, errors="replace", check=False, cwd=cwd)
    if done.returncode != 0:
        raise Failed(f"{' '.join(str(c) for c in command)}\n{indent((done.stdout + done.stderr)[-4000:])}")
    return done.stdout


def consume(compiler, way, *options):
    """Configures, builds and runs the smallest program, which gets onto in this way."""
    folder = OUT / way.split()[0]
    run("cmake", "-S", HERE / "ways", "-B", folder, f"-DCMAKE_CXX_COMPILER={compiler}", "-DCMAKE_CXX_FLAGS=-O0 -Wsign-conversion -Wold-style-cast -Werror",
        *options)
    run("cmake", "--build", folder, "--target", "smallest")
    run(folder / "smallest")
    cache = (folder / "CMakeCache.txt").read_text()
    if re.search(r"^ONTO_BUILD_TESTS:\w+=(ON|1|TRUE)$", cache, re.M):
        raise Failed("the tests of onto are part of a project that only uses it")


def a_subdirectory(compiler):
    """`add_subdirectory`."""
    consume(compiler, "add_subdirectory", "-DCONSUMER_WAY=add_subdirectory", f"-DCONSUMER_ONTO_FOLDER={ROOT}")


def fetched(compiler):
    """`FetchContent` from a git repository."""
    commit = run("git", "-C", ROOT, "rev-parse", "HEAD").strip()
    consume(compiler, "FetchContent", "-DCONSUMER_WAY=FetchContent", f"-DONTO_REPOSITORY=file://{ROOT}", f"-DONTO_TAG={commit}")


def a_debian_package(compiler):
    """`cpack`, unpacked beside this machine's own files, and `find_package`."""
    tree, packages, unpacked = OUT / "package_tree", OUT / "packages", OUT / "unpacked"
    run("cmake", "-S", ROOT, "-B", tree, f"-DCMAKE_CXX_COMPILER={compiler}", "-DONTO_BUILD_TESTS=OFF", "-DONTO_BUILD_EXAMPLES=OFF",
        "-DONTO_BUILD_BENCHMARKS=OFF")
    run("cpack", "-G", "DEB", "-B", packages, cwd=tree)
    made = list(packages.glob("*.deb"))
    if len(made) != 1:
        raise Failed(f"cpack made {len(made)} packages")
    fields = run("dpkg-deb", "--field", made[0])
    for wanted in (r"^Package: libonto-dev$", r"^Architecture: all$", r"^Depends: .*libboost-dev", r"^Version: \d+\.\d+\.\d+$"):
        if not re.search(wanted, fields, re.M):
            raise Failed(f"the package's fields have no line {wanted}:\n{indent(fields)}")
    run("dpkg-deb", "--extract", made[0], unpacked)
    for path in ("usr/include/onto/onto.hpp", "usr/share/doc/libonto-dev/copyright"):
        if not (unpacked / path).is_file():
            raise Failed(f"the package has no {path}")
    consume(compiler, "debian", "-DCONSUMER_WAY=find_package", f"-DCMAKE_PREFIX_PATH={unpacked / 'usr'}")
    found = re.search(r"^onto_DIR:\w+=(.*)$", (OUT / "debian" / "CMakeCache.txt").read_text(), re.M)
    if not found or not found[1].startswith(str(unpacked)):
        raise Failed(f"another onto was found: {found[1] if found else 'none'}")


def main():
    """Each way is one test."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="g++")
    arguments = parser.parse_args()
    shutil.rmtree(OUT, ignore_errors=True)
    passed = failed = skipped = 0
    cloned = (ROOT / ".git").exists() and shutil.which("git")
    packaged = shutil.which("cpack") and shutil.which("dpkg-deb")
    ways = ((a_subdirectory, None), (fetched, None if cloned else "this is no clone, or git is not installed"),
            (a_debian_package, None if packaged else "cpack or dpkg-deb is not installed"))
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        runs = [None if reason else pool.submit(way, arguments.compiler) for way, reason in ways]
    for (way, reason), result in zip(ways, runs):
        what = way.__doc__.rstrip(".")
        if reason:
            print(f"skipped: {what}: {reason}")
            skipped += 1
        elif isinstance(result.exception(), Failed):
            print(f"FAIL {what}: {result.exception()}")
            failed += 1
        else:
            result.result()
            print(f"ok: {what}")
            passed += 1
    close("ways to get onto", passed, failed, skipped)


if __name__ == "__main__":
    main()
