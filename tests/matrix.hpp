// SPDX-License-Identifier: BSL-1.0
// A matrix as Eigen's are to others: it says how it lies in memory.
#pragma once

#include <cstddef>
#include <vector>

/// Rows `outer` elements apart, or columns where it is not row-major.
template <class T, bool RowMajor, int InnerStride = 1>
struct matrix {
  static constexpr int IsRowMajor = RowMajor, IsVectorAtCompileTime = 0, InnerStrideAtCompileTime = InnerStride;

  matrix(long rows, long columns) : matrix(rows, columns, RowMajor ? columns : rows) {}
  matrix(long rows, long columns, long outer)
      : values(static_cast<std::size_t>((RowMajor ? rows : columns) * outer)),
        rows_(rows),
        columns_(columns),
        outer_(outer) {}

  T* data() { return values.data(); }
  const T* data() const { return values.data(); }
  long size() const { return rows_ * columns_; }
  long rows() const { return rows_; }
  long cols() const { return columns_; }
  long innerStride() const { return InnerStride; }
  long outerStride() const { return outer_; }

  std::vector<T> values;

 private:
  long rows_, columns_, outer_;
};
