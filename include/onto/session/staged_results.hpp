// SPDX-License-Identifier: BSL-1.0
// Memory for results. Where a program writes into memory that it also reads, the result is staged in other memory until
// the run is over; and so are texts, whose handles own nothing until then.
#pragma once

#include <onto/session/bound_program.hpp>
#include <onto/session/feeds.hpp>
#include <onto/session/output_errors.hpp>
#include <onto/tensor/storage.hpp>

#include <cstdint>
#include <cstring>
#include <new>

namespace onto::detail {

/// What a run reads and writes in the caller's memory.
struct host_memory {
  const graph_view& g;
  const extents* shapes;      // per node
  const std::int64_t* bytes;  // per node: of its elements; null: they are counted
  const host_slot* leaf;      // per node
  const int* leaves;          // the nodes that a run gives data to
  int leaf_count;
  host_slot* results;                             // per fetch
  const device_block* const* variable = nullptr;  // per node: where it is one; null: there are none
  const bool* absent = nullptr;                   // per fetch: it does not arrive in this process; null: all do
};

class staged_results {
 public:
  /// Gives each result of the program its memory. *Throws* `invalid_argument_error` where two share it.
  staged_results(const run_request& r, const host_memory& b) : staged_results(b) {
    bool some_staged = r.into_outputs;
    for (int k = 0; k < g_.fetch_count; ++k) {
      const int node = g_.fetches[k];
      some_staged = some_staged || is_text(g_.nodes[node].type);
      if (b.absent && b.absent[k]) {  // it does not arrive in this process: nothing, or what was there
        extents none;
        none.rank = -1;
        if (!r.into_outputs) r.allocate(r.context, k, none);
        b.results[k].data = nullptr;
      } else {
        b.results[k].data = r.allocate(r.context, k, b.shapes[node]);
      }
    }
    for (int k = 0; some_staged && k < g_.fetch_count; ++k)
      if (!(b.absent && b.absent[k]) && (r.into_outputs || is_text(g_.nodes[g_.fetches[k]].type))) stage(k);
  }
  staged_results(const staged_results&) = delete;
  staged_results& operator=(const staged_results&) = delete;
  ~staged_results() {
    while (first_) {
      staged* const gone = first_;
      first_ = gone->next;
      if (!is_in_room(gone)) release_storage(gone, size_of_staged(gone->bytes));
    }
  }

  /// Whether there are any.
  ONTO_INLINE bool any() const { return first_ != nullptr; }

  /// The run is over: what was staged goes where it belongs.
  void deliver() {
    // All texts are retained before one goes: what is written may have owned what was computed for another output.
    for (const staged* s = first_; s; s = s->next)
      for (std::int64_t k = 0; s->are_texts && k < s->bytes / size_of(element::text); ++k) {
        const text_block* block;
        std::memcpy(&block, reinterpret_cast<const text*>(s + 1) + k, sizeof block);
        if (block) retain_text(block);
      }
    for (staged* s = first_; s; s = s->next)
      if (s->are_texts)
        take_texts(static_cast<text*>(s->target), s + 1, s->bytes / size_of(element::text));
      else
        std::memcpy(s->target, s + 1, static_cast<std::size_t>(s->bytes));
  }

 private:
  // Whole before anything is staged, which goes where two outputs are found to share memory.
  explicit staged_results(const host_memory& b) : b_(b), g_(b.g) {}

  struct alignas(64) staged {
    staged* next;
    void* target;
    std::int64_t bytes;
    bool are_texts;
  };
  static std::size_t size_of_staged(std::int64_t bytes) {
    return (sizeof(staged) + static_cast<std::size_t>(bytes) + 63) / 64 * 64;
  }
  bool is_in_room(const void* s) const { return s >= room_ && s < room_ + sizeof room_; }

  std::int64_t bytes_of(int node) const {
    return b_.bytes ? b_.bytes[node] : b_.shapes[node].size() * size_of(g_[node].type);
  }

  static bool overlap(const void* a, std::int64_t a_bytes, const void* b, std::int64_t b_bytes) {
    const auto first = reinterpret_cast<std::uintptr_t>(a), second = reinterpret_cast<std::uintptr_t>(b);
    return a_bytes > 0 && b_bytes > 0 && first < second + static_cast<std::uintptr_t>(b_bytes) &&
           second < first + static_cast<std::uintptr_t>(a_bytes);
  }

  void stage(int fetch) {
    void* const out = b_.results[fetch].data;
    const std::int64_t bytes = bytes_of(g_.fetches[fetch]);
    bool is_shared = false;
    for (int k = 0; k < fetch; ++k)
      is_shared = is_shared || (b_.results[k].data && overlap(out, bytes, b_.results[k].data, bytes_of(g_.fetches[k])));
    for (staged* s = first_; s; s = s->next) is_shared = is_shared || overlap(out, bytes, s->target, s->bytes);
    if (is_shared) throw_shared_outputs();
    const bool are_texts = is_text(g_[g_.fetches[fetch]].type);
    bool is_read = are_texts;
    for (int k = 0; k < b_.leaf_count && !is_read; ++k) {
      const int n = b_.leaves[k];
      is_read = !(b_.variable && b_.variable[n]) && overlap(out, bytes, b_.leaf[n].data, bytes_of(n));
    }
    if (!is_read) return;
    const std::size_t size = size_of_staged(bytes);
    const bool fits = size <= sizeof room_ - used_;
    void* const memory = fits ? room_ + used_ : allocate_storage(size);
    if (fits) used_ += size;
    first_ = ::new (memory) staged{first_, out, bytes, are_texts};
    b_.results[fetch].data = first_ + 1;
  }

  host_memory b_;
  const graph_view& g_;
  staged* first_ = nullptr;
  std::size_t used_ = 0;
  alignas(64) unsigned char room_[2048];  // small results that lie in what is read, as a state's that is fed
};

}  // namespace onto::detail
