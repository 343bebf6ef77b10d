// SPDX-License-Identifier: BSL-1.0
// A reference interpreter: computes an expression as it is written, node by node in double, rounding each result to its
// element type. It knows nothing of fusion, placement, views or kernels.
#pragma once

#include <onto/ops/indexing.hpp>
#include <onto/ops/scan.hpp>
#include <onto/ops/sort.hpp>
#include <onto/shape/convolution.hpp>

#include "written_graph.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace onto_test {

using namespace onto;

/// A value: its elements, row-major.
struct value {
  element type = element::float32;
  extents shape{};
  std::vector<double> elements;
};

template <class T, int... Dims>
value to_value(const tensor<T, Dims...>& t) {
  value v{element_of<T>, t.extent_values(), {}};
  for (const T e : t) v.elements.push_back(static_cast<double>(e));
  return v;
}

/// Where a fed value belongs.
struct fed {
  std::uint64_t id;
  value data;
};

class reference {
 public:
  reference(written_graph written, std::vector<const detail::state*> states, const std::vector<fed>& feeds)
      : written_(std::move(written)), g_(written_.view()), values_(static_cast<std::size_t>(g_.count)) {
    find_leaves(states);
    for (int n = 0; n < g_.count; ++n) values_[static_cast<std::size_t>(n)] = compute(n, feeds);
  }
  const value& fetch(int k) const { return values_[static_cast<std::size_t>(g_.fetches[k])]; }

 private:
  using index = std::vector<int>;

  /// The run-time state of each node is found by walking down from the fetches.
  void find_leaves(const std::vector<const detail::state*>& states) {
    leaves_.resize(static_cast<std::size_t>(g_.count));
    std::vector<const detail::state*> at(static_cast<std::size_t>(g_.visit_count));
    for (int v = 0; v < g_.visit_count; ++v) {
      const graph_visit& visit = g_.visits[v];
      const detail::state*& here = at[static_cast<std::size_t>(v)];
      if (visit.parent < 0) {
        here = states[static_cast<std::size_t>(visit.child)];
      } else if (const detail::state* above = at[static_cast<std::size_t>(visit.parent)]) {
        if (visit.child < above->child_count) here = above->children[visit.child];
      }
      if (visit.node < 0 || !here) continue;
      const graph_node& n = g_[visit.node];
      value& leaf = leaves_[static_cast<std::size_t>(visit.node)];
      leaf.type = n.type;
      if (n.kind() == op_kind::scalar) leaf.elements = {number(n.type, here->scalar)};
      if (n.kind() != op_kind::constant) continue;
      leaf.shape = here->shape;
      for (std::int64_t k = 0; k < here->shape.size(); ++k) {
        std::uint64_t bits = 0;
        const auto size = static_cast<std::size_t>(size_of(n.type));
        std::memcpy(&bits, static_cast<const char*>(here->values) + static_cast<std::size_t>(k) * size, size);
        leaf.elements.push_back(number(n.type, bits));
      }
    }
  }

  static double number(element type, std::uint64_t bits) {
    float f = 0;
    double d = 0;
    std::int32_t i = 0;
    std::int64_t l = 0;
    switch (type) {
      case element::float32: std::memcpy(&f, &bits, sizeof f); return static_cast<double>(f);
      case element::float64: std::memcpy(&d, &bits, sizeof d); return d;
      case element::int32: std::memcpy(&i, &bits, sizeof i); return i;
      case element::int64: std::memcpy(&l, &bits, sizeof l); return static_cast<double>(l);
      default: return bits & 1 ? 1 : 0;
    }
  }

  static double rounded(element type, double v) {
    return type == element::float32 ? static_cast<double>(static_cast<float>(v)) : v;
  }

  static std::size_t offset(const extents& shape, const index& at) {
    std::size_t o = 0;
    for (int k = 0; k < shape.rank; ++k)
      o = o * static_cast<std::size_t>(shape[k]) + static_cast<std::size_t>(at[static_cast<std::size_t>(k)]);
    return o;
  }
  static bool next(const extents& shape, index& at) {
    for (int k = shape.rank - 1; k >= 0; --k) {
      if (++at[static_cast<std::size_t>(k)] < shape[k]) return true;
      at[static_cast<std::size_t>(k)] = 0;
    }
    return false;
  }
  /// The element of `x` that belongs to index `at` of the shape it is broadcast to.
  static double broadcast_element(const value& x, const index& at) {
    index mine(static_cast<std::size_t>(x.shape.rank));
    const std::size_t lead = at.size() - mine.size();
    for (std::size_t k = 0; k < mine.size(); ++k) mine[k] = x.shape[static_cast<int>(k)] == 1 ? 0 : at[lead + k];
    return x.elements[offset(x.shape, mine)];
  }

