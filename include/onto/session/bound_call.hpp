// SPDX-License-Identifier: BSL-1.0
// A step of a program and its calls of kernels, of which all is known but addresses.
#pragma once

#include <onto/graph/schedule.hpp>
#include <onto/runtime/compiled_program.hpp>
#include <onto/runtime/work.hpp>

#include <cstdint>

namespace onto::detail {

class device_event;

/// Where an operand's memory comes from at each run: a value of the plan, or a leaf.
struct operand_source {
  int value = -1;           // of the plan
  int leaf = -1;            // a feed, a constant or a variable
  std::int64_t offset = 0;  // in bytes, of a view
};

/// One launch.
struct bound_call {
  kernel_call call;
  operand_view* views = nullptr;  // call.inputs of them
  operand_source* sources = nullptr;
  int* scalars = nullptr;  // the scalar nodes, by slot; of a product alpha and beta, or -1
  int scalar_count = 0;
  int first_value = 0;            // of a batch: its result is so many values after the step's
  std::uint64_t* bits = nullptr;  // of each, for this run
  bool scalars_stand = false;     // of a product: set, and the same in every run
  double alpha_sign = 1;          // of a product
  double beta_sign = 0;           // 0: no addend
  std::int64_t out_offset = 0;    // bytes
  operand_view* more = nullptr;   // call.more_outputs of them
  bool works_in_block = false;    // its workspace is part of the program's block
  bool own_op = false;            // its operation is none of the graph's, but made where it was bound
};

struct bound_step {
  plan_step step;
  const kernel_entry* kernel = nullptr;
  int device = -1;       // index among the session's devices
  int from_device = -1;  // of a transfer
  int from_node = -1;    // and of what it copies all or, from an offset on, some rows
  std::int64_t from_offset = 0;
  bound_call* calls = nullptr;
  int call_count = 0;
  bool one_launch = false;  // the calls are a batch that the kernel goes over at once
  int stream = 0;           // see graph/stream_assignment.hpp
  int* waits = nullptr;     // steps of other streams that must be done
  int wait_count = 0;
  bool elsewhere = false;         // another process does it
  bool is_message = false;        // to another process or from one
  bool is_of_host = false;        // a kernel that nothing else waits for, nor it for anything
  bool is_direct = false;         // between devices, whose streams know when it is done
  device_event* event = nullptr;  // where another stream or the host waits for this step; owned
  work_label label;
};

}  // namespace onto::detail
