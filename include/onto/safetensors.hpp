// SPDX-License-Identifier: BSL-1.0
// Tensors in safetensors files: safetensors_file, load_safetensors, save_safetensors. Beside onto.hpp, for programs
// that have them; a session saves its variables without this header.
#pragma once

#include <onto/onto.hpp>

ONTO_BEGIN_HEADER

#include <onto/tensor/safetensors.hpp>

ONTO_END_HEADER
