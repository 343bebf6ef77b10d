// SPDX-License-Identifier: BSL-1.0
// A session that goes short ways, and one that cannot, since its log is written: both must give and count the same.
#pragma once

#include <onto/onto.hpp>

#include <cstdint>
#include <sstream>

namespace onto_test {

inline std::int64_t kernels_of(const onto::session& sess) {
  return sess.statistics(onto::device_name::parse("/cpu:0")).kernels;
}

struct two_sessions {
  std::ostringstream log;
  onto::session plain;
  onto::session watched{{.log_device_placement = true, .log = &log}};
};

}  // namespace onto_test
