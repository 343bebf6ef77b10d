#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Arrays of NumPy and PyTorch go into a program and its results come out, through the module of module.cpp, without a copy;
# checkpoints go both ways.
# NumPy is taken from PyPI into build/python; PyTorch is tested where it is in there, as `./run bench python` leaves it, or
# where ONTO_TORCH=1 asks for it: it is 2 GB. ONTO_PYTHON names another interpreter that has them.
"""usage: check.py"""
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
ENVIRONMENT = ROOT / "build" / "python"


def close(passed, failed, skipped):
    print(f"python: {passed} passed, {failed} failed, {skipped} skipped", flush=True)
    sys.exit(1 if failed else 0)


def skip(why):
    print(f"skipped: {why}")
    close(0, 0, 1)


def has(python, module):
    return subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0


def install(python, module):
    return subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", module],
                          capture_output=True, check=False).returncode == 0


def prepare():
    """Builds the module and runs this file again with the interpreter that has NumPy."""
    python = os.environ.get("ONTO_PYTHON")
    if not python:
        python = str(ENVIRONMENT / "bin" / "python")
        if not pathlib.Path(python).exists() and \
                subprocess.run([sys.executable, "-m", "venv", ENVIRONMENT], capture_output=True, check=False).returncode:
            shutil.rmtree(ENVIRONMENT, ignore_errors=True)
            skip("Python cannot make a virtual environment (Debian: python3-venv)")
        if not has(python, "numpy") and not install(python, "numpy"):
            skip("NumPy is not in build/python, and PyPI does not give it")
        if not has(python, "safetensors") and not install(python, "safetensors==0.8.0"):
            print("skipped: PyPI does not give safetensors")
        if os.environ.get("ONTO_TORCH") == "1" and not has(python, "torch") and not install(python, "torch"):
            print("skipped: PyPI does not give PyTorch")
    said = subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_path('include')); "
                           "print(sysconfig.get_config_var('EXT_SUFFIX'))"], capture_output=True, text=True, check=True)
    include, suffix = said.stdout.split()
    if not pathlib.Path(include, "Python.h").is_file():
        skip("Python's headers are not installed (Debian: python3-dev)")
    folder = ROOT / "build" / "scratch" / "python"
    folder.mkdir(parents=True, exist_ok=True)
    compiler = os.environ.get("CXX") or "g++"
    command = [compiler, "-std=c++20", "-O1", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-I", ROOT / "include", "-isystem",
               include, HERE / "module.cpp", "-o", folder / f"onto_arrays{suffix}", "-pthread"]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if built.returncode:
        print("FAIL the module does not compile:\n" + built.stderr[:6000])
        close(0, 1, 0)
    os.execv(python, [python, __file__, "--run", str(folder)])


tests = []


def test(function):
    tests.append(function)
    return function


def refusal(f):
    try:
        f()
    except ValueError as e:
        return str(e)
    return "nothing was raised"


