#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Writes the pages of this folder with NumPy (2.3 or later), which tests/unit/tensor/print.cpp must print alike.
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
BOTH = ("float32", "float64")
inf, nan = np.inf, np.nan
page = []


def case(name, values, dtype):
    with np.errstate(over="ignore"):
        page.append(f"# {name}, {dtype}\n{str(np.asarray(values, dtype=dtype))}\n")


def both(name, values):
    for dtype in BOTH:
        case(name, values, dtype)


def count(*shape):
    """0, 1, 2, ... in a shape, as double."""
    return np.arange(np.prod(shape), dtype="float64").reshape(shape)


def close(name):
    (HERE / f"{name}.txt").write_text("".join(page))
    page.clear()


both("the guide's product", [[22, 28], [49, 64]])
both("eighths", count(3, 4) / 8 - 1)
both("tenths", count(2, 5) * 0.1 - 0.5)
both("thirds", count(3, 4) / 3)
both("zeros", np.zeros((2, 3)))
both("minus zero", [0.0, -0.0, 1.0])
both("one element", [[2.5]])
both("three axes", count(2, 2, 3) * 0.25)
both("four axes", count(2, 1, 2, 2) - 3)
both("more digits than the precision", [0.123456789, 12.123456789, 123.123456789])
both("ties at the ninth digit", [0.001953125, 0.005859375, 0.009765625])
both("rounding up to one more digit", [9.999999999, 0.999999999])
close("fixed")

both("large", [1, 1e8])
both("below a hundred million", [1e5, 99999999])
both("below a million", [1e5, 999999])
both("a million", [1e5, 1000000])
both("small", [0.00009, 0.01])
both("a ten thousandth", [0.0001, 0.01])
both("a ratio of 1000", [0.5, 500])
both("a ratio above 1000", [0.5, 500.5])
both("zero beside a ratio", [0, 0.5, 1e7])
both("signs", [[-1e-10, 1e10], [1, -1]])
both("different digits", [1.5, 1.25e10, 1e-20])
both("column filled with real digits", [1.1724668, 0.10924218, 16957954, 3135852.2, 80812.141])
both("the edges of float", [1.17549435e-38, 3.4028235e38, 1e-45])
case("the edges of double", [2.2250738585072014e-308, 1.7976931348623157e308, 5e-324], "float64")
case("three digits of exponent", [1e100, 1e-5, 1], "float64")
close("scientific")

both("not a number", [nan, 1, 2.5])
both("infinities", [inf, -inf, 1])
both("infinities alone", [inf, -inf, nan])
both("nan alone", [[nan]])
both("nan beside whole numbers", [[1, nan], [100, -3]])
both("infinity in scientific notation", [inf, 1e-10, nan, -inf])
both("minus infinity beside digits", [-inf, 0.125])
close("not_finite")

for dtype in ("int32", "int64"):
    case("whole numbers", [[1, -20], [300, 4]], dtype)
    case("one", [7], dtype)
    case("no signs", [1, 22, 333], dtype)
    case("three axes", count(2, 3, 4) - 7, dtype)
case("the edges of int32", np.array([2147483647, -2147483648, 0]), "int32")
case("the edges of int64", np.array([9223372036854775807, -9223372036854775808]), "int64")
for dtype in ("int8", "uint8", "int16", "uint16", "uint32", "uint64"):
    case("the edges", np.array([[np.iinfo(dtype).max, np.iinfo(dtype).min], [0, 65]], dtype), dtype)
case("truth", [True, False, True], "bool")
case("truths", [[True, False], [True, True]], "bool")
close("whole")

both("a long row", count(40) * 0.37)
both("two long rows", count(2, 30) / 8)
both("rows in three axes", count(2, 2, 20) * 1.5 - 10)
both("rows in scientific notation", count(1, 13) * 1e7)
case("whole numbers over several lines", count(60) * 37, "int32")
case("a row of 75 columns", count(15) + 1000, "int32")
case("a row of 73 columns", [1000] * 13 + [10000000], "int32")
case("a row of 74 columns", [1000] * 9 + [1], "int64")
case("truths over several lines", count(40) % 3 == 0, "bool")
close("lines")

both("1000 values", count(1000))
both("1001 values", count(1001))
both("a matrix", count(40, 40) * 0.5)
both("few rows", count(2, 3, 400) * 0.25)
both("a cube", count(11, 11, 11) - 665)
both("a column", count(1001, 1))
both("edges that are not summarized", count(6, 400))
both("only what is printed counts", np.where(count(2000) == 1000, 1e10, 1))
both("wide and summarized", count(1200) * 1e-7)
case("whole numbers", count(100, 100), "int64")
case("truths", count(1500) % 2 == 0, "bool")
case("four axes", count(4, 7, 8, 9), "int32")
close("summary")

case("eighths", count(3, 4) / 8 - 1, "float16")
case("tenths", count(2, 5) * 0.1 - 0.5, "float16")
case("below a thousand", [1, 999.5], "float16")
case("a thousand", [500, 1000], "float16")
case("the edges of half", [65504, 6.1e-5, 6e-8], "float16")
case("a ratio that is rounded to 1000", [0.9995, 999.5], "float16")
case("a ratio above 1000", [0.5, 501], "float16")
case("powers of two", 2.0 ** np.arange(-12, 4), "float16")
case("not finite", [inf, -inf, nan, 0.1], "float16")
case("summarized", count(1200) / 2, "float16")
for k, value in enumerate((3.5, 0.1, 999.5, 1000, 65504, 1e-4, 9.9e-5, 6e-8, nan, -inf)):
    case(f"scalar {k}", value, "float16")
close("half")

both("no values", np.zeros(0))
both("no rows", np.zeros((0, 3)))
both("no columns", np.zeros((2, 0)))
case("no values", np.zeros(0), "int32")
case("no values", np.zeros((3, 0, 2)), "bool")
for k, value in enumerate((3.5, 1, 0, -0.0, 0.1, 1e-4, 9.9e-5, 123456, 1e6, 12345678, 1e15, 1e16, 1.5e300, nan, inf, -inf,
                           2 / 3, -1e-30)):
    both(f"scalar {k}", value)
case("scalar", -42, "int32")
case("scalar", 1 << 62, "int64")
case("scalar", 65, "int8")
case("scalar", 200, "uint8")
case("scalar", (1 << 64) - 1, "uint64")
case("scalar", True, "bool")
case("scalar", False, "bool")
close("scalars")

case("names", ["a", "bb", "", "ccc"], "str")
case("a table", [["a", "bb"], ["ccc", "d"]], "str")
case("quotes", ["it's", 'say "so"', "'both\"", "back\\slash"], "str")
case("escapes", ["line\nbreak", "tab\tand\rreturn", "\x00zero", "bell\x07", "\x7f", "\x85next"], "str")
case("letters of other alphabets", ["Grüße", "Ωμέγα", "日本語", "🙂 4 bytes"], "str")
case("a long line", [f"word number {k}" for k in range(17)], "str")
case("a long line of others", ["übergrößenträger " * (k % 3) for k in range(17)], "str")
case("wider than a line", ["x" * 80, "y" * 80, "z"], "str")
case("summarized", [str(k) for k in range(1200)], "str")
case("cubes", [[[str(4 * i + 2 * j + k) for k in range(2)] for j in range(2)] for i in range(2)], "str")
case("no values", [], "str")
case("scalar", "Hello, it's \n me", "str")
close("text")
