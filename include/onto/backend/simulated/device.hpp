// SPDX-License-Identifier: BSL-1.0
// A simulated GPU: a heap and three streams of its own, made of host memory and threads. Programs for several GPUs run,
// and their placement, copies and overlap can be tested, on any machine; with a cost model, timed too.
#pragma once

#include <onto/backend/cpu/thread_pool.hpp>
#include <onto/backend/simulated/stream.hpp>
#include <onto/plan/cost_model.hpp>
#include <onto/runtime/block_cache.hpp>

#include <cstring>

ONTO_BEGIN_RUNS_ONCE
namespace onto::detail {

class simulated_device;

/// Commands that were issued once and can be issued again.
class simulated_graph final : public device_graph {
 public:
  ~simulated_graph() override {
    while (first_) {
      entry* next = first_->next;
      delete first_->command;
      delete[] first_->views;
      delete[] first_->batch;
      delete first_;
      first_ = next;
    }
  }
  inline void perform(run_state& run) override;  // said here: else the class is in every object file

 private:
  friend class simulated_device;
  struct entry {
    simulated_device* device;
    stream_kind stream;
    simulated_command* command;
    entry* next;
    // A kernel's arguments, as they are now.
    kernel_call call;
    operand_view* views;
    kernel_call* batch;  // the calls after the first
  };
  /// Copies a call and its operands. *Returns* the views after them.
  static operand_view* copy_call(const kernel_call& from, kernel_call& to, operand_view* views) {
    to = from;
    for (int k = 0; k < from.inputs; ++k) views[k] = from.in[k];
    for (int k = 0; k < from.more_outputs; ++k) views[from.inputs + k] = from.more_out[k];
    to.in = views;
    to.more_out = views + from.inputs;
    return views + from.inputs + from.more_outputs;
  }
  /// Takes the command over.
  void add(simulated_device& d, stream_kind stream, simulated_command* c) {
    entry* e = nullptr;
    try {
      e = new entry{&d, stream, c, nullptr, {}, nullptr, nullptr};
      if (c->call) {
        std::size_t calls = 0, views = 0;
        for (const kernel_call* k = c->call; k; k = k->next, ++calls)
          views += static_cast<std::size_t>(k->inputs + k->more_outputs);
        e->views = new operand_view[views + 1];
        e->batch = new kernel_call[calls];
        operand_view* free = copy_call(*c->call, e->call, e->views);
        kernel_call* last = &e->call;
        kernel_call* next = e->batch;
        for (const kernel_call* k = c->call->next; k; k = k->next) {
          free = copy_call(*k, *next, free);
          last->next = next;
          last = next++;
        }
        c->call = &e->call;
      }
    } catch (...) {
      if (e) delete[] e->views;
      delete e;
      delete c;
      throw;
    }
    (last_ ? last_->next : first_) = e;
    last_ = e;
  }
  entry* first_ = nullptr;
  entry* last_ = nullptr;
  ref<device_event> end_;
};

class simulated_device final : public device {
 public:
  /// `physical` is the number of the GPU whose part this is.
  simulated_device(int index, int physical, memory_limit limit, const cost_model& model)
      : device({device_kind::gpu, index}), physical_(physical), limit_(limit), model_(model), pool_(1) {
    for (int k = 0; k < stream_kinds; ++k)
      streams_[k].serve(where(), static_cast<stream_kind>(k), &simulated_device::work_on, this);
  }
  ~simulated_device() override {
    for (simulated_stream& s : streams_) s.stop();
  }

  std::string description() const override {
    return (message("device: ") << physical_ << ", name: simulated GPU (host memory, one thread)").text();
  }
  const void* peer_group() const override {
    static const char all = 0;
    return &all;
  }

  void trim() override { heap_.trim(); }
  void poison(void* memory, std::int64_t bytes) override { std::memset(memory, 0xff, static_cast<std::size_t>(bytes)); }

  void copy_in(const work& w, void* to, const host_slot& slot, std::int64_t bytes) override {
    simulated_command* c = make(simulated_command::copy, w.run, &w.label, model_.host_copy(bytes));
    c->to = to;
    c->from_host = &slot;
    c->bytes = bytes;
    issue(stream_kind::in, c);
  }
  void copy_out(const work& w, const host_slot& slot, const void* from, std::int64_t bytes) override {
    simulated_command* c = make(simulated_command::copy, w.run, &w.label, model_.host_copy(bytes));
    c->to_host = &slot;
    c->from = from;
    c->bytes = bytes;
    issue(stream_kind::out, c);
  }
  void copy_to(const work& w, device&, void* to, const void* from, std::int64_t bytes) override {
    simulated_command* c = make(simulated_command::copy, w.run, &w.label, model_.link(bytes));
    c->to = to;
    c->from = from;
    c->bytes = bytes;
    issue(stream_kind::out, c);
  }
  void launch(const work& w, const kernel_entry& kernel, const kernel_call& call) override {
    const double seconds = call.continues ? 0 : model_.kernel(w.label.flops, w.label.bytes);
    simulated_command* c = make(simulated_command::kernel, w.run, &w.label, seconds);
    c->entry = &kernel;
    c->call = &call;
    issue(stream_kind::compute, c);
  }

  ref<device_event> make_event() override { return ref<device_event>(new simulated_event); }
  void record(run_state& run, stream_kind stream, device_event& event) override {
    simulated_command* c = make(simulated_command::mark, run, nullptr, 0);
    event.retain();
    c->event = ref<device_event>(&event);
    issue(stream, c);
  }
  void wait(run_state& run, stream_kind stream, device_event& event) override {
    simulated_command* c = make(simulated_command::await, run, nullptr, 0);
    event.retain();
    c->event = ref<device_event>(&event);
    issue(stream, c);
  }

