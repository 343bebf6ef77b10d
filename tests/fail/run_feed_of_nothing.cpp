// SPDX-License-Identifier: BSL-1.0
// Where nothing is fed, nothing stands: empty braces are no dictionary without entries.
// nvcc refuses it too, with a list of what there is.
// ONLY: g++ clang++
// FAIL: deleted
// FAIL: \[onto\.feed\] where nothing is fed no braces stand: sess\.run\(e\)
#include <onto/onto.hpp>

using namespace onto;

const auto e = constant({1.0f, 2.0f}) * 2_c;

#ifdef ONTO_TWIN
auto f(session& sess) { return sess.run(e); }
#else
auto f(session& sess) { return sess.run(e, {}); }
#endif
