// SPDX-License-Identifier: BSL-1.0
// A device of another process: its kernels do nothing here and it holds no memory. Copies to and from the CPU of that
// process are messages.
#pragma once

#include <onto/backend/cluster/collective_stream.hpp>
#include <onto/backend/cluster/traces.hpp>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

/// Messages in one direction, in order.
class message_stream final : public shared_stream {
 public:
  message_stream(ref<cluster_group> group, int other, bool is_out)
      : group_(static_cast<ref<cluster_group>&&>(group)), other_(other), is_out_(is_out) {}
  ~message_stream() override { cancel(); }

  cluster_group& group() { return *group_; }
  std::uint64_t started() const override { return started_; }

  void send(const work& w, const void* data, std::int64_t bytes) {
    group_->expect_whole();
    add(w, bytes, group_->ways().send(other_, next_tag(), data, bytes));
  }
  void receive(const work& w, void* data, std::int64_t bytes) {
    group_->expect_whole();
    add(w, bytes, group_->ways().receive(other_, next_tag(), data, bytes));
  }

  void wait(std::uint64_t count) override {
    try {
      group_->wait_for(other_, [&] { return advance() >= count; });
    } catch (...) {
      cancel();
      throw;
    }
  }

 private:
  struct entry {
    run_state* run;
    const work_label* label;
    std::int64_t bytes;
    std::int64_t begin;  // in the run's trace
    ref<pending_message> message;
  };

  /// Both ends count: a message that is not the one meant is never taken for it.
  int next_tag() const { return first_tag + static_cast<int>(started_ % tags); }

  void add(const work& w, std::int64_t bytes, ref<pending_message> m) {
    open_.push_back(
        {&w.run, &w.label, bytes, w.run.trace ? w.run.trace->now() : 0, static_cast<ref<pending_message>&&>(m)});
    ++started_;
  }
  void trace(const entry& e) const {
    if (!e.run->trace) return;
    const place other{device_kind::cpu, 0, true, &group_->tasks().name(other_)};
    e.run->trace->add({is_out_ ? trace_span::send : trace_span::receive, group_->here(), stream_kind::compute, e.label,
                       e.begin, e.run->trace->now(), other, static_cast<std::int64_t>(started_ - open_.size())});
  }

  /// *Returns* how many are done.
  std::uint64_t advance() {
    while (!open_.empty()) {
      const entry& e = open_.front();
      std::int64_t came = e.bytes;
      if (!e.message->is_done(came)) break;
      if (!is_out_ && came != e.bytes) e.run->fail(std::make_exception_ptr(other_process_failed()));
      trace(e);
      open_.pop_front();
    }
    return started_ - open_.size();
  }

  void cancel() noexcept {
    for (const entry& e : open_)
      if (!is_out_) e.message->cancel();
    open_.clear();
  }

  static constexpr int first_tag = 2;
  static constexpr std::uint64_t tags = 1 << 20;  // within what every MPI allows

  ref<cluster_group> group_;
  int other_;
  bool is_out_;
  std::deque<entry> open_;
  std::uint64_t started_ = 0;
};

/// What of a stream has begun so far.
class message_event final : public device_event {
 public:
  void set(shared_stream& s) {
    count_ = s.started();
    s.retain();
    stream_ = ref<shared_stream>(&s);
  }
  void wait() override {
    if (stream_) stream_->wait(count_);
  }

 private:
  ref<shared_stream> stream_;
  std::uint64_t count_ = 0;
};

/// The streams to and from a process, which all its devices share.
struct message_streams : counted {
  ref<message_stream> in;              // messages to it
  ref<message_stream> out;             // and from it
  ref<collective_stream> collectives;  // of the session
};

class cluster_device final : public device {
 public:
  cluster_device(place where, int slot, std::string description, ref<message_streams> streams)
      : device(where, slot),
        description_(static_cast<std::string&&>(description)),
        streams_(static_cast<ref<message_streams>&&>(streams)) {}

  std::string description() const override { return description_; }
  const void* peer_group() const override { return this; }

  void copy_in(const work& w, void*, const host_slot& slot, std::int64_t bytes) override {
    if (w.run.failed()) return streams_->in->send(w, nullptr, 0);
    send(w, slot.data, bytes);
  }
  void copy_out(const work& w, const host_slot& slot, const void*, std::int64_t bytes) override {
    before_message(w);
    streams_->out->receive(w, slot.data, bytes);
    count_transfer(bytes);
  }
  void copy_to(const work&, device&, void*, const void*, std::int64_t) override {}
  void launch(const work&, const kernel_entry&, const kernel_call&) override {}

  ref<device_event> make_event() override { return ref<device_event>(new message_event); }
  void record(run_state&, stream_kind stream, device_event& event) override {
    auto& e = static_cast<message_event&>(event);
    if (stream == stream_kind::compute)
      e.set(*streams_->collectives);
    else
      e.set(stream == stream_kind::out ? *streams_->out : *streams_->in);
  }
  /// The host waits: what is issued here is issued by it.
  void wait(run_state&, stream_kind, device_event& event) override {
    streams_->collectives->settle();
    event.wait();
  }

 protected:
  void* take(std::int64_t) override { return this; }
  void give(void*, std::int64_t) noexcept override {}

