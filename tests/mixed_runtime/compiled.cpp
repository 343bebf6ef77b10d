// SPDX-License-Identifier: BSL-1.0
// The half that is compiled with ONTO_COMPILED. It uses a session of its own, before and after the other half.
#include "program.hpp"

#include <cstdio>

onto::session& mixed_runtime::compiled_session() {
  static session sess;
  return sess;
}

int main() {
  using namespace mixed_runtime;
  session& sess = compiled_session();
  sess.run(assign(w, zeros<float, 3>()));
  const bool good = add_two(sess, 0) && in_header_only_file(sess, 2) && add_two(sess, 4);
  std::puts(good ? "ok" : "the halves do not agree");
  return good ? 0 : 1;
}
