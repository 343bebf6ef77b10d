// SPDX-License-Identifier: BSL-1.0
// The tree of notes: who hears whom.
#include <onto/plan/note_tree.hpp>

namespace {

using tree = onto::detail::note_tree;

// Up to eight tasks all have the first one as their parent.
static_assert(tree::parent(1) == 0 && tree::parent(7) == 0);
// Eight that follow each other have the first of them as their parent, and that has the first of 64.
static_assert(tree::parent(9) == 8 && tree::parent(15) == 8 && tree::parent(8) == 0 && tree::parent(56) == 0);
static_assert(tree::parent(100) == 96 && tree::parent(96) == 64 && tree::parent(64) == 0);
static_assert(tree::parent(0x7fffffff) == 0x7ffffff8);

constexpr int children(int task, int tasks) {
  int count = 0;
  tree::for_each_child(task, tasks, [&](int child) { count += tree::parent(child) == task ? 1 : 1000; });
  return count;
}
static_assert(children(0, 1) == 0 && children(0, 8) == 7 && children(0, 9) == 8 && children(0, 1024) == 22);
static_assert(children(8, 16) == 7 && children(8, 11) == 2 && children(64, 1024) == 14 && children(9, 1024) == 0);
static_assert(children(0, 0x7fffffff) == 71);

}  // namespace
