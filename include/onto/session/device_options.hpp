// SPDX-License-Identifier: BSL-1.0
// The options about devices, without devices: which are wrong in themselves, and which GPUs of a machine they leave,
// with how much memory.
#pragma once

#include <onto/device/device_name_grammar.hpp>
#include <onto/runtime/memory.hpp>
#include <onto/runtime/process_group.hpp>
#include <onto/session/options.hpp>

#include <cstdio>
#include <string_view>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// What a simulated GPU counts as having, for limits and fractions of it.
inline constexpr std::int64_t simulated_gpu_memory = std::int64_t{16} << 30;

/// Refuses an option, with a sentence that begins with its name.
[[noreturn]] ONTO_COLD ONTO_NOINLINE inline void fail_option(const message& m) {
  fail<invalid_argument_error>(message("[onto.option] ") << m.text());
}

ONTO_COLD ONTO_NOINLINE inline void expect_between(const char* name, int value, int least, int most) {
  if (value < least || value > most)
    fail_option(message(name) << " is " << value << "; it is " << least << " to " << most);
}

/// *Throws* `invalid_argument_error` for options that are wrong whatever devices there are.
ONTO_COLD ONTO_NOINLINE inline void check_options(const session_options& o) {
  expect_between("simulated_gpus", o.simulated_gpus, 0, 1024);
  if (o.cpu_threads < 0 || o.cpu_threads > 4096)
    fail_option(message("cpu_threads is ") << o.cpu_threads << "; it is 1 to 4096, or 0 for one a core");
  expect_between("cpus", o.cpus, 1, 1024);
  expect_timeout(o.timeout);

  const cost_model& c = o.simulation;
  for (const double* cost : {&c.flops, &c.memory_bandwidth, &c.link_bandwidth, &c.host_bandwidth, &c.host_flops,
                             &c.host_memory_bandwidth, &c.kernel_latency, &c.copy_latency})
    if (!(*cost >= 0 && *cost <= 1e300))
      fail_option(message("simulation has a rate or a latency that is negative or no number; 0 is what costs nothing"));
  if (c.is_set() && o.simulated_gpus == 0)
    fail_option(message("simulation has no effect without simulated_gpus; it says what these cost"));

  const gpu_options& g = o.gpu;
  const double fraction = g.per_process_gpu_memory_fraction;
  if (!(fraction >= 0 && fraction <= 1)) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%g", fraction);
    fail_option(message("gpu.per_process_gpu_memory_fraction is ")
                << digits << "; it is above 0 and at most 1, a part of a GPU's total memory");
  }
  if (g.memory_limit < 0)
    fail_option(message("gpu.memory_limit is ") << g.memory_limit << "; it is a number of bytes, or 0 for no limit");
  if (g.memory_limit > 0 && fraction > 0)
    fail_option(message("gpu.memory_limit and gpu.per_process_gpu_memory_fraction are two limits; set one of them"));
}

/// `; there are 4 GPUs, 0 to 3`.
ONTO_COLD ONTO_NOINLINE inline message& write_gpus(message& m, int count) {
  if (count == 0)
    m << "; there is no GPU";
  else if (count == 1)
    m << "; there is one GPU, 0";
  else
    m << "; there are " << count << " GPUs, 0 to " << count - 1;
  return m;
}

/// Reads a list of GPUs, `5,3`, where there are `count`; an empty one is all of them in order.
/// *Preconditions* `visible` has room for `count`.
/// *Returns* how many there are in the list.
/// *Throws* `invalid_argument_error` for a list that is not digits and commas, a GPU that is not there or is there
/// twice.
ONTO_COLD ONTO_NOINLINE inline int parse_visible_devices(std::string_view list, int count, int* visible) {
  if (list.empty()) {
    for (int k = 0; k < count; ++k) visible[k] = k;
    return count;
  }
  int found = 0;
  for (std::size_t at = 0; at <= list.size(); ++found) {
    std::size_t end = at;
    while (end < list.size() && list[end] != ',') ++end;
    const std::string_view entry = list.substr(at, end - at);
    at = end + 1;

    constexpr std::int64_t largest = 2147483647;
    std::int64_t index = 0;
    bool digits = true;
    for (char c : entry) {
      if (!device_grammar::is_ascii_digit(c)) digits = false;
      if (digits && index <= largest) index = 10 * index + (c - '0');
    }
    int before = 0;
    while (before < found && visible[before] != index) ++before;
    if (!entry.empty() && digits && index < count && before == found) {
      visible[found] = static_cast<int>(index);
      continue;
    }

    message m("gpu.visible_device_list ");
    m << device_grammar::quoted(list) << ": entry " << found + 1;
    if (!entry.empty()) m << ", " << device_grammar::quoted(entry) << ",";
    if (entry.empty())
      m << " is empty; write one comma between two GPUs, as in '1,0'";
    else if (!digits)
      m << " is not an index; write digits, and one comma between two GPUs, as in '1,0'";
    else if (index > largest)
      m << " is larger than any index; name GPUs that are there";
    else if (index >= count)
      m << " is not there; name GPUs that are";
    else
      m << " is entry " << before + 1 << " again; name each GPU once";
    fail_option(write_gpus(m, count));
  }
  return found;
}

