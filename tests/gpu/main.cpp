// SPDX-License-Identifier: BSL-1.0
// The main of every GPU test: runs it where there is a GPU, and says why not where there is none (exit status 77).
#define CATCH_CONFIG_RUNNER
#include "catch.hpp"

#include <cuda_runtime_api.h>

#include <cstdio>
#include <string_view>

int main(int argc, char** argv) {
  const bool lists = argc > 1 && std::string_view(argv[1]).substr(0, 6) == "--list";
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (!lists && (status != cudaSuccess || devices == 0)) {
    std::printf("skipped: no GPU: %s\n", status == cudaSuccess ? "none is visible" : cudaGetErrorString(status));
    return 77;
  }
  return Catch::Session().run(argc, argv);
}
