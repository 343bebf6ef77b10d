// SPDX-License-Identifier: BSL-1.0
// cuDNN's statuses as exceptions, and the descriptors of its graph interface as objects: made, told their attributes,
// finalized, and destroyed when they go. In programs that define ONTO_HAS_CUDNN and link cuDNN.
#pragma once

#include <onto/core/config.hpp>
#include <onto/core/error.hpp>

#if defined(ONTO_HAS_CUDNN)
#if !__has_include(<cudnn_graph.h>)
#error "[onto.cuda] ONTO_HAS_CUDNN is defined, and cudnn_graph.h of cuDNN 9 is not found; add its folder with -I"
#endif
#include <onto/backend/cuda/check.hpp>

#include <cudnn_graph.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace onto::detail {

/// What cuDNN says of the call that failed last on this thread, in one line.
ONTO_COLD inline std::string cudnn_last_words() {
  char said[1024] = {};
  cudnnGetLastErrorString(said, sizeof said);
  std::string line;
  for (const char* c = said; *c != 0; ++c)
    if (*c != '\n')
      line += *c;
    else if (!line.empty() && c[1] != 0)
      line += "; ";
  return line;
}

[[noreturn]] ONTO_COLD inline void throw_cudnn(cudnnStatus_t status, const char* what) {
  std::string sentence = std::string("[onto.cuda] cuDNN: ") + what + " failed: " + cudnnGetErrorString(status);
  const std::string words = cudnn_last_words();
  if (!words.empty()) sentence += ": " + words;
  // cuDNN has no status for a device that is lost; the runtime has.
  const cudaError_t reason = cudaGetLastError();
  if (is_lost(reason)) throw_cuda(reason, what);
  if (status == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED ||
      status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED)
    throw resource_exhausted_error(sentence +
                                   "; the device has no memory left: use smaller tensors, or limit this "
                                   "session's part of it with session_options::gpu");
  if (status == CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED || status == CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH)
    sentence += "; all libraries of cuDNN must be of one version, in one folder";
  throw internal_error(sentence);
}

/// *Effects* none where `status` is success. `what` is the call, as the message names it.
/// *Throws* `resource_exhausted_error` where memory ran out, `cuda_lost_error` where the device is gone, else
/// `internal_error`.
inline void cudnn_check(cudnnStatus_t status, const char* what) {
  if (status != CUDNN_STATUS_SUCCESS) throw_cudnn(status, what);
}

/// For destructors: what fails while something is taken down has nobody left to tell, but must not be found later.
inline void cudnn_ignore(cudnnStatus_t status) noexcept {
  if (status != CUDNN_STATUS_SUCCESS) (void)cudaGetLastError();
}

/// Whether a status says that cuDNN does not do this, and nothing worse.
inline bool is_not_supported(cudnnStatus_t status) {
  return status >= CUDNN_STATUS_NOT_SUPPORTED && status < CUDNN_STATUS_INTERNAL_ERROR;
}

class cudnn_descriptor;

// What cuDNN calls the type of an attribute's values.
template <class Value>
inline constexpr cudnnBackendAttributeType_t cudnn_attribute_type = CUDNN_TYPE_INT64;
template <>
inline constexpr cudnnBackendAttributeType_t cudnn_attribute_type<bool> = CUDNN_TYPE_BOOLEAN;
template <>
inline constexpr cudnnBackendAttributeType_t cudnn_attribute_type<char> = CUDNN_TYPE_CHAR;
template <>
inline constexpr cudnnBackendAttributeType_t cudnn_attribute_type<float> = CUDNN_TYPE_FLOAT;
template <>
inline constexpr cudnnBackendAttributeType_t cudnn_attribute_type<double> = CUDNN_TYPE_DOUBLE;
template <>
inline constexpr cudnnBackendAttributeType_t cudnn_attribute_type<void*> = CUDNN_TYPE_VOID_PTR;
template <>
inline constexpr cudnnBackendAttributeType_t cudnn_attribute_type<cudnnHandle_t> = CUDNN_TYPE_HANDLE;
template <>
inline constexpr cudnnBackendAttributeType_t cudnn_attribute_type<cudnnDataType_t> = CUDNN_TYPE_DATA_TYPE;
template <>
inline constexpr cudnnBackendAttributeType_t cudnn_attribute_type<cudnnConvolutionMode_t> = CUDNN_TYPE_CONVOLUTION_MODE;
template <>
inline constexpr cudnnBackendAttributeType_t cudnn_attribute_type<cudnnBackendHeurMode_t> = CUDNN_TYPE_HEUR_MODE;
template <>
inline constexpr cudnnBackendAttributeType_t cudnn_attribute_type<cudnnPointwiseMode_t> = CUDNN_TYPE_POINTWISE_MODE;
template <>
inline constexpr cudnnBackendAttributeType_t cudnn_attribute_type<cudnnBackendNumericalNote_t> =
    CUDNN_TYPE_NUMERICAL_NOTE;
