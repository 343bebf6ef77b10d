// SPDX-License-Identifier: BSL-1.0
// What onto says when something is wrong at run time: each mistake is an exception with one sentence, and the session
// stays usable. docs/errors.md quotes these programs and their words.
#include <onto/onto.hpp>

#include <iostream>

using namespace onto;

inline constexpr auto m = placeholder<"m", float, dyn, dyn>;
inline constexpr auto v = placeholder<"v", float, 3>;
inline constexpr auto w = variable<"w", float, 3>;
inline constexpr auto count = placeholder<"count", int, 3>;

namespace {

/// Prints what `f` throws, between two lines with its name.
template <class F>
void show(const char* name, F f) {
  std::cout << "# [" << name << "]\n";
  try {
    f();
    std::cout << "nothing was thrown\n";
  } catch (const error& e) {
    std::cout << e.what() << '\n';
  }
  std::cout << "# [" << name << "]\n";
}

}  // namespace

int main() {
  session sess;

  show("device", [] {
    // [device]
    device_guard scope{"/gpx:1"};
    // [device]
  });
  {
    // [device-right]
    device_guard scope{"/gpu:1"};
    // [device-right]
  }

  show("element", [] {
    // [element]
    auto shifted = count + 5'000'000'000;
    // [element]
    (void)shifted;
  });
  {
    // [element-right]
    auto shifted = cast<std::int64_t>(count) + 5'000'000'000;
    // [element-right]
    (void)shifted;
  }

  show("guard", [&] {
    // [guard]
    const auto here = exp(v);
    device_guard scope{"/cpu:0"};
    const auto there = exp(v);  // the same operation over the same symbol, under a guard
    sess.run(here + there, v = {1, 2, 3});
    // [guard]
  });
  {
    // [guard-right]
    device_guard scope{"/cpu:0"};
    const auto once = exp(v);
    sess.run(once + once, v = {1, 2, 3});
    // [guard-right]
  }

  show("name", [&] {
    // [name]
    const auto one = constant<"c">({1.f, 1.f, 1.f});
    const auto two = constant<"c">({2.f, 2.f, 2.f});
    sess.run(v + one + two, v = {1, 2, 3});
    // [name]
  });
  {
    // [name-right]
    const auto one = constant<"one">({1.f, 1.f, 1.f});
    const auto two = constant<"two">({2.f, 2.f, 2.f});
    sess.run(v + one + two, v = {1, 2, 3});
    // [name-right]
  }

  show("npy", [] {
    // [npy]
    load_npy<float, dyn, dyn>("weights.npy");
    // [npy]
  });

  show("option", [] {
    // [option]
    session many{{.simulated_gpus = -1}};
    // [option]
  });
  {
    // [option-right]
    session many{{.simulated_gpus = 4}};
    // [option-right]
  }

  show("shape", [&] {
    // [shape]
    sess.run(matmul(m, m), m = {{1, 2, 3}, {4, 5, 6}});
    // [shape]
  });
  {
    // [shape-right]
    sess.run(matmul(m, transpose(m)), m = {{1, 2, 3}, {4, 5, 6}});
    // [shape-right]
  }

  show("memory", [&] {
    // [memory]
    session small{{.gpu = {.memory_limit = 1 << 20}, .simulated_gpus = 1}};
    const tensor<float, dyn, dyn> large({512, 512});
    small.run(on<gpu<0>>(matmul(m, m) + m), m = large);
    // [memory]
  });
  {
    // [memory-right]
    session enough{{.gpu = {.memory_limit = 4 << 20}, .simulated_gpus = 1}};
    const tensor<float, dyn, dyn> large({512, 512});
    enough.run(on<gpu<0>>(matmul(m, m) + m), m = large);
    // [memory-right]
  }

  show("run", [&] {
    // [run]
    auto step = sess.prepare(v * 2.0f);
    auto handle = step.async(v = {1, 2, 3});
    handle.get();
    handle.get();
    // [run]
  });

  show("tensor", [&] {
    // [tensor]
    const tensor<float, dyn> two{1, 2};
    sess.run(exp(v), v = two);  // v has 3 elements
    // [tensor]
  });
  {
    // [tensor-right]
    const tensor<float, dyn> three{1, 2, 3};
    sess.run(exp(v), v = three);
    // [tensor-right]
  }

  show("variable", [&] {
    // [variable]
    sess.run(w + v, v = {1, 2, 3});
    // [variable]
  });
  {
    // [variable-right]
    sess.run(assign(w, v), v = {1, 2, 3});  // or initialize, where the variable has an initial value
    sess.run(w + v, v = {1, 2, 3});
    // [variable-right]
  }
}
