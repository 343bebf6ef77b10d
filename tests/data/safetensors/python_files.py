#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Writes the files of this folder with safetensors 0.8.0 (and numpy, ml_dtypes), which tests/unit/tensor/safetensors.cpp
# reads and writes. Value number k in C order is k - 1; of bool, whether k is even.
import pathlib

import ml_dtypes
import numpy as np
from safetensors.numpy import save

HERE = pathlib.Path(__file__).resolve().parent


def values(shape, dtype):
    count = np.arange(np.prod(shape, dtype=int))
    return (count % 2 == 0 if dtype == "bool" else (count - 1).astype(dtype)).reshape(shape)


TYPES = {"f4": "float32", "f8": "float64", "f2": "float16", "bf2": ml_dtypes.bfloat16, "i1": "int8", "i2": "int16",
         "i4": "int32", "i8": "int64", "u1": "uint8", "u2": "uint16", "u4": "uint32", "u8": "uint64", "b1": "bool"}
FILES = {
    "types.safetensors": {name: values((2, 3), dtype) for name, dtype in TYPES.items()},
    "shapes.safetensors": {"scalar": values((), "int64"), "none": values((0, 3), "float32"), "Z": values((4,), "float32"),
                           "a": values((1, 2, 3), "float32"), "b": values((3,), "uint8")},
    "names.safetensors": {name: np.array([k], "int32") for k, name in
                          enumerate(["", "w/adam_m", "quote\" back\\ slash/", "\n\t\r\b\f\x01\x1f\x7f", "gr\u00f6\u00dfe \u2211 \U0001f600", "w"])},
    "empty.safetensors": {},
}
for file, tensors in FILES.items():
    (HERE / file).write_bytes(save(tensors))
(HERE / "noted.safetensors").write_bytes(save({"w": values((2,), "float32")}, metadata={"format": "pt"}))
