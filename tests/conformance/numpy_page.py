#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Writes numpy_page.tsv with NumPy (2 or later): what it makes of its own side of each row of docs/numpy.md, which are read from the
# test (tests/unit/session/numpy_page.cpp). A row whose text is not in the table fails there. And numpy_words.txt: NumPy's functions, each
# of which a document names (tests/lint/docs.py).
import pathlib
import re
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
TEST = HERE.parent / "unit" / "session" / "numpy_page.cpp"

# About Python, memory, printing and files: no words of array programs.
OTHERS = """
apply_over_axes array2string array_repr array_str asanyarray asarray asarray_chkfinite ascontiguousarray asfortranarray asmatrix
base_repr binary_repr bmat broadcast_shapes busday_count busday_offset can_cast common_type copy datetime_as_string datetime_data
einsum_path empty_like format_float_positional format_float_scientific frombuffer fromfile fromiter frompyfunc fromregex fromstring
genfromtxt get_include get_printoptions getbufsize geterr geterrcall info is_busday iscomplex iscomplexobj isdtype isfortran isnat
isreal isrealobj isscalar issubdtype iterable loadtxt may_share_memory min_scalar_type mintypecode ndim nested_iters printoptions
promote_types real_if_close require result_type savetxt set_printoptions setbufsize seterr seterrcall shares_memory show_config
show_runtime test typename bitwise_invert bitwise_left_shift bitwise_not bitwise_right_shift acosh asinh atanh pow
""".split()


def operands():
    """The arrays that rows are about."""
    random = np.random.default_rng(7)

    def normal(*shape):
        return random.normal(size=shape).astype(np.float32).round(3)

    return {"x": normal(3, 4), "y": normal(3, 4), "v": normal(4), "w": normal(4, 2), "s": normal(3, 3),
            "z": np.array([np.nan, np.inf, 2, -1], np.float32), "i": np.array([2, 0, 2], np.int32)}


def word(value):
    return repr(float(value)) if isinstance(value, np.floating) else str(int(value))


def line(what, result):
    result = np.asarray(result)
    shape = "[" + ", ".join(map(str, result.shape)) + "]"
    return "\t".join(("page", what, f"{result.dtype}{shape}", " ".join(map(word, result.reshape(-1)))))


def main():
    names = operands()
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder, "t.npy"))
        np.save(path, names["x"])
        known = {"np": np, **names, "t": names["x"], "path": path}
        rows = dict.fromkeys(re.findall(r'^  (?:ROW|VALUE)\("([^"]+)"', TEST.read_text(), re.M))
        lines = [line(what, names[what]) for what in names]
        lines += [line(what, eval(what, known)) for what in rows]  # of this repository's own test
    head = f"# Written by numpy_page.py with NumPy {np.__version__}."
    (HERE / "numpy_page.tsv").write_text("\n".join([head, *lines]) + "\n")
    words = {n for n in np.__all__ if callable(getattr(np, n)) and not isinstance(getattr(np, n), type)} - set(OTHERS)
    words |= {n for n in np.linalg.__all__ if n.islower()}
    (HERE / "numpy_words.txt").write_text(head + "\n" + "\n".join(sorted(words)) + "\n")


if __name__ == "__main__":
    main()
