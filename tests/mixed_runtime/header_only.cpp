// SPDX-License-Identifier: BSL-1.0
// The half that holds the runtime as it needs it. It uses a session of the other half.
#include "program.hpp"

bool mixed_runtime::in_header_only_file(session& sess, float before) { return add_two(sess, before); }