  ref<device_graph> record_graph(void (*issue_work)(void* context), void* context) override {
    ref<simulated_graph> g(new simulated_graph);
    struct recording_scope {
      explicit recording_scope(simulated_graph* g) { recording() = g; }
      ~recording_scope() { recording() = nullptr; }
    } scope(g.get());
    issue_work(context);
    join(*g);
    return ref<device_graph>(static_cast<ref<simulated_graph>&&>(g));
  }

 protected:
  void* take(std::int64_t bytes) override {
    {
      mutex_lock lock(mutex_);
      used_ = true;
      if (limit_.bytes > 0 && bytes > limit_.bytes - taken_) return nullptr;
      taken_ += bytes;
    }
    // What waits to be used again counts as taken from the limit too.
    if (limit_.bytes > 0 && heap_.reserved() + bytes > limit_.bytes) heap_.trim();
    void* memory = heap_.take(bytes);
    if (!memory) {
      mutex_lock lock(mutex_);
      taken_ -= bytes;
      return nullptr;
    }
    poison(memory, bytes);
    return memory;
  }
  void give(void* memory, std::int64_t bytes) noexcept override {
    poison(memory, bytes);
    heap_.give(memory);
    mutex_lock lock(mutex_);
    taken_ -= bytes;
  }
  std::int64_t reserved() const override {
    mutex_lock lock(mutex_);
    return used_ && !limit_.growth && limit_.bytes > 0 ? limit_.bytes : heap_.reserved();
  }
  std::int64_t limit() const override { return limit_.bytes; }

 private:
  friend class simulated_graph;

  /// What this thread issues goes there instead, where not null.
  static simulated_graph*& recording() {
    static thread_local simulated_graph* g = nullptr;
    return g;
  }

  simulated_command* make(simulated_command::kind what, run_state& run, const work_label* label, double seconds) const {
    auto* c = new simulated_command;
    c->what = what;
    c->run = &run;
    c->label = label;
    c->timed = model_.is_set();
    c->issued = run.now;
    c->seconds = seconds;
    return c;
  }

  /// Takes the command over.
  void issue(stream_kind stream, simulated_command* c) {
    if (recording())
      recording()->add(*this, stream, c);
    else
      append(stream, c);
  }
  void append(stream_kind stream, simulated_command* c) {
    const ref<device_event> event = c->what == simulated_command::mark ? c->event : ref<device_event>();
    if (event) static_cast<simulated_event*>(event.get())->rearm();
    try {
      streams_[static_cast<int>(stream)].append(c);
    } catch (...) {
      if (event) static_cast<simulated_event*>(event.get())->reach(0);
      throw;
    }
  }

  /// Has the compute stream of this device wait for all the others of a graph, and marks the end.
  void join(simulated_graph& g) {
    run_state none;  // replaced at each launch
    for (simulated_graph::entry* e = g.first_; e; e = e->next) {
      bool seen = e->device == this && e->stream == stream_kind::compute;
      for (simulated_graph::entry* f = g.first_; f != e && !seen; f = f->next)
        seen = f->device == e->device && f->stream == e->stream;
      if (seen) continue;
      const ref<device_event> done = make_event();
      simulated_command* m = make(simulated_command::mark, none, nullptr, 0);
      m->event = done;
      g.add(*e->device, e->stream, m);
      simulated_command* a = make(simulated_command::await, none, nullptr, 0);
      a->event = done;
      g.add(*this, stream_kind::compute, a);
    }
    g.end_ = make_event();
    simulated_command* m = make(simulated_command::mark, none, nullptr, 0);
    m->event = g.end_;
    g.add(*this, stream_kind::compute, m);
  }

  static bool work_on(void* self, const simulated_command& c) {
    return static_cast<simulated_device*>(self)->execute(c);
  }

  bool execute(const simulated_command& c) {
    if (c.run->failed()) return false;
    const bool copies = c.what == simulated_command::copy;
    const stream_kind stream = !copies ? stream_kind::compute : c.from_host ? stream_kind::in : stream_kind::out;
    const std::int64_t begin = c.run->trace ? c.run->trace->now() : 0;
    try {
      expect_alive();
      if (copies) {
        before("copy");
        void* to = c.to_host ? c.to_host->data : c.to;
        const void* from = c.from_host ? c.from_host->data : c.from;
        if (c.bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(c.bytes));
        count_transfer(c.bytes);
      } else {
        before("kernel");
        c.entry->launch[slot()].run(pool_, *c.call);
        count_kernel(*c.call);
      }
    } catch (...) {
      c.run->fail(named_failure(*c.label, where()));
      return false;
    }
    if (trace_sink* t = c.run->trace) {
      const double clock = streams_[static_cast<int>(stream)].clock();
      t->add({copies ? trace_span::copy : trace_span::kernel, where(), stream, c.label,
              c.timed ? nanoseconds(clock) : begin, c.timed ? nanoseconds(clock + c.seconds) : t->now()});
    }
    return true;
  }

  int physical_;
  memory_limit limit_;
  cost_model model_;
  thread_pool pool_;
  block_cache heap_;
  mutable mutex mutex_;
  std::int64_t taken_ = 0;
  bool used_ = false;
  simulated_stream streams_[stream_kinds];
};

ONTO_COLD inline void simulated_graph::perform(run_state& run) {
  for (const entry* e = first_; e; e = e->next) {
    auto* c = new simulated_command(*e->command);
    c->run = &run;
    c->issued = run.now;
    e->device->append(e->stream, c);
  }
  end_->wait();
  if (end_->time() > run.now) run.now = end_->time();
}

}  // namespace onto::detail

ONTO_END_RUNS_ONCE
