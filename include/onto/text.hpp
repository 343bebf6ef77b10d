// SPDX-License-Identifier: BSL-1.0
// Texts as bytes: `serialize` and `deserialize`. Beside onto.hpp, for programs that write texts to files or send them;
// tensors of text themselves are in onto.hpp.
#pragma once

#include <onto/onto.hpp>

ONTO_BEGIN_HEADER

#include <onto/tensor/text_bytes.hpp>

ONTO_END_HEADER