  value compute(int n, const std::vector<fed>& feeds) {
    const graph_node& node = g_[n];
    value r;
    r.type = node.type;
    if (node.kind() == op_kind::placeholder) {
      for (const fed& f : feeds)
        if (f.id == node.id) return f.data;
      throw std::logic_error("a placeholder of the program is not fed");
    }
    if (node.is_literal()) {
      r.elements = {number(node.type, static_cast<std::uint64_t>(node.op->attribute[0]))};
      return r;
    }
    if (node.is_leaf()) return leaves_[static_cast<std::size_t>(n)];
    std::vector<const value*> x;
    std::vector<extents> shapes;
    for (int k = 0; k < node.count; ++k) {
      x.push_back(&values_[static_cast<std::size_t>(g_.operand(n, k))]);
      shapes.push_back(x.back()->shape);
    }
    r.shape = node.op->infer(shapes.data(), node.count).shape;
    r.elements.resize(static_cast<std::size_t>(r.shape.size()));
    index at(static_cast<std::size_t>(r.shape.rank));
    std::size_t k = 0;
    if (!r.elements.empty()) do {
        r.elements[k++] = rounded(r.type, element_at(node, x, r.shape, at));
      } while (next(r.shape, at));
    return r;
  }

  static double element_at(const graph_node& node, const std::vector<const value*>& x, const extents& shape,
                           const index& at) {
    switch (node.kind()) {
      case op_kind::map: return map(node.op->name, x, at);
      case op_kind::generator: return generated(node.op->name, x, at);
      case op_kind::reduce: return reduce(node, *x[0], at);
      case op_kind::row: return softmax(node, *x[0], at);
      case op_kind::own_kernel: return own(node, x, at);
      case op_kind::matmul: return product(*x[0], *x[1], shape, at);
      case op_kind::view: return look(node, *x[0], shape, at);
      case op_kind::concat: return joined(node, x, at);
      default: throw std::logic_error("the reference does not know " + std::string(node.op->name));
    }
  }

  static double generated(std::string_view name, const std::vector<const value*>& x, const index& at) {
    if (name == "Fill") return x[0]->elements[0];
    if (name == "LinSpace") return -2 + 2 * at[0];  // as programs have it
    const int row = at[at.size() - 2], column = at[at.size() - 1];
    if (name == "Tril") return column - row <= -1 ? broadcast_element(*x[0], at) : 0;  // as programs have it
    if (name == "Triu") return column - row >= 0 ? broadcast_element(*x[0], at) : 0;
    throw std::logic_error("the reference does not know " + std::string(name));
  }

  static double map(std::string_view name, const std::vector<const value*>& x, const index& at) {
    const double a = broadcast_element(*x[0], at);
    const double b = x.size() > 1 ? broadcast_element(*x[1], at) : 0;
    const double c = x.size() > 2 ? broadcast_element(*x[2], at) : 0;
    if (name == "Add") return a + b;
    if (name == "AddN") {
      double sum = 0;
      for (const value* v : x) sum += broadcast_element(*v, at);
      return sum;
    }
    if (name == "Sub") return a - b;
    if (name == "Mul") return a * b;
    if (name == "Maximum") return a > b ? a : b;
    if (name == "Minimum") return a < b ? a : b;
    if (name == "Equal") return a == b;
    if (name == "Less") return a < b;
    if (name == "Greater") return a > b;
    if (name == "Select") return a != 0 ? b : c;
    if (name == "Cast") return a;
    if (name == "Tanh") return std::tanh(a);
    if (name == "Sigmoid") return 1 / (1 + std::exp(-a));
    if (name == "Sin") return std::sin(a);
    if (name == "Square") return a * a;
    if (name == "Abs") return std::abs(a);
    if (name == "Neg") return -a;
    if (name == "FillLike") return b;
    if (name == "Exp") return std::exp(a);
    if (name == "Log") return std::log(a);
    if (name == "Sqrt") return std::sqrt(a);
    if (name == "Log1p") return std::log1p(a);
    if (name == "Rsqrt") return 1 / std::sqrt(a);
    if (name == "Relu") return a > 0 ? a : 0;
    throw std::logic_error("the reference does not know " + std::string(name));
  }

