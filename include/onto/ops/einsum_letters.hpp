// SPDX-License-Identifier: BSL-1.0
// The letters of a sum of products: what the text says, in which order operands come together, and how two of them do.
// Constant expressions over letters and extents; no types.
#pragma once

#include <onto/core/text.hpp>
#include <onto/shape/extents.hpp>

#include <string_view>

namespace onto {

namespace detail {

ONTO_BEGIN_RUNS_ONCE
/// The letters of a tensor's axes, in their order.
struct letter_list {
  int count = 0;
  char of[2 * max_rank] = {};

  constexpr int find(char c) const {
    for (int k = 0; k < count; ++k)
      if (of[k] == c) return k;
    return -1;
  }
  constexpr bool has(char c) const { return find(c) >= 0; }
  constexpr void add(char c) {
    if (count < 2 * max_rank) of[count++] = c;
  }
  constexpr void add(const letter_list& more) {
    for (int k = 0; k < more.count; ++k) add(more.of[k]);
  }
  /// Its letters that are in the other, or not.
  constexpr letter_list among(const letter_list& other, bool in = true) const {
    letter_list r;
    for (int k = 0; k < count; ++k)
      if (other.has(of[k]) == in) r.add(of[k]);
    return r;
  }
  constexpr bool is(const letter_list& other) const {
    bool same = count == other.count;
    for (int k = 0; k < count; ++k) same = same && of[k] == other.of[k];
    return same;
  }
  constexpr letter_list first(int n) const {
    letter_list r;
    for (int k = 0; k < n && k < count; ++k) r.add(of[k]);
    return r;
  }
};

/// The letters of a tensor's axes as one number, the first in the lowest byte.
constexpr std::int64_t packed_letters(const letter_list& letters) {
  std::int64_t n = 0;
  for (int k = 0; k < letters.count && k < max_rank; ++k) n |= static_cast<std::int64_t>(letters.of[k]) << (8 * k);
  return n;
}

/// The operands of one `einsum`.
inline constexpr int most_summed = 8;

enum class einsum_fault { none, letters, operands, ranks, extents };

/// What the text says, beside the operands' shapes.
struct summation {
  einsum_fault fault = einsum_fault::none;
  int operands = 1;
  letter_list in[most_summed], out;
  int extent[128] = {};              // of each letter; dyn where it is not known
  int split[1 << most_summed] = {};  // of a set of operands: those that come together first, and the others
  letter_list kept[1 << most_summed];

  constexpr void read(std::string_view text) {
    bool results = false, arrow = false;
    for (std::size_t k = 0; k < text.size(); ++k) {
      const char c = text[k];
      if (c == ' ') continue;
      if (c == ',' && !arrow) {
        if (operands == most_summed)
          fault = einsum_fault::operands;
        else
          ++operands;
      } else if (c == '-' && !arrow && k + 1 < text.size() && text[k + 1] == '>') {
        arrow = results = true;
        ++k;
      } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
        letter_list& list = arrow ? out : in[operands - 1];
        if (list.has(c)) fault = einsum_fault::letters;
        list.add(c);
      } else {
        fault = einsum_fault::letters;
      }
    }
    if (!results) find_result();
    for (int k = 0; k < out.count; ++k) {
      bool there = false;
      for (int o = 0; o < operands; ++o) there = there || in[o].has(out.of[k]);
      if (!there) fault = einsum_fault::letters;
    }
  }
  /// Without an arrow: the letters that are there once, in the alphabet's order.
  constexpr void find_result() {
    for (char c = 'A'; c <= 'z'; ++c) {
      int times = 0;
      for (int o = 0; o < operands; ++o) times += in[o].has(c) ? 1 : 0;
      if (times == 1) out.add(c);
    }
  }

