// SPDX-License-Identifier: BSL-1.0
// What becomes of the values of a phase of a row kernel.
#pragma once

namespace onto::detail {

/// What a phase does with the values of its program, one for each element of the row, or (`value`) one for the row.
enum class phase_kind : int {
  fold,        ///< folds them
  kept_fold,   ///< folds and keeps them
  keep,        ///< keeps them
  value,       ///< it is one for the row
  store,       ///< stores them: the last phase of a map
  store_fold,  ///< folds them and stores that: the last phase of a reduction
};

}  // namespace onto::detail
