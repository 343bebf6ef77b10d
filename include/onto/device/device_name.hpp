// SPDX-License-Identifier: BSL-1.0
// A device by name, at run time: `/job:worker/task:1/device:GPU:0`, whole or in part. Text in, text out, and how nested
// scopes combine. The compile-time passes use `onto::place` instead.
#pragma once

#include <onto/core/config.hpp>
#include <onto/core/error.hpp>
#include <onto/device/device_name_grammar.hpp>
#include <onto/device/place.hpp>

#include <iosfwd>
#include <string>
#include <string_view>

ONTO_BEGIN_RUNS_ONCE
namespace onto {

/// Which device, as far as one wants to say: a job, a replica and a task in it, a kind of device, an index.
/// Each part may be left open. With every part given it names one device; with some it is a request that several
/// devices may satisfy; with none it constrains nothing. An index is never there without a kind, and CPU and GPU are
/// always in capitals, so equal names print alike and `parse(d.to_string()) == d` for every `d`.
class device_name {
 public:
  /// The name that constrains nothing.
  device_name() = default;

  /// The kind and index of a place, and its task: `{gpu, 1}` is `/device:GPU:1`, a negative index leaves the index
  /// open.
  device_name(place p) {
    if (p.in_task) {
      parts_.job = p.task->job;
      parts_.task = p.task->task;
    }
    if (p.kind == device_kind::none) return;
    parts_.kind = p.kind == device_kind::gpu ? "GPU" : "CPU";
    parts_.index = p.index < 0 ? any : p.index;
  }

  /// `gpu<1>{}` is `/device:GPU:1`.
  template <place_type D>
  device_name(D) : device_name(D::value) {}

  /// Reads a name: `/job:w/task:1/device:GPU:0`, parts in any order, each at most once, `*` for a part left open.
  /// `/gpu:0` and `gpu:0` are short for `/device:GPU:0`; `""` and `/` constrain nothing.
  /// *Throws* `invalid_argument_error` with the column (in bytes, from 1), the offending text and what to write
  /// instead.
  static device_name parse(std::string_view name);

  /// The full name of a device, of this process where the place names no task:
  /// `/job:localhost/replica:0/task:0/device:GPU:0` for `{gpu, 0}`.
  static device_name local(place p) {
    device_name full = p;
    full.parts_.replica = 0;
    if (p.in_task) return full;
    full.parts_.job = "localhost";
    full.parts_.task = 0;
    return full;
  }

  /// The job; empty where it is open.
  const std::string& job() const noexcept { return parts_.job; }
  /// The replica; -1 where it is open.
  int replica() const noexcept { return parts_.replica; }
  /// The task; -1 where it is open.
  int task() const noexcept { return parts_.task; }
  /// The kind of device (`CPU`, `GPU`, `XLA_GPU`); empty where it is open.
  const std::string& kind() const noexcept { return parts_.kind; }
  /// The index among the devices of this kind; -1 where it is open.
  int index() const noexcept { return parts_.index; }

  /// Whether every part is open.
  bool constrains_nothing() const noexcept { return *this == device_name(); }

  /// The canonical text: `/job:w/replica:0/task:1/device:GPU:0` without the parts left open, `/device:GPU:*` where just
  /// the index is, and `""` for the name that constrains nothing.
  std::string to_string() const;

  /// This scope with `inner` inside it. The inner name wins part by part; naming another kind drops the index from
  /// outside, naming another job drops the replica and task from outside. Scopes combine from the outermost in:
  /// `a.merge(b).merge(c)`, which is not always `a.merge(b.merge(c))`.
  device_name merge(const device_name& inner) const {
    device_name both = *this;
    if (!inner.parts_.job.empty()) {
      if (!parts_.job.empty() && parts_.job != inner.parts_.job) both.parts_.replica = both.parts_.task = any;
      both.parts_.job = inner.parts_.job;
    }
    if (inner.parts_.replica != any) both.parts_.replica = inner.parts_.replica;
    if (inner.parts_.task != any) both.parts_.task = inner.parts_.task;
    if (!inner.parts_.kind.empty()) {
      if (parts_.kind != inner.parts_.kind) both.parts_.index = any;
      both.parts_.kind = inner.parts_.kind;
    }
    if (inner.parts_.index != any) both.parts_.index = inner.parts_.index;
    return both;
  }

  /// Whether `device` satisfies this request: every part given here is given there and equal.
  bool matches(const device_name& device) const noexcept {
    return (parts_.job.empty() || parts_.job == device.parts_.job) &&
           (parts_.replica == any || parts_.replica == device.parts_.replica) &&
           (parts_.task == any || parts_.task == device.parts_.task) &&
           (parts_.kind.empty() || parts_.kind == device.parts_.kind) &&
           (parts_.index == any || parts_.index == device.parts_.index);
  }

  /// Whether the kind is open, CPU or GPU: whether `to_place()` returns.
  bool has_place() const noexcept { return parts_.kind.empty() || parts_.kind == "CPU" || parts_.kind == "GPU"; }

  /// The kind and index as a place, without job, replica and task. An open kind is `device_kind::none`, an open index
  /// -1.
  /// *Throws* `invalid_argument_error` for a kind other than CPU and GPU.
  place to_place() const;

  friend bool operator==(const device_name&, const device_name&) = default;

 private:
  static constexpr int any = detail::device_grammar::parts::any;

  detail::device_grammar::parts parts_;
};

ONTO_COLD inline device_name device_name::parse(std::string_view name) {
  device_name parsed;
  parsed.parts_ = detail::device_grammar::reader(name).read();
  return parsed;
}

ONTO_COLD inline std::string device_name::to_string() const {
  using detail::device_grammar::joined, detail::device_grammar::numbered;
  const auto& [job, replica, task, kind, index] = parts_;
  std::string device;
  if (!kind.empty()) device = joined({"/device:", kind, index == any ? ":*" : numbered(":", index)});
  return joined({job.empty() ? "" : "/job:", job, numbered("/replica:", replica), numbered("/task:", task), device});
}

ONTO_COLD inline place device_name::to_place() const {
  if (!has_place()) {
    throw invalid_argument_error(detail::device_grammar::joined(
        {"[onto.device] device '", to_string(), "' is neither a CPU nor a GPU; onto computes on these kinds only"}));
  }
  if (parts_.kind.empty()) return {};
  return {parts_.kind == "GPU" ? device_kind::gpu : device_kind::cpu, parts_.index};
}

/// Prints the canonical name: `/job:worker/task:1/device:GPU:0`.
template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, const device_name& name) {
  return out << name.to_string();
}
/// Prints a place as a device name: `/device:GPU:0`.
template <class Traits, place_type Place>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, Place) {
  return out << device_name(Place::value).to_string();
}

}  // namespace onto

ONTO_END_RUNS_ONCE
