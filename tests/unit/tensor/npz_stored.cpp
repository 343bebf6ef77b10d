// SPDX-License-Identifier: BSL-1.0
// .npz archives in a file that is compiled without zlib, in a program whose other files may be compiled with it.
#undef ONTO_HAS_ZLIB
#define ONTO_HAS_ZLIB 0
#include <onto/npz.hpp>

#include <string>

#include "../catch.hpp"

using namespace onto;

TEST_CASE("without zlib a compressed array is refused, and a stored one read", "[npz]") {
  const std::string folder = ONTO_TESTS_DIR "/data/npy/";
  CHECK_THROWS_WITH(
      (load_npz<float, dyn, dyn>(folder + "compressed.npz", "w")),
      "[onto.npz] " + folder +
          "compressed.npz: w.npy: the entry is compressed, and the program was compiled without zlib; "
          "compile it with -DONTO_HAS_ZLIB=1 and -lz (in CMake, link onto::zlib), or save the arrays with "
          "numpy.savez");
  CHECK(load_npz<float, dyn, dyn>(folder + "several.npz", "w") == tensor<float, 2, 3>{{-1, -0.5, 0}, {0.5, 1, 1.5}});
}
