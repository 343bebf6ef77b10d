// SPDX-License-Identifier: BSL-1.0
// A convolutional network learns to read handwritten digits in several processes: mpirun -n 2
// ./digits_convolution_workers --workers=2
//   --workers=N     1 or 2, or what it is compiled for: -DWORKERS=4,8
//   --steps=N       of 32 digits each, counted from the beginning of the training
//   --checkpoint=F  it is saved there every --every=N steps and at the end, and goes on from there where there is one
//   --threads=N     of each process, for its kernels; 0: as many as there are cores
//   --simulated     all workers in this process, without mpirun
// Any number of workers computes the same, beyond rounding, and goes on from the checkpoints of any other.
#include "../digits.hpp"
#include "../digits_model.hpp"
#include "workers.hpp"

#include <algorithm>

namespace {

struct digits_network {
  static constexpr int batch_size = 32;
  using picture = workers::shape<std::uint8_t, 8, 8>;

  // [network]
  template <class Part>
  static constexpr auto step(const auto& workers) {
    using namespace onto;
    return minimize<adam{.rate = 1e-3}>(towers(workers, [](auto worker) {
      const auto read = [=](const auto& w) { return replica(worker, w); };
      const auto features = digits::features(Part::template images<worker.index>(), read);
      return softmax_cross_entropy(digits::scores_of(features, read), Part::template labels<worker.index>());
    }));
  }
  // [network]

  digits_network(const std::string& folder, bool) : all(folder.empty() ? digits::load() : digits::load(folder)) {}

  int count() const { return all.labels.shape()[0]; }

  template <int Rows>
  void read(const int* rows, std::int64_t, int, picture::rows<Rows>& images,
            onto::tensor<std::int32_t, Rows>& labels) const {
    for (int k = 0; k < Rows; ++k) {
      std::copy_n(&all.images(rows[k], 0, 0), 64, &images(k, 0, 0));
      labels(k) = all.labels(rows[k]);
    }
  }

 private:
  digits::examples all;
};

}  // namespace

int main(int argc, char** argv) { return workers::run<digits_network>(argc, argv); }
