// SPDX-License-Identifier: BSL-1.0
// An operation of one's own whose apply is for the host alone, in a file for nvcc: a GPU would leave the call out.
// FAIL: error: calling a __host__ function from a __host__ __device__ function is not allowed
// FAIL: operation_must_be_host_device::apply<.*cube
// ONLY: nvcc
// LINES: 14
#include <onto/onto.hpp>

#ifdef ONTO_TWIN
#define EITHER __host__ __device__
#else
#define EITHER
#endif

struct cube : onto::elementwise<> {
  static constexpr std::string_view name = "Cube";
  template <class T>
  EITHER static T apply(T x) {
    return x * x * x;
  }
};

constexpr auto a = onto::placeholder<"a", float, 2>;

onto::tensor<float, 2> run(onto::session& s) { return s.run(onto::call<cube>(a), a = {1, 2}); }