/// A GPU of a session: a GPU of the machine or a part of it, and how much of its memory that is.
struct gpu_share {
  int physical = 0;
  memory_limit limit{};
};

/// Each logical device is on a GPU that is there, and has memory there.
ONTO_COLD ONTO_NOINLINE inline void check_logical_devices(const gpu_options& o, const std::int64_t* totals, int count) {
  const int parts = static_cast<int>(o.logical_devices.size());
  for (int k = 0; k < parts; ++k) {
    const logical_device& d = o.logical_devices[static_cast<std::size_t>(k)];
    message m("gpu.logical_devices: entry ");
    m << k + 1;
    if (d.gpu < 0 || d.gpu >= count)
      fail_option(write_gpus(m << " is a part of GPU " << d.gpu << ", which is not there; split GPUs that are", count));
    if (d.memory_limit <= 0)
      fail_option(m << " has a memory_limit of " << d.memory_limit
                    << "; every part has to have bytes of its own, 1 or more");
    std::int64_t left = totals[d.gpu];
    for (int e = 0; e < k; ++e)
      if (o.logical_devices[static_cast<std::size_t>(e)].gpu == d.gpu)
        left -= o.logical_devices[static_cast<std::size_t>(e)].memory_limit;
    if (d.memory_limit > left) {
      write_bytes(m << " takes ", d.memory_limit);
      write_bytes(m << " of GPU " << d.gpu << ", which has ", totals[d.gpu]);
      write_bytes(m << " in all and ", left);
      fail_option(m << " left by the entries before; give its parts less");
    }
  }
}

/// The GPUs of a session, in order, with their limits. `visible` are the numbers of `count` GPUs of the machine,
/// `totals` the bytes of each.
/// *Preconditions* `shares` has room for `count` and the logical devices.
/// *Returns* how many there are.
/// *Throws* `invalid_argument_error` for options that do not fit these GPUs, or have no effect on them.
ONTO_COLD ONTO_NOINLINE inline int share_gpus(const gpu_options& o, const int* visible, const std::int64_t* totals,
                                              int count, gpu_share* shares) {
  check_logical_devices(o, totals, count);
  int made = 0;
  int whole = 0;
  std::int64_t most = 0;  // memory of a GPU that stays whole
  for (int k = 0; k < count; ++k) {
    const int first = made;
    for (std::size_t part = 0; part < o.logical_devices.size(); ++part) {
      const logical_device& d = o.logical_devices[part];
      if (d.gpu == k) shares[made++] = {visible[k], {d.memory_limit, o.allow_growth}};
    }
    if (made > first) continue;
    ++whole;
    if (totals[k] > most) most = totals[k];
    std::int64_t bytes = o.memory_limit <= totals[k] ? o.memory_limit : 0;
    if (o.per_process_gpu_memory_fraction > 0) {
      bytes = static_cast<std::int64_t>(o.per_process_gpu_memory_fraction * static_cast<double>(totals[k]));
      if (bytes < 1) bytes = 1;
    }
    shares[made++] = {visible[k], {bytes, bytes == 0 || o.allow_growth}};
  }
  if (count == 0) return 0;
  const bool by_bytes = o.memory_limit > 0;
  if (whole == 0 && (by_bytes || o.per_process_gpu_memory_fraction > 0))
    fail_option(message(by_bytes ? "gpu.memory_limit" : "gpu.per_process_gpu_memory_fraction")
                << " has no effect: gpu.logical_devices splits every GPU, and each part has a limit of its own; leave "
                   "one of the two out");
  if (by_bytes && o.memory_limit > most) {
    message m("gpu.memory_limit, or ONTO_GPU_MEMORY_LIMIT, has no effect: it is ");
    write_bytes(m, o.memory_limit);
    write_bytes(m << ", and no GPU has more than ", most);
    fail_option(m << "; choose less, or no limit");
  }
  return made;
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
