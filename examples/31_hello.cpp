// SPDX-License-Identifier: BSL-1.0
// The guide's greeting: a constant of text, and what else texts can do.
#include <onto/onto.hpp>
#include <onto/text.hpp>

#include <iostream>
#include <string>
#include <vector>

using namespace onto;

int main() {
  // [hello]
  auto s = constant("Hello, distributed onto!");
  session sess;
  std::cout << sess.run(s) << '\n';
  // [hello]

  // [operations]
  constexpr auto names = placeholder<"names", text, dyn>;
  const auto greeted = where(names == "world", constant("everybody"), names);
  const std::vector<std::string> given{"Ada", "world", "Grüße aus \"Köln\""};
  std::cout << sess.run(greeted, names = given) << '\n';
  std::cout << sess.run(flip<0>(concat<0>(names, constant({"the end"}))), names = given) << '\n';
  // [operations]

  // [gpu]
  try {
    session with_gpu{{.simulated_gpus = 1}};
    with_gpu.run(on<gpu<0>>(s));
  } catch (const invalid_argument_error& e) {
    std::cout << e.what() << '\n';
  }
  // [gpu]

  // [bytes]
  const tensor<text, dyn> all = sess.run(names, names = given);
  const tensor<std::uint8_t, dyn> bytes = serialize(all);
  std::cout << bytes.size() << " bytes\n";
  std::cout << (deserialize<dyn>(std::as_bytes(bytes.values()), {3}) == all) << '\n';
  // [bytes]
}
