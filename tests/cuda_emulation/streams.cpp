// SPDX-License-Identifier: BSL-1.0
// Streams, events and graphs: what is issued waits until somebody waits for it, and then any piece runs that may,
// chosen at random. So everything that no event forbids does happen.
#include <algorithm>
#include <chrono>
#include <thread>

#include "objects.hpp"

namespace cuda_emulation {
namespace {

struct stream_state {
  std::set<cudaStream_t> streams;
  std::vector<std::shared_ptr<graph_run>> runs;  // under way
  int host_functions = 0;                        // that run now
  std::condition_variable host_function_over;
  std::map<std::string, long> objects;
};

stream_state& state() {
  static stream_state& s = *new stream_state;
  return s;
}

thread_local bool on_host_function = false;

/// A piece that may run now: the next of a stream, or a node of a graph.
struct choice {
  cudaStream_t stream = nullptr;
  std::shared_ptr<graph_run> run;
  std::size_t node = 0;
};

bool may_begin(const stream_item& i) {
  if (i.what == stream_item::wait) return i.event->reached >= i.number;
  if (i.what == stream_item::work)
    return !i.job.may_begin || device_at(i.job.device).lost != cudaSuccess || i.job.may_begin();
  // Launches of one graph come one after the other.
  return i.what != stream_item::graph || (!i.run && i.program->last.expired());
}

std::vector<choice> choices() {
  stream_state& s = state();
  std::vector<choice> all;
  for (cudaStream_t stream : s.streams)
    if (!stream->busy && !stream->items.empty() && may_begin(stream->items.front()))
      all.push_back({stream, nullptr, 0});
  for (const auto& run : s.runs)
    for (std::size_t node : run->ready) all.push_back({nullptr, run, node});
  return all;
}

/// Does a piece of work. *Returns* how long it takes.
std::int64_t perform(std::unique_lock<std::mutex>& lock, piece& p) {
  std::int64_t nanoseconds = 0;
  device_state& d = device_at(p.device);
  if (d.lost != cudaSuccess) return 0;
  cudaError_t status = cudaSuccess;
  if (p.on_host) {
    ++state().host_functions;
    lock.unlock();
    on_host_function = true;
    status = p.run(nanoseconds);
    on_host_function = false;
    lock.lock();
    --state().host_functions;
    state().host_function_over.notify_all();
  } else {
    status = p.run(nanoseconds);
  }
  if (status != cudaSuccess && d.lost == cudaSuccess) d.lost = status;
  return nanoseconds;
}

void leave_event(cudaEvent_t e) {
  if (--e->users == 0 && e->destroyed) delete e;
}

void do_next(std::unique_lock<std::mutex>& lock, cudaStream_t stream) {
  stream_item item = std::move(stream->items.front());
  const std::int64_t begin = stream->time > item.issued ? stream->time : item.issued;
  switch (item.what) {
    case stream_item::work: {
      stream->busy = true;  // nothing else of the stream begins meanwhile
      stream->time = begin + perform(lock, item.job);
      stream->busy = false;
      if (!stream->items.empty()) stream->items.pop_front();
      return;
    }
    case stream_item::record:
      stream->time = begin;
      if (item.number > item.event->reached) {
        item.event->reached = item.number;
        item.event->time = begin;
      }
      leave_event(item.event);
      break;
    case stream_item::wait:
      stream->time = begin > item.event->time ? begin : item.event->time;
      leave_event(item.event);
      break;
    case stream_item::graph: {
      auto run = std::make_shared<graph_run>();
      const std::vector<graph_node>& nodes = item.program->graph.nodes;
      run->program = item.program;
      run->begin = run->end = begin;
      run->left = nodes.size();
      run->ends.resize(run->left);
      run->missing.resize(run->left);
      for (std::size_t n = 0; n < run->left; ++n) {
        run->missing[n] = nodes[n].after.size();
        if (run->missing[n] == 0) run->ready.push_back(n);
      }
      item.program->last = run;
      if (run->left == 0) break;
      state().runs.push_back(run);
      stream->items.front().run = run;  // the stream goes on when it is over
      return;
    }
  }
  if (!stream->items.empty()) stream->items.pop_front();
}

void do_node(std::unique_lock<std::mutex>& lock, const std::shared_ptr<graph_run>& run, std::size_t node) {
  std::erase(run->ready, node);
  const std::vector<graph_node>& nodes = run->program->graph.nodes;
  piece work = nodes[node].work;
  std::int64_t begin = run->begin;
  for (std::size_t before : nodes[node].after)
    if (run->ends[before] > begin) begin = run->ends[before];
  run->ends[node] = begin + perform(lock, work);
  if (run->ends[node] > run->end) run->end = run->ends[node];
  for (std::size_t n = 0; n < nodes.size(); ++n)
    for (std::size_t before : nodes[n].after)
      if (before == node && --run->missing[n] == 0) run->ready.push_back(n);
  if (--run->left > 0) return;
  std::erase(state().runs, run);
  for (cudaStream_t stream : state().streams) {
    if (stream->items.empty() || stream->items.front().run != run) continue;
    stream->time = run->end;
    stream->items.pop_front();
  }
}

/// Streams that were destroyed go when what was in them is done.
void reap() {
  std::set<cudaStream_t>& streams = state().streams;
  for (auto at = streams.begin(); at != streams.end();) {
    cudaStream_t s = *at;
    if (s->destroyed && s->items.empty() && !s->busy) {
      at = streams.erase(at);
      delete s;
    } else {
      ++at;
    }
  }
}

/// Runs one piece. *Returns* whether there was one.
bool do_one(std::unique_lock<std::mutex>& lock) {
  const std::vector<choice> all = choices();
  if (all.empty()) return false;
  const choice& c = all[any_below(all.size())];
  if (c.stream)
    do_next(lock, c.stream);
  else
    do_node(lock, c.run, c.node);
  reap();
  return true;
}

void push(cudaStream_t stream, stream_item item) {
  item.issued = clock_now();
  stream->items.push_back(std::move(item));
}

void wait_for_clock(std::unique_lock<std::mutex>& lock, std::int64_t time) {
  const std::int64_t left = time - clock_now();  // as long as a kernel that spins
  if (left < 200000) return;
  lock.unlock();
  std::this_thread::sleep_for(std::chrono::nanoseconds(left));
  lock.lock();
}

/// Whether a recording's node comes before one of those in `ends`.
bool leads_to(const graph_nodes& g, std::size_t node, const std::vector<std::size_t>& ends) {
  std::vector<std::size_t> open = ends;
  std::set<std::size_t> seen(ends.begin(), ends.end());
  while (!open.empty()) {
    const std::size_t n = open.back();
    open.pop_back();
    if (n == node) return true;
    for (std::size_t before : g.nodes[n].after)
      if (seen.insert(before).second) open.push_back(before);
  }
  return false;
}

void leave_capture(recording& r) {
  for (cudaStream_t s : r.streams) {
    s->capture.reset();
    s->frontier.clear();
  }
}

}  // namespace

std::int64_t clock_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

bool in_host_function() { return on_host_function; }
int device_of(cudaStream_t stream) { return stream->device; }
bool is_capturing(cudaStream_t stream) { return stream && stream->capture != nullptr; }

cudaError_t spoil_capture(cudaStream_t stream) {
  stream->capture->spoilt = cudaErrorStreamCaptureInvalidated;
  return cudaErrorStreamCaptureUnsupported;
}

void note_object(const char* kind, int change) { state().objects[kind] += change; }

void forget_objects() {
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  state().objects.clear();
}

std::map<std::string, long> live_objects() {
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  std::map<std::string, long> live;
  for (const auto& [kind, count] : state().objects)
    if (count != 0) live[kind] = count;
  return live;
}

cudaError_t issue(cudaStream_t stream, piece p) {
  p.device = stream->device;
  if (stream->capture) {
    recording& r = *stream->capture;
    if (r.spoilt != cudaSuccess) return r.spoilt;
    r.graph.nodes.push_back({std::move(p), stream->frontier});
    stream->frontier = {r.graph.nodes.size() - 1};
    return cudaSuccess;
  }
  stream_item item;
  item.what = stream_item::work;
  item.job = std::move(p);
  push(stream, std::move(item));
  return cudaSuccess;
}

cudaError_t enqueue(cudaStream_t stream, const char* what, std::function<void()> work) {
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  return issue(stream, {what, 0,
                        [work = std::move(work)](std::int64_t& nanoseconds) {
                          work();
                          nanoseconds += 5000;
                          return cudaSuccess;
                        },
                        false});
}

void run_until(std::unique_lock<std::mutex>& lock, const char* what, const std::function<bool()>& done) {
  while (!done()) {
    if (do_one(lock)) continue;
    if (state().host_functions > 0) {
      state().host_function_over.wait_for(lock, std::chrono::milliseconds(1));
      continue;
    }
    violation(std::string(what) + " waits for something that never comes");
    return;
  }
}

void finish(std::unique_lock<std::mutex>& lock, cudaStream_t stream) {
  run_until(lock, "cudaStreamSynchronize", [&] { return stream->items.empty(); });
  wait_for_clock(lock, stream->time);
}

void finish_device(std::unique_lock<std::mutex>& lock, int device) {
  run_until(lock, "waiting for a device", [&] {
    for (cudaStream_t s : state().streams)
      if ((device < 0 || s->device == device) && !s->items.empty()) return false;
    return true;
  });
}

long host_functions_left() {
  const std::lock_guard<std::mutex> lock(lock_of_everything());
  long left = 0;
  for (cudaStream_t s : state().streams)
    left += std::count_if(s->items.begin(), s->items.end(), [](const stream_item& i) { return i.job.on_host; });
  return left;
}

void drain() {
  std::unique_lock<std::mutex> lock(lock_of_everything());
  while (do_one(lock)) {
  }
}

void go_on_at_random(std::unique_lock<std::mutex>& lock) {
  if (any_below(4) != 0) return;
  for (std::size_t k = any_below(4); k > 0 && do_one(lock); --k) {
  }
}

// ---- what the runtime's functions do ----------------------------------------------------------------------

cudaError_t make_stream(cudaStream_t* stream, int device) {
  *stream = new CUstream_st;
  (*stream)->device = device;
  state().streams.insert(*stream);
  note_object("streams", 1);
  return cudaSuccess;
}

bool is_stream(cudaStream_t stream) { return state().streams.count(stream) != 0 && !stream->destroyed; }

/// What is in it is still done.
cudaError_t destroy_stream(cudaStream_t stream) {
  if (stream->capture) {
    stream->capture->spoilt = cudaErrorStreamCaptureInvalidated;
    stream->capture->streams.erase(stream);
  }
  stream->destroyed = true;
  reap();
  note_object("streams", -1);
  return cudaSuccess;
}

cudaError_t make_event(cudaEvent_t* event, int device, bool timed) {
  *event = new CUevent_st;
  (*event)->device = device;
  (*event)->timed = timed;
  note_object("events", 1);
  return cudaSuccess;
}

cudaError_t destroy_event(cudaEvent_t event) {
  note_object("events", -1);
  event->destroyed = true;
  ++event->users;
  leave_event(event);
  return cudaSuccess;
}

cudaError_t record_event(cudaEvent_t event, cudaStream_t stream) {
  if (event->device != stream->device) return cudaErrorInvalidResourceHandle;
  event->captured = stream->capture != nullptr;
  event->capture = stream->capture;
  if (event->captured) {
    event->nodes = stream->frontier;
    return event->capture->spoilt;
  }
  stream_item item;
  item.what = stream_item::record;
  item.event = event;
  item.number = ++event->recorded;
  ++event->users;
  push(stream, std::move(item));
  return cudaSuccess;
}

cudaError_t wait_event(cudaStream_t stream, cudaEvent_t event) {
  if (event->captured) {
    if (!event->capture || !event->capture->origin) return cudaErrorCapturedEvent;
    if (stream->capture && stream->capture != event->capture) {
      stream->capture->spoilt = event->capture->spoilt = cudaErrorStreamCaptureInvalidated;
      return cudaErrorStreamCaptureMerge;
    }
    if (!stream->capture) {
      stream->capture = event->capture;
      stream->capture->streams.insert(stream);
    }
    for (std::size_t n : event->nodes)
      if (std::find(stream->frontier.begin(), stream->frontier.end(), n) == stream->frontier.end())
        stream->frontier.push_back(n);
    return cudaSuccess;
  }
  if (stream->capture && event->recorded > 0) {
    stream->capture->spoilt = cudaErrorStreamCaptureInvalidated;
    return cudaErrorStreamCaptureIsolation;
  }
  if (event->recorded == 0 || stream->capture) return cudaSuccess;
  stream_item item;
  item.what = stream_item::wait;
  item.event = event;
  item.number = event->recorded;
  ++event->users;
  push(stream, std::move(item));
  return cudaSuccess;
}

cudaError_t query_event(cudaEvent_t event) {
  if (event->captured) return cudaErrorCapturedEvent;
  return event->reached >= event->recorded ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t wait_for_event(std::unique_lock<std::mutex>& lock, cudaEvent_t event) {
  if (event->captured) return cudaErrorCapturedEvent;
  const std::uint64_t number = event->recorded;
  ++event->users;
  run_until(lock, "cudaEventSynchronize", [&] { return event->reached >= number; });
  wait_for_clock(lock, event->time);
  leave_event(event);
  return cudaSuccess;
}

cudaError_t elapsed(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  if (!begin->timed || !end->timed || begin->captured || end->captured) return cudaErrorInvalidResourceHandle;
  if (begin->recorded == 0 || end->recorded == 0) return cudaErrorInvalidResourceHandle;
  if (begin->reached < begin->recorded || end->reached < end->recorded) return cudaErrorNotReady;
  *milliseconds = static_cast<float>(static_cast<double>(end->time - begin->time) * 1e-6);
  return cudaSuccess;
}

cudaError_t begin_capture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  if (stream->capture) return cudaErrorIllegalState;
  stream->capture = std::make_shared<recording>();
  stream->capture->origin = stream;
  stream->capture->mode = mode;
  stream->capture->streams.insert(stream);
  stream->frontier.clear();
  return cudaSuccess;
}

cudaError_t end_capture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = nullptr;
  const std::shared_ptr<recording> r = stream->capture;
  if (!r) return cudaErrorIllegalState;
  if (r->origin != stream) {
    r->spoilt = cudaErrorStreamCaptureInvalidated;
    return cudaErrorStreamCaptureUnmatched;
  }
  const std::vector<std::size_t> ends = stream->frontier;
  cudaError_t status = r->spoilt == cudaSuccess ? cudaSuccess : cudaErrorStreamCaptureInvalidated;
  for (std::size_t n = 0; n < r->graph.nodes.size() && status == cudaSuccess; ++n)
    if (!leads_to(r->graph, n, ends)) status = cudaErrorStreamCaptureUnjoined;
  leave_capture(*r);
  r->origin = nullptr;
  if (status != cudaSuccess) return status;
  *graph = new CUgraph_st{std::move(r->graph)};
  note_object("graphs", 1);
  return cudaSuccess;
}

