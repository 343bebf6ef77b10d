// SPDX-License-Identifier: BSL-1.0
// DLPack: tensors of others are used where they lie and given back once, results are given away, and structures that
// cannot be are refused with a sentence and stay their owner's.
#include <onto/dlpack.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "../catch.hpp"

using namespace onto;

namespace {

using dlpack::DLManagedTensor;
using dlpack::DLManagedTensorVersioned;

// The layout is the ABI's on every 64-bit system.
static_assert(sizeof(dlpack::DLTensor) == 48 && sizeof(DLManagedTensor) == 64 &&
              sizeof(DLManagedTensorVersioned) == 80);
static_assert(offsetof(dlpack::DLTensor, device) == 8 && offsetof(dlpack::DLTensor, ndim) == 16 &&
              offsetof(dlpack::DLTensor, dtype) == 20 && offsetof(dlpack::DLTensor, shape) == 24 &&
              offsetof(dlpack::DLTensor, strides) == 32 && offsetof(dlpack::DLTensor, byte_offset) == 40);
static_assert(offsetof(DLManagedTensor, manager_ctx) == 48 && offsetof(DLManagedTensor, deleter) == 56);
static_assert(offsetof(DLManagedTensorVersioned, manager_ctx) == 8 &&
              offsetof(DLManagedTensorVersioned, deleter) == 16 && offsetof(DLManagedTensorVersioned, flags) == 24 &&
              offsetof(DLManagedTensorVersioned, dl_tensor) == 32);

/// A tensor of another library, which counts how often it was given back.
template <class Managed = DLManagedTensorVersioned>
struct theirs {
  std::vector<float> values{1, 2, 3, 4, 5, 6};
  std::vector<std::int64_t> shape{2, 3}, strides{3, 1};
  int given_back = 0;
  Managed m{};

  theirs() {
    m.dl_tensor = {values.data(), {dlpack::cpu, 0}, 2, {2, 32, 1}, shape.data(), strides.data(), 0};
    m.manager_ctx = this;
    m.deleter = [](Managed* self) { ++static_cast<theirs*>(self->manager_ctx)->given_back; };
    if constexpr (detail::versioned_dl_tensor<Managed>) m.version = {1, 1};
  }
  theirs(const theirs&) = delete;
};

/// The same structures as the official header has them: an enumeration for the kind of device.
namespace official {
enum DLDeviceType : int { kDLCPU = 1, kDLCUDA = 2 };
struct DLDevice {
  DLDeviceType device_type;
  std::int32_t device_id;
};
struct DLTensor {
  void* data;
  DLDevice device;
  std::int32_t ndim;
  dlpack::DLDataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor*);
};
}  // namespace official

const tensor<float, 2, 3> rows{{1, 2, 3}, {4, 5, 6}};

/// What is said about a structure that `spoil` changed. It stays its owner's.
template <class T = float, int... Dims, class Spoil>
std::string said(Spoil spoil) {
  theirs<> t;
  spoil(t);
  std::string what = "nothing was thrown";
  try {
    from_dlpack<T, Dims...>(&t.m);
  } catch (const invalid_argument_error& e) {
    what = e.what();
    CHECK(t.given_back == 0);
  }
  return what;
}
template <class Spoil>
std::string refused(Spoil spoil) {
  return said<float, dyn, dyn>(spoil);
}

}  // namespace

TEMPLATE_TEST_CASE("a tensor of others is fed where it lies, and given back once", "[dlpack]", DLManagedTensor,
                   DLManagedTensorVersioned) {
  constexpr auto x = placeholder<"x", float, dyn, dyn>;
  theirs<TestType> t;
  {
    const auto taken = from_dlpack<float, dyn, dyn>(&t.m);
    CHECK(taken.data() == t.values.data());
    CHECK(taken.shape() == std::array{2, 3});
    const auto again = taken;
    CHECK((x = taken).data == t.values.data());
    CHECK(evaluate(2 * x, x = taken) == tensor<float, 2, 3>{{2, 4, 6}, {8, 10, 12}});
    CHECK(t.given_back == 0);
  }
  CHECK(t.given_back == 1);
  CHECK(evaluate(x + 0, x = from_dlpack<float, 2, dyn>(&t.m, never_copy)) == rows);
  CHECK(t.given_back == 2);
  t.m.deleter = nullptr;  // memory that nobody waits for
  CHECK(from_dlpack<float, 2, 3>(&t.m) == rows);
}

TEST_CASE("the official header's structures are taken as they are", "[dlpack]") {
  float values[] = {1, 2};
  std::int64_t shape[] = {2};
  official::DLManagedTensor m{
      {values, {official::kDLCPU, 0}, 1, {2, 32, 1}, shape, nullptr, 0}, nullptr, [](official::DLManagedTensor*) {}};
  CHECK(from_dlpack<float, dyn>(&m).data() == values);
  CHECK(dlpack_view<float, dyn>(m.dl_tensor).data() == values);
  official::DLManagedTensor* given = to_dlpack<official::DLManagedTensor>(tensor<float, dyn>{5, 6});
  CHECK(given->dl_tensor.device.device_type == official::kDLCPU);
  CHECK(static_cast<float*>(given->dl_tensor.data)[1] == 6.0f);
  given->deleter(given);
}

