// SPDX-License-Identifier: BSL-1.0
// What becomes of the values of a stage of a row kernel.
#pragma once

namespace onto::detail {

/// What a stage does with the values of its program, one for each element of the row, or (`value`) one for the row.
enum class stage_kind : int {
  fold,        ///< folds them
  kept_fold,   ///< folds and keeps them
  keep,        ///< keeps them
  value,       ///< it is one for the row
  store,       ///< stores them: the last stage of a map
  store_fold,  ///< folds them and stores that: the last stage of a reduction
};

}  // namespace onto::detail