  static double reduce(const graph_node& node, const value& x, const index& at) {
    const std::int64_t* attribute = node.op->attribute;
    const bool keep = attribute[1] != 0;
    std::vector<bool> folded(static_cast<std::size_t>(x.shape.rank), attribute[2] == 0);
    for (int k = 0; k < attribute[2]; ++k) {
      const std::int64_t axis = attribute[3 + k];
      folded[static_cast<std::size_t>(axis < 0 ? axis + x.shape.rank : axis)] = true;
    }
    const auto f = static_cast<fold>(attribute[0]);
    double total = f == fold::max ? -HUGE_VAL : 0;
    double count = 0;
    index i(static_cast<std::size_t>(x.shape.rank));
    if (!x.elements.empty()) do {
        bool mine = true;
        std::size_t out = 0;
        for (std::size_t k = 0; k < i.size(); ++k) {
          if (!folded[k]) mine = mine && at[out] == i[k];
          if (!folded[k] || keep) ++out;
        }
        if (!mine) continue;
        const double v = x.elements[offset(x.shape, i)];
        total = f == fold::max ? (v > total ? v : total) : total + v;
        ++count;
      } while (next(x.shape, i));
    if (f == fold::mean) return total / count;
    if (f == fold::sum || f == fold::max) return total;
    throw std::logic_error("the reference does not know this fold");
  }

  static double softmax(const graph_node& node, const value& x, const index& at) {
    const auto axis =
        static_cast<int>(node.op->attribute[1] < 0 ? node.op->attribute[1] + x.shape.rank : node.op->attribute[1]);
    index i = at;
    double highest = -HUGE_VAL;
    for (int k = 0; k < x.shape[axis]; ++k) {
      i[static_cast<std::size_t>(axis)] = k;
      highest = std::fmax(highest, x.elements[offset(x.shape, i)]);
    }
    double total = 0;
    for (int k = 0; k < x.shape[axis]; ++k) {
      i[static_cast<std::size_t>(axis)] = k;
      total += std::exp(x.elements[offset(x.shape, i)] - highest);
    }
    return std::exp(x.elements[offset(x.shape, at)] - highest) / total;
  }

  static double own(const graph_node& node, const std::vector<const value*>& x, const index& at) {
    const std::string_view name = node.op->name;
    if (name == "Sort" || name == "TopK") return sorted(node, *x[0], at);
    if (name == "Conv2D") return convolved(node, *x[0], *x[1], at);
    if (name == "MaxPool") return pooled(node, *x[0], at);
    if (name == "TakeAlongAxis") return taken_along(*x[0], *x[1], at);
    return x.size() == 2 ? taken(node, *x[0], *x[1], at) : scan(node, *x[0], at);
  }

  /// Along the one axis of sequences (batch, width, channels).
  static double convolved(const graph_node& node, const value& x, const value& filter, const index& at) {
    const detail::window_options o(node.op->attribute);
    const auto before = detail::padding_of(o, 1, x.shape[1], filter.shape[0]).before;
    double total = 0;
    for (int k = 0; k < filter.shape[0]; ++k)
      for (int c = 0; c < x.shape[2]; ++c) {
        const int from = at[1] * o.stride[1] - static_cast<int>(before) + k * o.dilation[1];
        if (from >= 0 && from < x.shape[1])
          total += x.elements[offset(x.shape, {at[0], from, c})] * filter.elements[offset(filter.shape, {k, c, at[2]})];
      }
    return total;
  }

  /// Images (batch, 1, width, channels).
  static double pooled(const graph_node& node, const value& x, const index& at) {
    const detail::window_options o(node.op->attribute);
    const auto before = detail::padding_of(o, 1, x.shape[2], o.window[1]).before;
    double most = -HUGE_VAL;
    for (int k = 0; k < o.window[1]; ++k) {
      const int from = at[2] * o.stride[1] - static_cast<int>(before) + k;
      if (from >= 0 && from < x.shape[2]) most = std::fmax(most, x.elements[offset(x.shape, {at[0], 0, from, at[3]})]);
    }
    return most;
  }

  /// The element that is at this place in its row, or its number.
  static double sorted(const graph_node& node, const value& x, const index& at) {
    const int axis = detail::sort_axis(*node.op, x.shape.rank);
    const bool down = node.op->attribute[1] != 0;
    std::vector<std::pair<double, int>> row;
    index i = at;
    for (int k = 0; k < x.shape[axis]; ++k) {
      i[static_cast<std::size_t>(axis)] = k;
      row.emplace_back(x.elements[offset(x.shape, i)], k);
    }
    std::stable_sort(row.begin(), row.end(),
                     [&](const auto& a, const auto& b) { return down ? a.first > b.first : a.first < b.first; });
    const auto& found = row[static_cast<std::size_t>(at[static_cast<std::size_t>(axis)])];
    return node.op->name == "Sort" ? found.first : found.second;
  }

  /// Programs have numbers of one element a row: the axis is where they have one.
  static double taken_along(const value& numbers, const value& x, const index& at) {
    index i = at;
    for (int k = 0; k < x.shape.rank; ++k)
      if (numbers.shape[k] != x.shape[k])
        i[static_cast<std::size_t>(k)] = static_cast<int>(numbers.elements[offset(numbers.shape, at)]);
    return x.elements[offset(x.shape, i)];
  }

