// SPDX-License-Identifier: BSL-1.0
// How much GPU memory a session takes: a limit, growth, what happens when it is used up, and one GPU as several.
#include <onto/onto.hpp>

#include <iostream>

using namespace onto;

inline constexpr auto x = placeholder<"x", float, dyn, dyn>;

namespace {

tensor<float, dyn, dyn> ones(int rows) {
  tensor<float, dyn, dyn> t({rows, 1024});
  for (float& v : t) v = 1;
  return t;
}

// [holds]
void report(session& sess) {
  const memory_info m = sess.memory(gpu<0>{});
  std::cout << (m.in_use <= m.peak && m.peak <= m.limit ? "within " : "beyond ") << m.limit << " bytes\n";
}
// [holds]

}  // namespace

int main() {
  const tensor<float, dyn, dyn> small = ones(16), large = ones(20000);

  // [limit]
  session sess{{.gpu = {.allow_growth = true, .memory_limit = 64 << 20}, .simulated_gpus = 1}};
  // [limit]
  constexpr auto total = on<gpu<0>>(sum(x * x));
  std::cout << sess.run(total, x = small) << '\n';
  report(sess);

  // [exhausted]
  try {
    sess.run(total, x = large);  // 82 MB
  } catch (const resource_exhausted_error&) {
    std::cout << "no memory left\n";
  }
  std::cout << sess.run(total, x = small) << '\n';  // the session goes on
  // [exhausted]
  report(sess);

  // [trim]
  sess.trim();
  // [trim]
  std::cout << (sess.memory(gpu<0>{}).in_use == 0 ? "all given back\n" : "something is held\n");

  // [visible]
  session chosen{{.gpu = {.visible_device_list = "1,0"}, .simulated_gpus = 2}};  // GPU 1 is gpu<0>, GPU 0 is gpu<1>
  // [visible]
  std::cout << chosen.devices().size() << " devices\n";

  // [logical]
  const logical_device part{.gpu = 0, .memory_limit = 64 << 20};
  session parts{{.gpu = {.visible_device_list = "0", .logical_devices = {part, part}}, .simulated_gpus = 1}};
  constexpr auto two = on<cpu<0>>(add_n(on<gpu<0>>(sum(x)), on<gpu<1>>(sum(x * x))));
  std::cout << parts.run(two, x = small) << '\n';
  // [logical]
}
