// SPDX-License-Identifier: BSL-1.0
// The memory that a GPU's kernels work in: when it is taken and when what there is will do.
#include <onto/backend/cuda/workspace.hpp>

#include "catch.hpp"

using namespace onto;
using namespace onto::detail;

namespace {

struct counting_source final : workspace_source {
  std::int64_t most = 0, held = 0;
  int taken = 0;
  char memory = 0;

  void* take_workspace(std::int64_t bytes) override {
    if (held + bytes > most) return nullptr;
    held += bytes;
    ++taken;
    return &memory;
  }
  void give_workspace(void*, std::int64_t bytes) noexcept override { held -= bytes; }
};

struct request {
  std::int64_t bytes;
  void* data = nullptr;
  ref<counted> held;

  request(cuda_workspace& from, counting_source& source, std::int64_t wanted, std::int64_t least = 0) : bytes(wanted) {
    held = from.get(source, bytes, least, data);
  }
};

}  // namespace

TEST_CASE("a workspace that is large enough is not taken again", "[cuda][memory]") {
  counting_source source;
  source.most = 1000;
  cuda_workspace all;
  for (const std::int64_t bytes : {800, 800, 100}) {
    const request r(all, source, bytes);
    CHECK(r.data == &source.memory);
    CHECK(r.bytes == 800);
    CHECK(source.taken == 1);
  }
  // A larger one has room once the smaller is given back, which nobody holds.
  CHECK(request(all, source, 1000).bytes == 1000);
  CHECK(source.taken == 2);
  all.drop();
  CHECK(source.held == 0);
}

TEST_CASE("where memory is short a workspace has less, down to what is needed", "[cuda][memory]") {
  counting_source source;
  cuda_workspace all;
  source.most = 500;
  CHECK(request(all, source, 1700, 100).bytes == 300);  // and an eighth of the rest
  all.drop();
  source.most = 299;
  CHECK(request(all, source, 1700, 100).bytes == 100);
  all.drop();
  source.most = 99;
  CHECK(request(all, source, 1700, 100).data == nullptr);
  CHECK(request(all, source, 0).data == nullptr);
}