  static double scan(const graph_node& node, const value& x, const index& at) {
    const int axis = detail::scan_axis(*node.op, x.shape.rank);
    const bool backwards = detail::scans_backwards(*node.op), sums = node.op->name == "Cumsum";
    const int last = at[static_cast<std::size_t>(axis)];
    index i = at;
    double result = sums ? 0 : -HUGE_VAL;
    for (int k = backwards ? last : 0; k < (backwards ? x.shape[axis] : last + 1); ++k) {
      i[static_cast<std::size_t>(axis)] = k;
      const double element = x.elements[offset(x.shape, i)];
      result = sums ? result + element : std::fmax(result, element);
    }
    return result;
  }

  /// Numbers are one row.
  static double taken(const graph_node& node, const value& numbers, const value& x, const index& at) {
    const auto axis = static_cast<int>(node.op->attribute[0]);
    index i = at;
    int& k = i[static_cast<std::size_t>(axis)];
    const int n = x.shape[axis], number = static_cast<int>(numbers.elements[static_cast<std::size_t>(k)]);
    k = number < 0 ? number + n : number;
    k = k < 0 ? 0 : k >= n ? n - 1 : k;
    return x.elements[offset(x.shape, i)];
  }

  static double product(const value& a, const value& b, const extents& shape, const index& at) {
    double total = 0;
    const int inner = a.shape[a.shape.rank - 1];
    for (int k = 0; k < inner; ++k) {
      index left = at, right = at;
      left[static_cast<std::size_t>(shape.rank - 1)] = k;
      right[static_cast<std::size_t>(shape.rank - 2)] = k;
      total += matrix_element(a, left) * matrix_element(b, right);
    }
    return total;
  }
  /// Leading dimensions broadcast; the last two are the matrix's own, even where they are 1.
  static double matrix_element(const value& x, const index& at) {
    index mine(static_cast<std::size_t>(x.shape.rank));
    const std::size_t lead = at.size() - mine.size();
    for (std::size_t k = 0; k < mine.size(); ++k)
      mine[k] = k + 2 < mine.size() && x.shape[static_cast<int>(k)] == 1 ? 0 : at[lead + k];
    return x.elements[offset(x.shape, mine)];
  }

  static double look(const graph_node& node, const value& x, const extents& shape, const index& at) {
    const std::int64_t* attribute = node.op->attribute;
    switch (static_cast<view_kind>(attribute[0])) {
      case view_kind::reshape: return x.elements[offset(shape, at)];
      case view_kind::permute: {
        index i(at.size());
        for (std::size_t k = 0; k < at.size(); ++k) i[static_cast<std::size_t>(attribute[2 + k])] = at[k];
        return x.elements[offset(x.shape, i)];
      }
      case view_kind::broadcast: return broadcast_element(x, at);
      case view_kind::roll: {
        index i = at;
        const auto axis = static_cast<std::size_t>(attribute[2] < 0 ? attribute[2] + x.shape.rank : attribute[2]);
        const std::int64_t extent = x.shape[static_cast<int>(axis)];
        // The modulus of numbers below 0 is not above 0.
        i[axis] = static_cast<int>(((at[axis] - attribute[3]) % extent + extent) % extent);
        return x.elements[offset(x.shape, i)];
      }
      case view_kind::slice: {
        index i = at;
        for (int k = 0; k < attribute[1]; ++k) {
          std::int64_t begin = attribute[2 + 3 * k];
          const int last = attribute[4 + 3 * k] < 0 ? x.shape[k] - 1 : x.shape[k];
          if (begin < 0) begin += x.shape[k];
          begin = begin < 0 ? 0 : begin > last ? last : begin;
          i[static_cast<std::size_t>(k)] =
              static_cast<int>(begin + at[static_cast<std::size_t>(k)] * attribute[4 + 3 * k]);
        }
        return x.elements[offset(x.shape, i)];
      }
    }
    throw std::logic_error("the reference does not know this view");
  }

  static double joined(const graph_node& node, const std::vector<const value*>& x, const index& at) {
    const auto axis =
        static_cast<int>(node.op->attribute[0] < 0 ? node.op->attribute[0] + x[0]->shape.rank : node.op->attribute[0]);
    index i = at;
    int& position = i[static_cast<std::size_t>(axis)];
    std::size_t k = 0;
    while (position >= x[k]->shape[axis]) position -= x[k++]->shape[axis];
    return x[k]->elements[offset(x[k]->shape, i)];
  }

  written_graph written_;
  graph_view g_;
  std::vector<value> values_;
  std::vector<value> leaves_;
};

}  // namespace onto_test