template <>
inline constexpr cudnnBackendAttributeType_t cudnn_attribute_type<cudnnBackendBehaviorNote_t> =
    CUDNN_TYPE_BEHAVIOR_NOTE;

/// A descriptor of cuDNN's: of a tensor, an operation, a graph, an engine, a plan.
class cudnn_descriptor {
 public:
  explicit cudnn_descriptor(cudnnBackendDescriptorType_t type) {
    cudnn_check(cudnnBackendCreateDescriptor(type, &it_), "cudnnBackendCreateDescriptor");
  }
  cudnn_descriptor(cudnn_descriptor&& other) noexcept : it_(std::exchange(other.it_, nullptr)) {}
  cudnn_descriptor& operator=(cudnn_descriptor&& other) noexcept {
    std::swap(it_, other.it_);
    return *this;
  }
  ~cudnn_descriptor() {
    if (it_) cudnn_ignore(cudnnBackendDestroyDescriptor(it_));
  }

  cudnnBackendDescriptor_t get() const { return it_; }

  template <class Value>
  void set(cudnnBackendAttributeName_t name, const Value* values, std::int64_t count) {
    cudnn_check(cudnnBackendSetAttribute(it_, name, cudnn_attribute_type<Value>, count, values),
                "cudnnBackendSetAttribute");
  }
  template <class Value>
  void set(cudnnBackendAttributeName_t name, const Value& value) {
    set(name, &value, 1);
  }
  void set(cudnnBackendAttributeName_t name, const cudnn_descriptor& other) { set_descriptors(name, &other.it_, 1); }
  void set_descriptors(cudnnBackendAttributeName_t name, const cudnnBackendDescriptor_t* all, std::int64_t count) {
    cudnn_check(cudnnBackendSetAttribute(it_, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, count, all),
                "cudnnBackendSetAttribute");
  }

  void finalize(const char* what) { cudnn_check(cudnnBackendFinalize(it_), what); }
  /// *Returns* false where cuDNN does not support what is described.
  bool is_supported(const char* what) {
    const cudnnStatus_t status = cudnnBackendFinalize(it_);
    if (is_not_supported(status)) return false;
    cudnn_check(status, what);
    return true;
  }

  std::int64_t number(cudnnBackendAttributeName_t name) const {
    std::int64_t value = 0, count = 0;
    cudnn_check(cudnnBackendGetAttribute(it_, name, CUDNN_TYPE_INT64, 1, &count, &value), "cudnnBackendGetAttribute");
    return value;
  }
  /// Whether one of the notes of an attribute is among those that the bits of `those` stand for.
  template <class Note>
  bool has_note(cudnnBackendAttributeName_t name, std::uint32_t those) const {
    Note notes[32] = {};
    std::int64_t count = 0;
    cudnn_check(cudnnBackendGetAttribute(it_, name, cudnn_attribute_type<Note>, 32, &count, notes),
                "cudnnBackendGetAttribute");
    for (std::int64_t k = 0; k < count && k < 32; ++k)
      if ((those >> static_cast<int>(notes[k]) & 1) != 0) return true;
    return false;
  }
  /// Writes a descriptor that is an attribute into `to`, which was made for it.
  void get_descriptor(cudnnBackendAttributeName_t name, cudnn_descriptor& to) const {
    std::int64_t count = 0;
    cudnn_check(cudnnBackendGetAttribute(it_, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &to.it_),
                "cudnnBackendGetAttribute");
  }
  /// All descriptors of a list, of this type.
  std::vector<cudnn_descriptor> list(cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t type) const {
    std::int64_t count = 0;
    cudnn_check(cudnnBackendGetAttribute(it_, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr),
                "cudnnBackendGetAttribute");
    std::vector<cudnn_descriptor> all;
    std::vector<cudnnBackendDescriptor_t> raw;
    for (std::int64_t k = 0; k < count; ++k) {
      all.emplace_back(type);
      raw.push_back(all.back().it_);
    }
    if (count > 0)
      cudnn_check(cudnnBackendGetAttribute(it_, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, count, &count, raw.data()),
                  "cudnnBackendGetAttribute");
    while (static_cast<std::int64_t>(all.size()) > count) all.pop_back();
    return all;
  }

 private:
  cudnnBackendDescriptor_t it_ = nullptr;
};

}  // namespace onto::detail

#endif