  constexpr void match(const extents* shapes, int count) {
    if (fault == einsum_fault::none && count != operands) fault = einsum_fault::operands;
    for (int& e : extent) e = dyn;
    for (int o = 0; o < count && fault == einsum_fault::none; ++o) {
      if (shapes[o].rank != in[o].count) fault = einsum_fault::ranks;
      for (int k = 0; k < shapes[o].rank && fault == einsum_fault::none; ++k) {
        int& e = extent[static_cast<int>(in[o].of[k])];
        if (e != dyn && shapes[o][k] != dyn && e != shapes[o][k]) fault = einsum_fault::extents;
        if (e == dyn) e = shapes[o][k];
      }
    }
  }

  /// Multiplications of a product over these letters; an extent that is not known counts as 64.
  constexpr double work(const letter_list& a, const letter_list& b) const {
    double n = 1;
    letter_list all = a;
    all.add(b.among(a, false));
    for (int k = 0; k < all.count; ++k) {
      const int e = extent[static_cast<int>(all.of[k])];
      n *= e == dyn ? 64 : e;
    }
    return n;
  }
  /// For every set of operands, how it is best made of two.
  constexpr void order() {
    const int all = (1 << operands) - 1;
    double cost[1 << most_summed] = {};
    for (int set = 1; set <= all; ++set) {
      letter_list inside, outside = out;
      for (int o = 0; o < operands; ++o) {
        letter_list& list = set >> o & 1 ? inside : outside;
        list.add(in[o].among(list, false));
      }
      kept[set] = inside.among(outside);
      if ((set & (set - 1)) == 0) continue;
      for (int first = (set - 1) & set; first > 0; first = (first - 1) & set) {
        const int second = set ^ first;
        if ((first & set & -set) == 0) continue;  // the first operand stays on the left
        const double c = cost[first] + cost[second] + work(kept[first], kept[second]);
        if (split[set] == 0 || c < cost[set]) {
          cost[set] = c;
          split[set] = first;
        }
      }
    }
    // Unless the result's last axis is its own: then it is on the right, and nothing is transposed.
    const int first = split[all];
    if (first == 0 || out.count == 0) return;
    const char last = out.of[out.count - 1];
    if (kept[first].has(last) && !kept[all ^ first].has(last)) split[all] = all ^ first;
  }
};
/// How the letters of two operands come together: those in both that are kept and that are summed, those in one.
struct pairing {
  letter_list batch, summed, left, right, outer;  // outer: right ones that are a batch, as their extents are not known
  bool by_element = false;
  letter_list a, b, result;  // in which order the axes are, of the operands and of their product

  constexpr pairing(const letter_list& x, const letter_list& y, const letter_list& kept, const int* extent) {
    const letter_list both = x.among(y);
    batch = both.among(kept);
    summed = both.among(kept, false);
    left = x.among(y, false);
    right = y.among(x, false);
    // Without letters of their own they are multiplied element by element, and summed up in the same kernel.
    if (summed.count == 0 || (left.count == 0 && right.count == 0)) {
      by_element = true;
      result = batch;
      result.add(left);
      result.add(right);
      a = result;
      a.add(summed);
      b = a;
      return;
    }
    if (left.count == 0) left.add('<');  // an extent of 1
    if (right.count == 0) right.add('>');
    int apart = 0;  // a reshape computes one extent, and none beside 0
    for (int k = 0; k < right.count; ++k)
      apart += right.of[k] != '>' && extent[static_cast<int>(right.of[k])] <= 0 ? 1 : 0;
    if (apart > 1) {
      outer = right.first(right.count - 1);
      right = right.among(outer, false);
    }
    a = batch;
    a.add(outer);
    a.add(left);
    result = a;
    result.add(right);
    a.add(summed);
    b = batch;
    b.add(outer);
    b.add(left.first(left.count - 1));
    b.add(summed);
    b.add(right);
  }
};
ONTO_END_RUNS_ONCE

template <class Text, class... Shapes>
struct summation_of {
  static constexpr summation make() {
    constexpr extents shapes[] = {extents(Shapes{})..., extents{}};
    summation s;
    s.read(Text::value);
    s.match(shapes, static_cast<int>(sizeof...(Shapes)));
    if (s.fault == einsum_fault::none) s.order();
    return s;
  }
  static constexpr summation value = make();
};

}  // namespace detail

}  // namespace onto
