// SPDX-License-Identifier: BSL-1.0
// The network of TensorFlow's CIFAR-10 tutorial, trained by several processes: mpirun -n 2 ./cifar10_workers
// --workers=2
//   --workers=N     1 or 2, or what it is compiled for: -DWORKERS=4,8
//   --data=FOLDER   where data_batch_1.bin to data_batch_5.bin are; without it, a generated set
//   --steps=N       of 128 pictures each, or -DBATCH=N, counted from the beginning of the training
//   --checkpoint=F  it is saved there every --every=N steps and at the end, and goes on from there where there is one
//   --threads=N     of each process, for its kernels; 0: as many as there are cores
//   --simulated     all workers in this process, without mpirun
// Any number of workers computes the same, beyond rounding, and goes on from the checkpoints of any other.
#include "../cifar10/data.hpp"
#include "../cifar10/model.hpp"
#include "workers.hpp"

#include <algorithm>
#include <filesystem>
#include <string>

#ifndef BATCH
#define BATCH 128
#endif

namespace {

struct cifar10_network {
  static constexpr int batch_size = BATCH;
  using picture = workers::shape<float, cifar10::crop, cifar10::crop, cifar10::channels>;

  // [network]
  template <class Part>
  static constexpr auto step(const auto& workers) {
    return cifar10::step_of_workers<Part>(workers);
  }
  // [network]

  cifar10_network(const std::string& folder, bool is_first) : all(load(folder, is_first)) {}

  int count() const { return all.labels.shape()[0]; }

  template <int Rows>
  void read(const int* rows, std::int64_t number, int first, picture::rows<Rows>& images,
            onto::tensor<std::int32_t, Rows>& labels) const {
    onto::tensor<std::uint8_t, onto::dyn, cifar10::side, cifar10::side, cifar10::channels> some(
        {Rows, cifar10::side, cifar10::side, cifar10::channels});
    for (int k = 0; k < Rows; ++k) {
      std::copy_n(&all.images(rows[k], 0, 0, 0), cifar10::record - 1, &some(k, 0, 0, 0));
      labels(k) = all.labels(rows[k]);
    }
    const auto changed = cifar10::augmented(some, 1, number, first);
    std::copy_n(changed.data(), changed.size(), images.data());
  }

 private:
  static cifar10::examples load(const std::string& folder, bool is_first) {
    if (!folder.empty()) return cifar10::read(cifar10::training_files(folder));
    if (is_first) std::printf("No --data: a generated set of ten kinds of stripes.\n");
    // Each process generates the same, in a file of its own.
    const auto file = std::filesystem::temp_directory_path() / ("onto_workers_" + std::to_string(::getpid()) + ".bin");
    cifar10::write_generated(file.string(), 4 * 128, 1);
    auto examples = cifar10::read({file.string()});
    std::filesystem::remove(file);
    return examples;
  }

  cifar10::examples all;
};

}  // namespace

int main(int argc, char** argv) { return workers::run<cifar10_network>(argc, argv); }
