// SPDX-License-Identifier: BSL-1.0
// A picture that is written is of bytes.
// FAIL: \[onto\.image\] a picture is a tensor of bytes.*cast<std::uint8_t>\(clip\(x, 0, 255\)\)
#include <onto/image.hpp>

#ifdef ONTO_TWIN
using element = std::uint8_t;
#else
using element = float;
#endif

void save(const onto::tensor<element, onto::dyn, onto::dyn>& picture) { onto::save_pgm("picture.pgm", picture); }