TEST_CASE("no strides are those of rows, and an offset is in bytes", "[dlpack]") {
  theirs<> t;
  t.m.dl_tensor.strides = nullptr;
  CHECK(from_dlpack<float, dyn, dyn>(&t.m).data() == t.values.data());
  t.shape = {2, 2};
  t.m.dl_tensor.shape = t.shape.data();
  t.m.dl_tensor.byte_offset = 8;
  CHECK(from_dlpack<float, dyn, dyn>(&t.m) == tensor<float, 2, 2>{{3, 4}, {5, 6}});
  CHECK(dlpack_view<float, dyn, dyn>(t.m.dl_tensor).data() == t.values.data() + 2);
}

TEST_CASE("values that lie otherwise are copied and given back at once, or refused", "[dlpack]") {
  constexpr auto x = placeholder<"x", float, dyn, dyn>;
  theirs<> t;
  t.shape = {3, 2};
  t.strides = {1, 3};
  const auto copied = from_dlpack<float, dyn, dyn>(&t.m);
  CHECK(t.given_back == 1);
  CHECK(copied == tensor<float, 3, 2>{{1, 4}, {2, 5}, {3, 6}});
  CHECK_THROWS_WITH((from_dlpack<float, dyn, dyn>(&t.m, never_copy)),
                    "[onto.tensor] values of shape [3, 2] with strides (1, 3) do not lie row by row without gaps; copy "
                    "them with row_major(values)");
  CHECK(t.given_back == 1);
  CHECK_THROWS_AS((x = dlpack_view<float, dyn, dyn>(t.m.dl_tensor)), invalid_argument_error);
  CHECK(evaluate(x + 0, x = row_major(dlpack_view<float, dyn, dyn>(t.m.dl_tensor))) == copied.ref());

  t.m.dl_tensor.data = t.values.data() + 5;  // backwards, as NumPy's a[::-1, ::-1]
  t.shape = {2, 3};
  t.strides = {-3, -1};
  CHECK(from_dlpack<float, dyn, dyn>(&t.m) == tensor<float, 2, 3>{{6, 5, 4}, {3, 2, 1}});
}