 private:
  void send(const work& w, const void* data, std::int64_t bytes) {
    before_message(w);
    if (w.run.failed()) return streams_->in->send(w, nullptr, 0);
    streams_->in->send(w, data, bytes);
    count_transfer(bytes);
  }
  /// For tests that let messages fail.
  void before_message(const work& w) {
    try {
      before("message");
    } catch (...) {
      w.run.fail(named_failure(w.label, where()));
    }
  }

  std::string description_;
  ref<message_streams> streams_;
};

/// The devices of a process as one text that the others read.
ONTO_COLD inline void write_devices(message& m, const device_list& devices) {
  for (int d = 0; d < devices.count(); ++d)
    m << static_cast<int>(devices[d].where().kind) << " " << devices[d].where().index << " " << devices[d].slot() << " "
      << static_cast<int>(devices[d].links.hardware >> 44) << " "
      << static_cast<int>(devices[d].links.hardware >> 24 & 0xfffff) << " " << (devices[d].links.adds ? 1 : 0) << " "
      << (devices[d].links.in_messages ? 1 : 0) << " " << devices[d].description() << "\n";
}

/// Reads digits and the space behind them. *Returns* whether they are there, and below 2^20.
ONTO_COLD inline bool read_number(std::string_view& text, int& n) {
  std::size_t digits = 0;
  for (n = 0; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
    n = 10 * n + (text[digits] - '0');
    if (n >= 1 << 20) return false;
  }
  if (digits == 0 || digits == text.size() || text[digits] != ' ') return false;
  text.remove_prefix(digits + 1);
  return true;
}

/// Reads them. *Returns* false for what `write_devices` has not written.
ONTO_COLD inline bool read_devices(std::string_view text, const task_name& task, const ref<message_streams>& streams,
                                   device_list& out) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return false;
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    int kind = 0, index = 0, slot = 0, hardware[2] = {}, adds = 0, in_messages = 0;
    if (!read_number(line, kind) || !read_number(line, index) || !read_number(line, slot) ||
        !read_number(line, hardware[0]) || !read_number(line, hardware[1]) || !read_number(line, adds) ||
        !read_number(line, in_messages))
      return false;
    if (kind != static_cast<int>(device_kind::gpu) && kind != static_cast<int>(device_kind::cpu)) return false;
    out.add(new cluster_device({static_cast<device_kind>(kind), index, true, &task},
                               slot < kernel_entry::slot_count ? slot : kernel_entry::host, std::string(line),
                               streams));
    out[out.count() - 1].links = {hardware_number(hardware[0], hardware[1]), adds != 0, in_messages != 0};
  }
  return true;
}

ONTO_COLD inline device_list cluster_group::meet(device_list&& own, std::exception_ptr failure,
                                                 std::string_view options) {
  message m;
  m << "onto " << ONTO_VERSION_MAJOR << "." << ONTO_VERSION_MINOR << "." << ONTO_VERSION_PATCH << ", " << options
    << "\n";
  for (int d = 0; d < own.count(); ++d) {
    own[d].join(tasks_->name(rank()));
    if (ways_->size() == 1 || updates_last) continue;  // several groups of a GPU would wait for each other in it
    // The libraries add up in an order that is not known. A GPU that has one needs no MPI, which might block behind it.
    own[d].links = {shared_hardware_of(own[d]), !deterministic, false};
    own[d].links.in_messages = own[d].links.hardware == 0 && own[d].has_cuda_memory() && ways_->takes_cuda_memory();
  }
  write_devices(m, own);
  m << std::string_view("\0", 1);
  const std::string heard = agree({hash_text("session"), "session", 0}, failure, m.text());
  device_list all;
  ref<collective_stream> collectives;
  if (ways_->size() > 1) {
    retain();
    collectives = ref<collective_stream>(new collective_stream(ref<cluster_group>(this)));
  }
  std::string_view first, rest = heard;
  for (int r = 0; r < ways_->size(); ++r) {
    const std::size_t end = rest.find('\0');
    std::string_view text = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    const std::size_t line = text.find('\n');
    const std::string_view head = text.substr(0, line);
    text.remove_prefix(line == std::string_view::npos ? text.size() : line + 1);
    if (r == 0) first = head;
    if (head != first) {
      message words("[onto.cluster] ");
      tasks_->write(words, 0) << " has a session with " << first << ", and ";
      tasks_->write(words, r) << " one with " << head;
      fail<failed_precondition_error>(words << "; give every process the same version and options");
    }
    if (r == rank()) {
      for (int d = 0; d < own.count(); ++d) all.add(own.release(d));
      continue;
    }
    const ref<message_streams> streams(new message_streams);
    retain();
    streams->in = ref<message_stream>(new message_stream(ref<cluster_group>(this), r, true));
    retain();
    streams->out = ref<message_stream>(new message_stream(ref<cluster_group>(this), r, false));
    streams->collectives = collectives;
    if (!read_devices(text, tasks_->name(r), streams, all)) break_off(garbled(r));
  }
  return all;
}

ONTO_COLD inline void cluster_group::begin(const work& w, device& at, const collective_part& part) {
  collectives_->begin(w, at, part);
}
ONTO_COLD inline void cluster_group::settle() {
  if (collectives_) collectives_->settle();
}
ONTO_COLD inline void cluster_group::progress() {
  if (collectives_) collectives_->advance();
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