cudaError_t capture_info(cudaStream_t stream, cudaStreamCaptureStatus* status, const cudaGraphNode_t** nodes,
                         std::size_t* count) {
  *status = cudaStreamCaptureStatusNone;
  if (!stream->capture) return cudaSuccess;
  *status = stream->capture->spoilt == cudaSuccess ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusInvalidated;
  stream->told.clear();
  for (std::size_t n : stream->frontier) {
    stream->capture->graph.handles->all.push_back(std::make_unique<CUgraphNode_st>(CUgraphNode_st{n}));
    stream->told.push_back(stream->capture->graph.handles->all.back().get());
  }
  *nodes = stream->told.data();
  *count = stream->told.size();
  return cudaSuccess;
}

cudaError_t change_node(cudaGraphExec_t program, cudaGraphNode_t node, piece work) {
  const graph_program& now = *program->program;
  const node_handles& handles = *now.graph.handles;
  const auto is_it = [&](const std::unique_ptr<CUgraphNode_st>& n) { return n.get() == node; };
  if (handles.graph_is_gone || std::none_of(handles.all.begin(), handles.all.end(), is_it)) {
    violation("a graph's program is to change at a node of a graph that is another one, or was destroyed");
    return cudaErrorInvalidValue;
  }
  // Launches that were issued go on as they were.
  auto changed = std::make_shared<graph_program>(now);
  piece& old = changed->graph.nodes[node->index].work;
  work.device = old.device;
  old = std::move(work);
  program->program = std::move(changed);
  return cudaSuccess;
}

cudaError_t instantiate(cudaGraphExec_t* program, cudaGraph_t graph) {
  *program = new CUgraphExec_st{std::make_shared<graph_program>(graph_program{graph->graph, {}})};
  note_object("graph programs", 1);
  return cudaSuccess;
}

cudaError_t destroy_graph(cudaGraph_t graph) {
  graph->graph.handles->graph_is_gone = true;
  delete graph;
  note_object("graphs", -1);
  return cudaSuccess;
}

cudaError_t destroy_program(cudaGraphExec_t program) {
  delete program;
  note_object("graph programs", -1);
  return cudaSuccess;
}

cudaError_t launch_graph(cudaGraphExec_t program, cudaStream_t stream) {
  if (stream->capture) return spoil_capture(stream);
  stream_item item;
  item.what = stream_item::graph;
  item.program = program->program;
  push(stream, std::move(item));
  return cudaSuccess;
}

}  // namespace cuda_emulation
