// SPDX-License-Identifier: BSL-1.0
// The result of a run is a copy.
// FAIL(g++): \[onto\.variable\] a result is a copy: sess\.run\(assign
// FAIL(clang++): \[onto\.variable\] a result is a copy: sess\.run\(assign
// FAIL(nvcc): deleted
#include <onto/onto.hpp>

using namespace onto;

constexpr auto w = variable<"w", float, 2>(0_c);
#ifdef ONTO_TWIN
void set(session& sess) { sess.run(assign(w, {1, 2})); }
#else
void set(session& sess) { sess.run(w) = tensor<float, 2>{1, 2}; }
#endif
