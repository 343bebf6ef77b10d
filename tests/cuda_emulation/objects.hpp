// SPDX-License-Identifier: BSL-1.0
// What is behind the runtime's handles: streams, events, recordings and graphs.
#pragma once

#include <deque>
#include <map>
#include <set>

#include "emulator.hpp"

struct CUgraphNode_st {
  std::size_t index = 0;
};

namespace cuda_emulation {

/// A piece of work in a graph, and the pieces that come before it.
struct graph_node {
  piece work;
  std::vector<std::size_t> after;
};

/// The handles of nodes that somebody asked for. They are valid for as long as the graph.
struct node_handles {
  std::vector<std::unique_ptr<CUgraphNode_st>> all;
  bool graph_is_gone = false;
};

struct graph_nodes {
  std::vector<graph_node> nodes;
  std::shared_ptr<node_handles> handles = std::make_shared<node_handles>();
};

/// What streams record together. It ends when its origin's capture does.
struct recording {
  cudaStream_t origin = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  graph_nodes graph;
  std::set<cudaStream_t> streams;
  cudaError_t spoilt = cudaSuccess;
};

struct graph_program;

/// A launch of a graph that is under way.
struct graph_run {
  std::shared_ptr<graph_program> program;
  std::vector<std::size_t> missing;  // of each node: how many of those before it are not done
  std::vector<std::size_t> ready;
  std::vector<std::int64_t> ends;
  std::size_t left = 0;
  std::int64_t begin = 0, end = 0;
};

struct graph_program {
  graph_nodes graph;
  std::weak_ptr<graph_run> last;  // launch of it
};

/// What a stream does next.
struct stream_item {
  enum kind { work, record, wait, graph } what = work;
  piece job{};
  cudaEvent_t event = nullptr;
  std::uint64_t number = 0;                  // of the event's recording
  std::shared_ptr<graph_program> program{};  // a launch of it
  std::shared_ptr<graph_run> run{};          // where it has begun
  std::int64_t issued = 0;
};

}  // namespace cuda_emulation

struct CUstream_st {
  int device = 0;
  std::deque<cuda_emulation::stream_item> items;
  bool busy = false;  // a host function of it runs
  bool destroyed = false;
  std::int64_t time = 0;  // at which its last piece ended
  std::shared_ptr<cuda_emulation::recording> capture;
  std::vector<std::size_t> frontier;  // nodes after which the next one comes
  std::vector<cudaGraphNode_t> told;  // their handles, as they were asked for last
};

struct CUevent_st {
  int device = 0;
  bool timed = true;
  bool destroyed = false;
  std::uint64_t recorded = 0, reached = 0;             // how often
  std::int64_t time = 0;                               // of the last one reached
  int users = 0;                                       // items of streams that name it
  std::shared_ptr<cuda_emulation::recording> capture;  // that it was last recorded in
  bool captured = false;
  std::vector<std::size_t> nodes;
};

struct CUmemPoolHandle_st {
  cuda_emulation::pool_state pool;
};

struct CUgraph_st {
  cuda_emulation::graph_nodes graph;
};

struct CUgraphExec_st {
  std::shared_ptr<cuda_emulation::graph_program> program;
};

namespace cuda_emulation {

// What the runtime's functions do, in streams.cpp; the lock is held.
cudaError_t make_stream(cudaStream_t* stream, int device);
bool is_stream(cudaStream_t stream);
cudaError_t destroy_stream(cudaStream_t stream);
cudaError_t make_event(cudaEvent_t* event, int device, bool timed);
cudaError_t destroy_event(cudaEvent_t event);
cudaError_t record_event(cudaEvent_t event, cudaStream_t stream);
cudaError_t wait_event(cudaStream_t stream, cudaEvent_t event);
cudaError_t query_event(cudaEvent_t event);
cudaError_t wait_for_event(std::unique_lock<std::mutex>& lock, cudaEvent_t event);
cudaError_t elapsed(float* milliseconds, cudaEvent_t begin, cudaEvent_t end);
cudaError_t begin_capture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t end_capture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t capture_info(cudaStream_t stream, cudaStreamCaptureStatus* status, const cudaGraphNode_t** nodes,
                         std::size_t* count);
cudaError_t change_node(cudaGraphExec_t program, cudaGraphNode_t node, piece work);
cudaError_t instantiate(cudaGraphExec_t* program, cudaGraph_t graph);
cudaError_t destroy_graph(cudaGraph_t graph);
cudaError_t destroy_program(cudaGraphExec_t program);
cudaError_t launch_graph(cudaGraphExec_t program, cudaStream_t stream);

}  // namespace cuda_emulation
