// SPDX-License-Identifier: BSL-1.0
// A GPU as a device: memory, copies, events, and what happens when memory runs out.
#include <onto/backend/cuda/device.hpp>

#include "catch.hpp"
#include "gpu.hpp"

using namespace gpu_test;

TEST_CASE("the GPUs of the machine are found and described", "[cuda][device]") {
  device_list devices;
  add_cuda_devices(devices);
  REQUIRE(devices.count() > 0);
  CHECK(devices.count() == find_cuda_devices().count);
  CHECK(devices[0].where() == place{device_kind::gpu, 0});
  const std::string text = devices[0].description();
  CHECK(text.rfind("device: 0, name: ", 0) == 0);
  CHECK(text.find(", pci bus id: ") != std::string::npos);
  CHECK(text.find(", compute capability: ") != std::string::npos);
}

TEST_CASE("data goes to a GPU and comes back", "[cuda][device]") {
  bench b;
  const std::vector<double> values = numbers<double>(100003);
  const double* p = b.upload(values);
  CHECK(b.download(p, values.size()) == values);
  CHECK(b.gpu.counters.transfers == 2);
  CHECK(b.gpu.counters.transfer_bytes == 2 * 8 * 100003);
}

TEST_CASE("freed memory is used again, in stream order", "[cuda][device]") {
  bench b;
  const std::int64_t bytes = b.gpu.facts().memory / 4;
  for (int k = 0; k < 8; ++k) b.gpu.deallocate(b.gpu.allocate(bytes), bytes);
  b.gpu.synchronize();
}

TEST_CASE("memory that is not there is refused, and the device stays usable", "[cuda][device]") {
  bench b;
  CHECK_THROWS_AS(b.gpu.allocate(b.gpu.facts().memory * 2), resource_exhausted_error);
  const std::vector<float> values = numbers<float>(1000);
  CHECK(b.download(b.upload(values), 1000) == values);
}

TEST_CASE("a device keeps to its limit", "[cuda][device]") {
  cuda_device limited(place{device_kind::gpu, 0}, 0, {std::int64_t{256} << 20, true});
  CHECK_THROWS_AS(limited.allocate(std::int64_t{1} << 30), resource_exhausted_error);
  void* p = limited.allocate(std::int64_t{64} << 20);
  CHECK(p != nullptr);
  limited.deallocate(p, std::int64_t{64} << 20);
}

TEST_CASE("two devices on one GPU copy to each other and wait for each other", "[cuda][device]") {
  bench a, b;
  const std::vector<int> values(5000, 42);
  const int* from = a.upload(values);
  int* to = b.reserve<int>(5000);
  a.gpu.wait(b.gpu.record());
  a.gpu.copy_to(a.run, b.gpu, to, from, 20000);
  b.gpu.wait(a.gpu.record());
  CHECK(b.download(to, 5000) == values);
}

TEST_CASE("two GPUs copy to each other", "[cuda][device]") {
  if (find_cuda_devices().count < 2) {
    WARN("skipped: one GPU only");
    return;
  }
  bench a;
  cuda_device other(place{device_kind::gpu, 1}, 1);
  const std::vector<int> values(5000, 42);
  const int* from = a.upload(values);
  void* to = other.allocate(20000);
  a.gpu.wait(other.record());
  a.gpu.copy_to(a.run, other, to, from, 20000);
  other.wait(a.gpu.record());
  std::vector<int> back(5000);
  other.copy_out(a.run, back.data(), to, 20000);
  other.synchronize();
  if (a.run.failed()) a.run.rethrow();
  other.deallocate(to, 20000);
  CHECK(back == values);
}

TEST_CASE("a failure is kept, and what follows in its run is not issued", "[cuda][device]") {
  bench b;
  b.gpu.fault.before = [](void*, const char* what) {
    if (std::string(what) == "copy") throw internal_error("for the test");
  };
  const float x = 1;
  float* p = b.reserve<float>(1);
  b.gpu.copy_in(b.run, p, &x, 4);
  CHECK(b.run.failed());
  b.gpu.fault.before = nullptr;
  b.gpu.copy_in(b.run, p, &x, 4);
  CHECK(b.gpu.counters.transfers == 0);
  CHECK_THROWS_AS(b.run.rethrow(), internal_error);
  run_state next;
  b.gpu.copy_in(next, p, &x, 4);
  CHECK_FALSE(next.failed());
}
