// SPDX-License-Identifier: BSL-1.0
// The header of an .npy file, read from bytes that may be wrong or hostile. It allocates nothing a file could make
// large.
#pragma once

#include <onto/core/config.hpp>
#include <onto/core/element.hpp>
#include <onto/shape/extents.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// The longest header that is read, as in NumPy, and with what comes before it.
inline constexpr std::size_t npy_header_limit = 10000;
inline constexpr std::size_t npy_prologue_limit = 12 + npy_header_limit;

/// What the header of an .npy file says.
struct npy_header {
  std::string type;         // as written: '<f4'
  bool swapped = false;     // bytes are in the other order than this machine's
  bool fortran = false;     // the first index is the one whose values lie next to each other
  extents shape;            // known, not negative
  std::size_t data_at = 0;  // where the values begin
};

[[noreturn]] ONTO_RUNTIME void throw_npy(std::string_view name, const std::string& what);

/// Reads an .npy header from the first bytes of a file: all of them, or at least `npy_prologue_limit`. `name` is what
/// errors call it. *Throws* `invalid_argument_error`.
ONTO_RUNTIME npy_header parse_npy_header(std::span<const std::byte> bytes, std::string_view name = "the data");

/// The number of elements, once everything the header says fits the tensor asked for and the bytes that are there.
ONTO_RUNTIME std::size_t check_npy(const npy_header& h, element type, const extents& declared, std::uint64_t bytes,
                                   std::string_view name);

/// `{'descr': '<f4', ...}` and what comes before it, byte for byte as numpy.save writes it.
ONTO_RUNTIME std::string make_npy_header(element type, const extents& shape);

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
