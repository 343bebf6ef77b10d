# SPDX-License-Identifier: BSL-1.0
"""The programs whose compile time is measured: the same expressions written with onto, Eigen Tensor and xtensor.

Each program is complete and prints one number per expression, which is the same with every library. An expression of N
operations is over N + 1 distinct leaves, vectors whose length is known at run time; in the program "128 over 9" it is
over the 9 leaves of the program of 8 operations, so that only the operations are more.

The ordinary programs are files, written as users write them: `ordinary/onto` and, of the same name, `ordinary/eigen`.
"""
from pathlib import Path

SIZES = (1, 8, 32, 128)
DIFFERENT = 50  # expressions of 8 operations in the program "50x8"
FEW_LEAVES = "128 over 9"
PROGRAMS = ("include", *(str(size) for size in SIZES), FEW_LEAVES, f"{DIFFERENT}x8")

FILES = Path(__file__).resolve().parent / "ordinary"
ORDINARY = tuple(sorted(file.stem for file in (FILES / "onto").glob("*.cpp")))
COMPILED = "compiled"  # onto with its compiled runtime: the sources are onto's
RUNTIME = "runtime"    # the one source file that a program with the compiled runtime has besides

HEADERS = {
    "onto": "#include <onto/onto.hpp>",
    "eigen": "#include <unsupported/Eigen/CXX11/Tensor>",
    "xtensor": "#include <xtensor/xtensor.hpp>",
}
NAMES = {"onto": "onto", COMPILED: "onto, compiled runtime", "eigen": "Eigen Tensor", "xtensor": "xtensor"}

TYPES = {
    "onto": "using vec = onto::tensor<float, onto::dyn>;\nstatic vec make(int length) { return vec({length}); }",
    "eigen": "using vec = Eigen::Tensor<float, 1, Eigen::RowMajor>;\n"
             "static vec make(int length) { return vec(length); }",
    "xtensor": "using vec = xt::xtensor<float, 1>;\n"
               "static vec make(int length) { return vec::from_shape({static_cast<std::size_t>(length)}); }",
}


def expression(operations, seed, leaves=None):
    """`x0 + x1 * x2 - ...`: the digits of `seed` to the base 3, repeated, choose among the three operators."""
    leaves = leaves or operations + 1
    digits = []
    for _ in range(8):
        digits.append(seed % 3)
        seed //= 3
    text = "x0"
    for i in range(operations):
        text += f" {'+-*'[digits[i % 8]]} x{(i + 1) % leaves}"
    return text


def expressions(program):
    """The expressions of a program, as (leaves, text)."""
    if program == "include":
        return []
    if program == f"{DIFFERENT}x8":
        return [(9, expression(8, 17 + 131 * i)) for i in range(DIFFERENT)]
    if program == FEW_LEAVES:
        return [(9, expression(128, 3231, 9))]
    return [(int(program) + 1, expression(int(program), 3231))]


def source(library, program):
    """The text of a program."""
    if program == RUNTIME:
        return "#include <onto/compiled.hpp>\n"
    if library == COMPILED:
        library = "onto"
    if program in ORDINARY:
        return (FILES / library / f"{program}.cpp").read_text(encoding="utf-8")
    lines = [HEADERS[library], "#include <cstdio>", "#include <vector>", ""]
    wanted = expressions(program)
    if not wanted:
        return "\n".join(lines) + "int main() { return 0; }\n"
    leaves = max(count for count, _ in wanted)
    lines += [TYPES[library], ""]
    if library == "onto":
        lines += [f'inline constexpr auto x{i} = onto::placeholder<"x{i}", float, onto::dyn>;' for i in range(leaves)]
        lines += ["", "void run(const std::vector<vec>& v) {", "  onto::session sess;"]
    else:
        lines += ["void run(const std::vector<vec>& v) {"]
        lines += [f"  const vec& x{i} = v[{i}];" for i in range(leaves)]
    for i, (count, text) in enumerate(wanted):
        if library == "onto":
            feeds = ", ".join(f"x{leaf} = v[{leaf}]" for leaf in range(count))
            lines.append(f"  vec r{i} = sess.run({text}, {feeds});")
        else:
            lines.append(f"  vec r{i} = {text};")
        lines.append(f'  std::printf("%g\\n", static_cast<double>(r{i}(1)));')
    lines += ["}", "", "int main() {", "  std::vector<vec> v;"]
    lines += [f"  for (int i = 0; i < {leaves}; ++i) {{", "    vec leaf = make(4);",
              "    for (int j = 0; j < 4; ++j) leaf(j) = static_cast<float>((7 * i + j) % 3) - 0.5f;",
              "    v.push_back(leaf);", "  }", "  run(v);", "}"]
    return "\n".join(lines) + "\n"