def run(folder):
    sys.path.insert(0, folder)
    import numpy as np
    import onto_arrays as onto
    try:
        import safetensors.numpy
    except ImportError:
        safetensors = None
    try:
        import torch
    except ImportError:
        torch = None

    def floats(*shape):
        return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)

    def address(a):
        return a.__array_interface__["data"][0]

    @test
    def an_array_is_fed_where_it_lies():
        a = floats(3, 4)
        result, fed = onto.twice(a)
        assert fed == address(a)
        assert (np.from_dlpack(result) == 2 * a).all()

    @test
    def a_result_is_taken_once_and_outlives_its_object():
        result, _ = onto.twice(floats(300, 400))
        taken = np.from_dlpack(result)
        try:
            np.from_dlpack(result)
            raise AssertionError("a result was taken twice")
        except BufferError:
            pass
        del result
        assert taken.flags.writeable and (taken == 2 * floats(300, 400)).all()
        taken[0, 0] = 7

    @test
    def a_result_that_nobody_takes_is_freed():
        def resident():
            return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        a = floats(700, 700)
        onto.twice(a)[0].__dlpack__()
        before = resident()
        for k in range(300):
            capsule = onto.twice(a)[0].__dlpack__(max_version=(1, 0)) if k % 2 else onto.twice(a)[0].__dlpack__()
            del capsule
        assert resident() - before < 100 << 20  # all of them are 588 MB

    @test
    def what_lies_otherwise_is_right_and_copied():
        a = floats(4, 6)
        for view in (a.T, a[::2], a[:, ::3], a[::-1, ::-1], a[1:3, 2:5], np.asfortranarray(a), a[:0], a[:, :1],
                     np.broadcast_to(a[0], (3, 6))):
            result, fed = onto.twice(view)
            assert (np.from_dlpack(result) == 2 * view).all(), view.strides
            assert (fed == address(view)) == (view.flags.c_contiguous and view.size > 0) or view.size == 0, view.strides
        assert onto.in_place(a[1:3]) == address(a) + 24
        assert "with strides (1, 6) do not lie row by row without gaps" in refusal(lambda: onto.in_place(a.T))

    @test
    def every_element_type_goes_in_and_out():
        for name in ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"):
            a = np.array([[0, 1, 2], [3, 100, 127]]).astype(name)
            b = np.from_dlpack(onto.echo(a, name))
            assert b.dtype == a.dtype and (a == b).all(), name

    @test
    def what_does_not_fit_is_refused_and_stays_numpys():
        a, c = np.zeros((2, 2)), np.zeros((2, 2), np.complex64)
        before = sys.getrefcount(a), sys.getrefcount(c)
        assert "the elements are double where float was asked for" in refusal(lambda: onto.twice(a))
        assert "DLPack's type 5 with 64 bits" in refusal(lambda: onto.twice(c))
        assert "shape [3] where shape [?, ?]" in refusal(lambda: onto.twice(floats(3)))
        assert (sys.getrefcount(a), sys.getrefcount(c)) == before

    @test
    def values_live_as_long_as_they_are_used():
        a = floats(5, 5)
        before = sys.getrefcount(a)
        onto.keep(a)
        assert sys.getrefcount(a) == before + 1
        onto.keep(floats(2, 2))
        assert sys.getrefcount(a) == before
        onto.keep(None)

    @test
    def read_only_arrays_are_fed():
        a = floats(2, 3)
        a.flags.writeable = False
        assert onto.in_place(a) == address(a)

    @test
    def archives_go_both_ways():
        ours, theirs = os.path.join(folder, "ours.npz"), os.path.join(folder, "theirs.npz")
        a = floats(30, 40)
        np.savez(theirs, first=a, turned=np.asfortranarray(a))
        for name in ("first", "turned"):
            onto.npz(theirs, name, ours)
            with np.load(ours) as back:
                assert back.files == [name, "double"]
                assert (back[name] == a).all() and back["double"].dtype == np.float64 and (back["double"] == a).all()
        np.savez(theirs, first=a, double=a.astype("f8"))
        onto.npz(theirs, "first", ours)
        assert pathlib.Path(ours).read_bytes() == pathlib.Path(theirs).read_bytes()
        np.savez_compressed(theirs, first=a)
        assert "the program was compiled without zlib" in refusal(lambda: onto.npz(theirs, "first", ours))

    if safetensors:
        @test
        def checkpoints_go_both_ways():
            ours, theirs = os.path.join(folder, "ours.safetensors"), os.path.join(folder, "theirs.safetensors")
            tensors = {"w": floats(4, 3), "step": np.array(7), "other": np.array([True, False]), "": np.zeros((0, 2), np.uint8)}
            safetensors.numpy.save_file(tensors, theirs)
            onto.checkpoint(theirs, ours)
            back = safetensors.numpy.load_file(ours)
            assert sorted(back) == sorted(tensors)
            assert (back["w"] == 2 * tensors["w"]).all() and back["step"] == 8 and (back["other"] == tensors["other"]).all()
            assert pathlib.Path(ours).read_bytes() == safetensors.numpy.save(back)
            safetensors.numpy.save_file({"w": floats(4, 4), "step": np.array(7)}, theirs)
            assert "variable 'w' is float[?, 3], and the tensor 'w'" in refusal(lambda: onto.checkpoint(theirs, ours))

        @test
        def damaged_files_are_refused_where_the_package_refuses_them():
            import random
            dice = random.Random(20231114)
            whole = safetensors.numpy.save({"w": floats(2, 3), "step": np.array(7), "b\"\u00e9": np.zeros((0, 2), np.uint8)},
                                           metadata={"a": "b"})
            good, both = whole[8:8 + int.from_bytes(whole[:8], "little")], [0, 0]
            pieces = [b"0", b"9", b"-", b".", b"e1", b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"\\u0041", b" ", b"\xff", b"\0", b"null",
                      b'"x":[],', b"18446744073709551616"]
            for _ in range(3000):
                header = good
                for _ in range(dice.randrange(1, 3)):
                    at = dice.randrange(len(header) + 1)
                    header = header[:at] + (dice.choice(pieces) if dice.random() < .7 else b"") + header[at + dice.randrange(3):]
                data = header.__len__().to_bytes(8, "little") + header + whole[8 + len(good):]
                try:
                    theirs = sorted(name for name, _ in safetensors.deserialize(data))
                except safetensors.SafetensorError:
                    theirs = None
                try:
                    ours = sorted(onto.safetensors(data))
                except ValueError as e:
                    ours = None
                    # What the package takes and we do not.
                    if theirs is not None and ("is there twice" in str(e) or "there is no '{'" in str(e)):
                        continue
                assert ours == theirs, (header, ours, theirs)
                both[ours is None] += 1
            assert min(both) > 200, both

    if torch:
        @test
        def tensors_of_pytorch_go_in_and_out():
            t = torch.arange(12, dtype=torch.float32).reshape(3, 4)
            result, fed = onto.twice(t)
            assert fed == t.data_ptr()
            back = torch.from_dlpack(result)
            assert torch.equal(back, 2 * t)
            back += 1
            result, fed = onto.twice(t.T)
            assert fed != t.data_ptr() and torch.equal(torch.from_dlpack(result), 2 * t.T)
            result, _ = onto.twice(t)
            assert torch.equal(torch.utils.dlpack.from_dlpack(result.__dlpack__()), 2 * t)

        @test
        def element_types_of_pytorch_go_in_and_out():
            for name in ("float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool"):
                t = torch.tensor([[0, 1, 2], [3, 100, 127]]).to(getattr(torch, name))
                back = torch.from_dlpack(onto.echo(t, name))
                assert back.dtype == t.dtype and torch.equal(back, t), name

    failed = 0
    for function in tests:
        try:
            function()
        except Exception as e:
            failed += 1
            print(f"FAIL {function.__name__.replace('_', ' ')}: {type(e).__name__}: {e}")
            import traceback
            traceback.print_exc()
    if not torch:
        print("skipped: PyTorch is not in build/python; ONTO_TORCH=1 ./run test python installs it, and so does ./run bench python")
    print(f"with NumPy {np.__version__}" + (f" and PyTorch {torch.__version__}" if torch else ""))
    if not safetensors:
        print("skipped: safetensors is not in build/python")
    close(len(tests) - failed, failed, (0 if torch else 1) + (0 if safetensors else 1))


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--run":
        run(sys.argv[2])
    prepare()
