// SPDX-License-Identifier: BSL-1.0
// What `math_mode::tf32` does: every float product that a session binds asks for it, and without it none does. CPUs and
// simulated GPUs multiply true floats either way.
#include <onto/onto.hpp>
#include <onto/session/core.hpp>
#include <onto/session/devices.hpp>

#include "../catch.hpp"

using namespace onto;

namespace {

constexpr auto x = placeholder<"x", float, 4, 4>;
constexpr auto open = placeholder<"open", float, dyn, dyn>;
constexpr auto batch = placeholder<"batch", float, 3, 4, 4>;
constexpr auto bias = placeholder<"bias", float, 4>;

session_options one_gpu(math_mode math) {
  session_options o;
  o.simulated_gpus = 1;
  o.math = math;
  return o;
}

/// How a bound program multiplies on its GPU.
struct products {
  int of_floats = 0;
  int with_tf32 = 0;     // of those
  int with_relu = 0;     // of those
  int with_addends = 0;  // of those
};

products products_of(const detail::bound_program& b) {
  products found;
  for (int k = 0; k < b.counts.steps; ++k) {
    const detail::bound_step& s = b.steps[k];
    for (int c = 0; c < s.call_count; ++c) {
      const detail::kernel_call& call = s.calls[c].call;
      if (call.op->kind != op_kind::matmul || call.out.type != element::float32) continue;
      CHECK(s.step.at == place{device_kind::gpu, 0});
      ++found.of_floats;
      found.with_tf32 += call.form.tf32;
      found.with_relu += call.form.relu;
      found.with_addends += call.inputs == 3;
    }
  }
  return found;
}

/// The same before the first run, where the shapes are known by then, and after as many runs as it takes to replay.
template <class... E, class... Symbols>
void check_products(math_mode math, const products& expected, const fetch_list<E...>& program,
                    const feed<Symbols>&... feeds) {
  const session_options o = one_gpu(math);
  const detail::ref<detail::session_core> core(
      new detail::session_core(detail::find_devices(o, detail::gpu_finders), o));
  boost::hana::unpack(program.expressions, [&](const E&... e) {
    using typed = detail::typed_run<E...>;
    const detail::state* const states[] = {e.state.get()...};
    const detail::ref<detail::prepared_program> p = core->prepare(typed::program(), states);
    for (int run = 0; run < 4; ++run) {
      INFO("after " << run << " runs");
      REQUIRE((p->bound || run == 0));
      if (p->bound) {
        const products found = products_of(*p->bound);
        CHECK(found.of_floats == expected.of_floats);
        CHECK(found.with_tf32 == (math == math_mode::tf32 ? expected.of_floats : 0));
        CHECK(found.with_relu == expected.with_relu);
        CHECK(found.with_addends == expected.with_addends);
      }
      (void)typed::template run<false>(*core, p.get(), states, feeds...);
    }
  });
}

/// Four floats in a row need 22, 23 and 24 bits: TF32 would round them all to a few.
template <int... Dims>
tensor<float, Dims...> long_numbers() {
  tensor<float, Dims...> t;
  int k = 0;
  for (float& v : t) v = 1.0f + static_cast<float>(++k) / 8388608.0f;
  return t;
}

template <class T, int... Dims>
int differences(const tensor<T, Dims...>& a, const tensor<T, Dims...>& b) {
  int count = 0;
  for (std::size_t k = 0; k < a.size(); ++k) count += !(a.data()[k] == b.data()[k]);
  return count;
}

tensor<float, 4, 4> identity() { return {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}; }

}  // namespace

TEST_CASE("TF32 reaches the products that ask for it, and no others", "[session][options]") {
  session_options unsaid;
  CHECK(unsaid.math == math_mode::full);
  for (const math_mode math : {math_mode::full, math_mode::tf32}) {
    INFO((math == math_mode::tf32 ? "tf32" : "full"));
    const auto m = long_numbers<4, 4>();
    const auto row = long_numbers<4>();
    check_products(math, {1, 0, 0, 0}, fetches(matmul(x, x)), x = m);
    check_products(math, {1, 0, 1, 1}, fetches(relu(matmul(x, x) + bias)), x = m, bias = row);
    check_products(math, {1, 0, 0, 1}, fetches(2.0f * matmul(transpose(x), x) - 0.5f * x), x = m);
    check_products(math, {2, 0, 0, 0}, fetches(matmul(matmul(x, x), x)), x = m);
    check_products(math, {1, 0, 0, 0}, fetches(matmul(batch, x), sum(x)), batch = long_numbers<3, 4, 4>(), x = m);
    check_products(math, {1, 0, 0, 0}, fetches(exp(matmul(open, open))),
                   open = tensor<float, dyn, dyn>{{1, 2}, {3, 4}});
    check_products(math, {0, 0, 0, 0}, fetches(x * x), x = m);
  }
}

TEST_CASE("with TF32 allowed, CPUs and simulated GPUs still multiply true floats", "[session][options]") {
  const auto m = long_numbers<4, 4>();
  const auto batches = long_numbers<3, 4, 4>();
  session fast{one_gpu(math_mode::tf32)}, full{one_gpu(math_mode::full)};
  REQUIRE(fast.devices().size() == 2);
  const auto y = placeholder<"y", float, 4, 4>;
  const auto on_gpu = fast.prepare(on<gpu<0>>(matmul(x, y)));
  for (int run = 0; run < 3; ++run) {
    CHECK(differences(fast.run(on<cpu<0>>(matmul(x, y)), x = m, y = identity()), m) == 0);
    CHECK(differences(fast.run(on<gpu<0>>(matmul(x, y)), x = m, y = identity()), m) == 0);
    CHECK(differences(on_gpu(x = m, y = identity()), m) == 0);
    CHECK(differences(on_gpu(x = identity(), y = m), m) == 0);
  }
  CHECK(differences(fast.run(matmul(batch, x), batch = batches, x = identity()), batches) == 0);
  CHECK(differences(fast.run(matmul(batch, x) + bias, batch = batches, x = m, bias = long_numbers<4>()),
                    full.run(matmul(batch, x) + bias, batch = batches, x = m, bias = long_numbers<4>())) == 0);
}
