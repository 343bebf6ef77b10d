// SPDX-License-Identifier: BSL-1.0
// Text as an element of tensors: a handle of 8 bytes to immutable bytes that all equal texts share. What moves and
// compares elements so moves and compares integers, and no memory of a plan depends on how long a text is.
#pragma once

#include <onto/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>

ONTO_BEGIN_RUNS_ONCE
namespace onto {

class text;

namespace detail {

/// The bytes of all texts that are equal, and how many handles there are.
struct text_block;

/// The block of these bytes, and a reference to it: null of none. *Throws* `invalid_argument_error` for more than
/// `text::max_size` bytes, `resource_exhausted_error`. *Complexity* linear in the bytes.
ONTO_RUNTIME const text_block* find_text(std::string_view bytes);
ONTO_RUNTIME void retain_text(const text_block* block) noexcept;
ONTO_RUNTIME void release_text(const text_block* block) noexcept;
ONTO_RUNTIME std::string_view bytes_of_text(const text_block* block) noexcept;

/// Makes `count` texts at `to` handles of what was computed at `from` and has been retained: that memory owns nothing
/// then.
ONTO_RUNTIME void take_texts(text* to, const void* from, std::int64_t count) noexcept;

/// How many different texts there are now in this process, the empty one aside: for tests.
ONTO_RUNTIME std::size_t count_texts() noexcept;

/// What a text is made of: a `text`, a `std::string`, a `std::string_view`, a literal, which ends at its first NUL.
template <class S>
concept text_like = std::is_convertible_v<const S&, std::string_view>;

}  // namespace detail

/// A text, an element of tensors: any bytes, none of which means anything to onto; what is printed is taken for UTF-8.
/// Immutable, so a copy shares the bytes, and equal texts are one: comparing takes no longer for long ones. From
/// several threads it is used as a std::shared_ptr is.
class text {
 public:
  /// The most bytes of a text.
  static constexpr std::size_t max_size = 0x7fffffff;

  /// The text without bytes.
  constexpr text() noexcept = default;
  /// A copy of the bytes. *Throws* `invalid_argument_error` for more than `max_size`, `resource_exhausted_error`.
  /// *Complexity* linear in the bytes.
  template <detail::text_like S>
    requires(!std::is_same_v<S, text>)
  text(const S& bytes) : block_(detail::find_text(bytes)) {}

  text(const text& other) noexcept : block_(other.block_) {
    if (block_) detail::retain_text(block_);
  }
  text(text&& other) noexcept : block_(other.block_) { other.block_ = nullptr; }
  text& operator=(text other) noexcept {
    const detail::text_block* const mine = block_;
    block_ = other.block_;
    other.block_ = mine;
    return *this;
  }
  ~text() {
    if (block_) detail::release_text(block_);
  }

  /// The bytes; they live as long as this text or an equal one. A NUL is behind them.
  std::string_view view() const noexcept { return block_ ? detail::bytes_of_text(block_) : std::string_view(""); }
  operator std::string_view() const noexcept { return view(); }
  std::string str() const { return std::string(view().data(), view().size()); }
  std::size_t size() const noexcept { return view().size(); }
  bool empty() const noexcept { return !block_; }

  friend bool operator==(const text& a, const text& b) noexcept { return a.block_ == b.block_; }
  template <detail::text_like S>
    requires(!std::is_same_v<S, text>)
  friend bool operator==(const text& a, const S& b) { return a.view() == std::string_view(b); }

  /// Writes the bytes.
  template <class Traits>
  friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, const text& t) {
    return out << t.view();
  }

 private:
  const detail::text_block* block_ = nullptr;
};

}  // namespace onto
ONTO_END_RUNS_ONCE

#if ONTO_DEFINITIONS
#include <onto/core/text_table.hpp>
#endif
