// SPDX-License-Identifier: BSL-1.0
// Data of others: a matrix column by column, an archive of NumPy's, a file that is mapped, a tensor of another library.
#include <onto/dlpack.hpp>
#include <onto/map_file.hpp>
#include <onto/npz.hpp>
#include <onto/strided.hpp>

#include <iostream>
#include <vector>

using namespace onto;

inline constexpr auto x = placeholder<"x", float, dyn, dyn>;

int main() {
  session sess;

  // [strided]
  const std::vector<float> columns{1, 4, 2, 5, 3, 6};  // column by column, as in Fortran, MATLAB and Eigen
  const strided_ref<float, dyn, dyn> seen(columns.data(), {2, 3}, {1, 2});  // pointer, extents, strides in elements
  std::cout << sess.run(2 * x, x = row_major(seen)) << '\n';
  try {
    sess.run(2 * x, x = seen);
  } catch (const invalid_argument_error& e) {
    std::cout << e.what() << '\n';
  }
  // [strided]

  // [npz]
  save_npz("model.npz", {{"w", tensor<float, 3, 1>{{1}, {0}, {-1}}}, {"b", tensor<float, 1>{0.5}}});

  const npz_file model("model.npz");  // reads the list of names
  for (const std::string& name : model.names()) std::cout << name << '\n';
  const auto w = model.load<float, 3, dyn>("w");
  const auto b = load_npz<float, 1>("model.npz", "b");  // or one array alone
  std::cout << sess.run(matmul(x, w) + b, x = row_major(seen)) << '\n';
  // [npz]

  // [map]
  save_npy("large.npy", tensor<float, 2, 3>{{1, 2, 3}, {4, 5, 6}});

  const auto large = load_npy<float, dyn, dyn>("large.npy", map_file);  // nothing is read or copied
  std::cout << sess.run(sum(x), x = large) << '\n';                     // the kernel reads the file
  // [map]

  // [dlpack]
  dlpack::DLManagedTensorVersioned* given = to_dlpack(sess.run(x + 1, x = large));  // it owns the result now

  const auto taken = from_dlpack<float, dyn, dyn>(given);  // gives it back when nobody uses it any more
  std::cout << sess.run(10 * x, x = taken) << '\n';
  // [dlpack]
}