TEST_CASE("a number and nothing at all are tensors too", "[dlpack]") {
  theirs<> t;
  t.m.dl_tensor.ndim = 0;
  t.m.dl_tensor.shape = nullptr;
  t.m.dl_tensor.strides = nullptr;
  CHECK(from_dlpack<float>(&t.m) == tensor<float>(1.0f));
  t.m.dl_tensor.ndim = 2;
  t.shape = {0, std::numeric_limits<int>::max()};
  t.strides = {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
  t.m.dl_tensor.shape = t.shape.data();
  t.m.dl_tensor.strides = t.strides.data();
  t.m.dl_tensor.data = nullptr;
  CHECK(from_dlpack<float, dyn, dyn>(&t.m).size() == 0);
}

TEMPLATE_TEST_CASE("every element type goes out and comes back", "[dlpack]", float, double, half, bfloat16, bool,
                   std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t,
                   std::uint64_t) {
  tensor<TestType, dyn, 3> t({2, 3});
  for (int k = 0; k < 6; ++k) t.data()[k] = static_cast<TestType>(static_cast<float>(k % 2));
  const tensor<TestType, dyn, 3> same = t;
  const TestType* const values = t.data();
  DLManagedTensorVersioned* given = to_dlpack(std::move(t));
  CHECK(given->version.major == 1);
  CHECK(given->flags == 0);
  CHECK(given->dl_tensor.data == values);
  CHECK(given->dl_tensor.strides[0] == 3);
  CHECK(given->dl_tensor.strides[1] == 1);
  const auto back = from_dlpack<TestType, 2, dyn>(given, never_copy);
  CHECK(back.data() == values);
  CHECK(back == same);
}

TEST_CASE("the codes of element types are the ABI's", "[dlpack]") {
  CHECK(detail::dlpack_code(element::int8) == 0);
  CHECK(detail::dlpack_code(element::uint64) == 1);
  CHECK(detail::dlpack_code(element::float16) == 2);
  CHECK(detail::dlpack_code(element::bfloat16) == 4);
  CHECK(detail::dlpack_code(element::boolean) == 6);
}

TEST_CASE("shared values are given away to be read only", "[dlpack]") {
  theirs<> t;
  DLManagedTensorVersioned* given = nullptr;
  {
    const auto taken = from_dlpack<float, dyn, dyn>(&t.m);
    given = to_dlpack(taken);
  }
  CHECK(given->flags == dlpack::read_only);
  CHECK(given->dl_tensor.data == t.values.data());
  CHECK(t.given_back == 0);
  given->deleter(given);
  CHECK(t.given_back == 1);

  given = to_dlpack(shared_tensor<float>(tensor<float>(2.0f)));
  CHECK(given->dl_tensor.ndim == 0);
  CHECK(*static_cast<float*>(given->dl_tensor.data) == 2.0f);
  given->deleter(given);
}

TEST_CASE("what is not asked for is refused", "[dlpack]") {
  const auto same = [](theirs<>&) {};
  CHECK(said<double, dyn, dyn>(same) ==
        "[onto.dlpack] the elements are float where double was asked for; ask for float, or convert the tensor");
  CHECK(said<float, dyn>(same) ==
        "[onto.dlpack] the tensor has shape [2, 3] where shape [?] was asked for; ask for its shape, or dyn where an "
        "extent varies");
  CHECK(
      said<float, 2, 2>(same) ==
      "[onto.dlpack] the tensor has shape [2, 3] where shape [2, 2] was asked for; ask for its shape, or dyn where an "
      "extent varies");
}

TEST_CASE("memory of GPUs is refused by name", "[dlpack]") {
  CHECK(refused([](auto& t) {
          t.m.dl_tensor.device = {2, 1};
        }) ==
        "[onto.dlpack] the values are in the memory of CUDA GPU 1, and feeds are read from the host's; copy them there "
        "first: x.cpu() in PyTorch");
  using Catch::Contains;
  CHECK_THAT(refused([](auto& t) { t.m.dl_tensor.device = {13, 0}; }), Contains("CUDA GPU (managed memory) 0"));
  CHECK_THAT(refused([](auto& t) { t.m.dl_tensor.device = {99, 0}; }), Contains("a device of DLPack's type 99"));
  theirs<> pinned;  // memory of the host that CUDA knows
  pinned.m.dl_tensor.device = {dlpack::cuda_host, 0};
  CHECK(from_dlpack<float, dyn, dyn>(&pinned.m) == rows);
}

TEST_CASE("structures that cannot be are refused", "[dlpack]") {
  using Catch::Contains;
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max(), least = -most - 1;
  CHECK_THROWS_WITH((from_dlpack<float, dyn>(static_cast<DLManagedTensor*>(nullptr))), Contains("is null"));
  CHECK(refused([](auto& t) {
          t.m.version = {2, 7};
        }) == "[onto.dlpack] the tensor is of DLPack 2.7, and versions 1.x are read; ask for one of these");
  CHECK_THAT(refused([](auto& t) { t.m.dl_tensor.dtype = {5, 64, 1}; }), Contains("type 5 with 64 bits and 1 lanes"));
  CHECK_THAT(refused([](auto& t) { t.m.dl_tensor.dtype.lanes = 4; }), Contains("4 lanes"));
  CHECK_THAT(refused([](auto& t) { t.m.dl_tensor.dtype.bits = 24; }), Contains("24 bits"));
  CHECK_THAT(refused([](auto& t) { t.m.dl_tensor.ndim = -1; }), Contains("-1 dimensions"));
  CHECK_THAT(refused([](auto& t) { t.m.dl_tensor.ndim = 9; }), Contains("9 dimensions; 0 to 8"));
  CHECK_THAT(refused([](auto& t) { t.m.dl_tensor.shape = nullptr; }), Contains("no shape"));
  CHECK_THAT(refused([](auto& t) { t.shape[1] = -3; }), Contains("extent 1 of the shape is -3"));
  CHECK_THAT(refused([](auto& t) { t.shape[0] = std::int64_t{1} << 32; }),
             Contains("extent 0 of the shape is 4294967296"));
  CHECK_THAT(refused([](auto& t) { t.m.dl_tensor.data = nullptr; }), Contains("its pointer is null"));
  CHECK_THAT(refused([](auto& t) { t.m.dl_tensor.byte_offset = 2; }), Contains("multiple of 4 bytes"));
  CHECK_THAT(refused([=](auto& t) { t.strides = {most, 1}; }), Contains("reaches beyond every address"));
  CHECK_THAT(refused([=](auto& t) { t.strides = {least, 1}; }), Contains("reaches beyond every address"));
  CHECK_THAT(refused([=](auto& t) { t.strides = {most / 8, most / 8}; }), Contains("reaches beyond every address"));
  // Forwards too far and backwards again.
  CHECK_THAT((said<float, dyn, dyn, dyn>([=](auto& t) {
               t.shape = {2, 2, 2};
               t.strides = {most / 8 + 8, -(most / 8 + 8), most / 8 + 8};
               t.m.dl_tensor.ndim = 3;
               t.m.dl_tensor.shape = t.shape.data();
               t.m.dl_tensor.strides = t.strides.data();
             })),
             Contains("reaches beyond every address"));
  CHECK_THAT(refused([](auto& t) {
               t.shape = {2147483647, 2147483647};
               t.m.dl_tensor.strides = nullptr;
             }),
             Contains("reaches beyond every address"));
  CHECK_THAT(refused([](auto& t) {
               t.shape = {2147483647, 2147483647, 2147483647};
               t.strides = {0, 0, 0};
               t.m.dl_tensor.ndim = 3;
               t.m.dl_tensor.shape = t.shape.data();
               t.m.dl_tensor.strides = t.strides.data();
             }),
             Contains("[2147483647, 2147483647, 2147483647] where shape [?, ?]"));
}
