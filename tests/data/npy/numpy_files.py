#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Writes the files of this folder with NumPy, which tests/unit/tensor/npy.cpp reads. Value number k in C order is k / 2 - 1,
# k - 3, or whether k is even.
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent


def floats(shape, dtype, order="C"):
    return np.asarray((np.arange(np.prod(shape, dtype=int)) / 2 - 1).reshape(shape), dtype=dtype, order=order)


def integers(shape, dtype, order="C"):
    return np.asarray((np.arange(np.prod(shape, dtype=int)) - 3).reshape(shape), dtype=dtype, order=order)


def save(name, array, version=None):
    with open(HERE / f"{name}.npy", "wb") as file:
        np.lib.format.write_array(file, array, version=version)


save("f2", floats((2, 3), "<f2"))
save("f2_fortran_big", floats((2, 3), ">f2", "F"))
save("f4", floats((2, 3), "<f4"))
save("f4_fortran", floats((2, 3), "<f4", "F"))
save("f4_big", floats((2, 3), ">f4"))
save("f4_version2", floats((2, 3), "<f4"), (2, 0))
save("f4_version3", floats((2, 3), "<f4"), (3, 0))
save("f4_row", floats((5,), "<f4"))
save("f4_empty", floats((0, 3), "<f4"))
save("f8", floats((2, 3, 4), "<f8"))
save("f8_fortran_big", floats((2, 3, 4), ">f8", "F"))
save("f8_scalar", np.array(3.5, "<f8"))
save("i4", integers((3, 2), "<i4"))
save("i4_fortran_big", integers((3, 2), ">i4", "F"))
save("i8", integers((4,), "<i8") * (1 << 40))
save("i8_big", integers((4,), ">i8") * (1 << 40))
save("b1", np.arange(6).reshape(2, 3) % 2 == 0)
save("b1_fortran", np.asfortranarray(np.arange(6).reshape(2, 3) % 2 == 0))
save("i1", integers((2, 3), "i1"))
save("u1", integers((2, 3), "u1"))
save("u1_fortran", integers((2, 3), "u1", "F"))
save("i2", integers((4,), "<i2"))
save("i2_big", integers((4,), ">i2"))
save("u2", integers((4,), "<u2"))
save("u4", integers((4,), "<u4"))
save("u4_fortran_big", integers((2, 2), ">u4", "F"))
save("u8", integers((4,), "<u8"))
save("complex", floats((4,), "<c8"))
save("text", np.array(["a", "bc"]))
save("structure", np.zeros(2, [("x", "<f4"), ("y", "<i4")]))
save("object", np.array([{}, None], dtype=object))
np.savez(HERE / "archive.npz", floats((2, 3), "<f4"))
several = {"w": floats((2, 3), "<f4"), "turned": floats((2, 3), ">f4", "F"), "n": integers((4,), "<i8"),
           "scalar": np.array(3.5, "<f8"), "zeros": np.zeros((40, 25), "<f8")}
np.savez(HERE / "several.npz", **several)
np.savez_compressed(HERE / "compressed.npz", **several)
