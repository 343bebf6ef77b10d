// SPDX-License-Identifier: BSL-1.0
// Data in batches, as a training loop feeds it: in an order of its own in every epoch, prepared by a thread while a
// step runs.
#pragma once

#include <onto/ops/random.hpp>
#include <onto/session/batch_options.hpp>
#include <onto/tensor/tensor_ref.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace onto {

namespace detail {

/// Data as rows: all of a tensor along its first axis.
template <class T, int N, int... Dims>
tensor_ref<T, dyn, Dims...> rows_from(const T* data, const extents& e, shape<N, Dims...>) {
  return tensor_ref<T, dyn, Dims...>(data, e);
}
template <class Tensor>
  requires is_tensor<Tensor>
auto rows_of(const Tensor& t) {
  return rows_from<typename Tensor::element_type>(t.data(), t.extent_values(), typename Tensor::shape_type{});
}
template <class Range>
  requires(!is_tensor<Range> && requires(const Range& r) { std::data(r); })
auto rows_of(const Range& r) { return tensor_ref<std::remove_cvref_t<decltype(*std::data(r))>, dyn>(r); }
template <class X>
struct batches_are_of_data {
  using reported = void;
  static constexpr bool ok = sizeof(X) == 0;
  static_assert(ok == true,
                "[onto.batches] batches are of data: a tensor, a vector, an array or a span, or several in "
                "std::tie(images, labels)");
};
template <class X>
  requires(!is_tensor<X> && !requires(const X& x) { std::data(x); })
tensor_ref<float, dyn> rows_of(const X&) {
  static_cast<void>(static_cast<typename batches_are_of_data<X>::reported*>(nullptr));
  return tensor_ref<float, dyn>(std::span<const float>{}, {0});
}
template <class... Data>
auto rows_of(const std::tuple<Data&...>& all) {
  return std::apply([](const Data&... each) { return std::make_tuple(rows_of(each)...); }, all);
}

/// What does not own the values it has.
template <class Data>
inline constexpr bool refers = std::is_lvalue_reference_v<Data>;
template <class T, int... Dims>
inline constexpr bool refers<tensor_ref<T, Dims...>> = true;
template <class T, std::size_t N>
inline constexpr bool refers<std::span<T, N>> = true;
template <class... Data>
inline constexpr bool refers<std::tuple<Data&...>> = true;

template <class Data>
struct data_would_be_gone {
  static constexpr bool ok = refers<Data>;
  static_assert(ok == true,
                "[onto.batches] the data is a temporary, which is gone before the first batch; give it a name");
};

/// Numbers 0 to `count` - 1 in a random order: a function of seed and epoch.
/// *Source* R. A. Fisher and F. Yates, in Durstenfeld's form, CACM 7(7), 1964.
inline std::vector<std::int64_t> shuffled(std::int64_t count, std::uint64_t seed, std::int64_t epoch) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  for (std::int64_t k = 0; k < count; ++k) order[static_cast<std::size_t>(k)] = k;
  for (auto left = static_cast<std::uint64_t>(count); left > 1; --left) {
    // The last word keeps these apart from the numbers of tensors, where it is 0.
    const philox_words r = philox({{static_cast<std::uint32_t>(left), static_cast<std::uint32_t>(left >> 32),
                                    static_cast<std::uint32_t>(epoch), 0x62617463u}},
                                  static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
    const std::uint64_t at = ((std::uint64_t{r.word[0]} << 32) | r.word[1]) % left;
    std::swap(order[static_cast<std::size_t>(left - 1)], order[static_cast<std::size_t>(at)]);
  }
  return order;
}

struct as_it_is {};

/// What the loop gets: the rows, or what a function makes of them.
template <class Prepare, class Rows>
struct batch_item;
template <class T, int... Dims>
struct batch_item<as_it_is, tensor_ref<T, Dims...>> : std::type_identity<tensor_ref<T, Dims...>> {};
template <class... Refs>
struct batch_item<as_it_is, std::tuple<Refs...>> : std::type_identity<std::tuple<Refs...>> {};
template <class Prepare, class T, int... Dims>
struct batch_item<Prepare, tensor_ref<T, Dims...>>
    : std::type_identity<std::invoke_result_t<Prepare&, std::int64_t, tensor_ref<T, Dims...>>> {};
template <class Prepare, class... Refs>
struct batch_item<Prepare, std::tuple<Refs...>>
    : std::type_identity<std::invoke_result_t<Prepare&, std::int64_t, Refs...>> {};

/// Memory for rows that do not lie next to each other.
template <class T, int... Dims>
class row_buffer {
 public:
  explicit row_buffer(const tensor_ref<T, Dims...>& all) : all_(all) {}

  /// Rows `order[0]` to `order[count - 1]`, in memory for `most` of them.
  tensor_ref<T, Dims...> gather(const std::int64_t* order, std::int64_t count, std::int64_t most) {
    const std::size_t width = all_.size() / static_cast<std::size_t>(all_.shape()[0]);
    if (!values_) values_ = std::make_unique<T[]>(static_cast<std::size_t>(most) * width + 1);
    for (std::int64_t k = 0; k < count; ++k)
      if (width > 0)
        std::copy_n(all_.data() + static_cast<std::size_t>(order[k]) * width, width,
                    values_.get() + static_cast<std::size_t>(k) * width);
    return rows(values_.get(), count);
  }
  /// Rows as they lie.
  tensor_ref<T, Dims...> slice(std::int64_t first, std::int64_t count) const {
    return rows(
        all_.data() + static_cast<std::size_t>(first) * (all_.size() / static_cast<std::size_t>(all_.shape()[0])),
        count);
  }

 private:
  tensor_ref<T, Dims...> rows(const T* from, std::int64_t count) const {
    extents e = all_.extent_values();
    e[0] = static_cast<int>(count);
    return tensor_ref<T, Dims...>(from, e);
  }

  tensor_ref<T, Dims...> all_;
  std::unique_ptr<T[]> values_;
};

/// Buffers for every array of the data.
template <class Rows>
class batch_buffers;
template <class T, int... Dims>
class batch_buffers<tensor_ref<T, Dims...>> : public batch_buffers<std::tuple<tensor_ref<T, Dims...>>> {
 public:
  explicit batch_buffers(const tensor_ref<T, Dims...>& all)
      : batch_buffers<std::tuple<tensor_ref<T, Dims...>>>(std::make_tuple(all)) {}
};
template <class... Refs>
class batch_buffers<std::tuple<Refs...>> {
 public:
  explicit batch_buffers(const std::tuple<Refs...>& all)
      : buffers_(std::apply([](const Refs&... r) { return std::make_tuple(buffer_of(r)...); }, all)) {}

  /// Calls `use` with the rows of one batch.
  template <class Use>
  decltype(auto) rows(const std::int64_t* order, std::int64_t first, std::int64_t count, std::int64_t most, Use use) {
    return std::apply(
        [&](auto&... b) { return use((order ? b.gather(order + first, count, most) : b.slice(first, count))...); },
        buffers_);
  }

 private:
  template <class T, int... Dims>
  static row_buffer<T, Dims...> buffer_of(const tensor_ref<T, Dims...>& r) {
    return row_buffer<T, Dims...>(r);
  }
  std::tuple<decltype(buffer_of(std::declval<const Refs&>()))...> buffers_;
};

template <class T, int... Dims>
std::int64_t count_rows(const tensor_ref<T, Dims...>& r) {
  return r.shape()[0];
}
/// *Throws* `invalid_argument_error` where arrays have different numbers of rows.
template <class First, class... Rest>
std::int64_t count_rows(const std::tuple<First, Rest...>& all) {
  return std::apply(
      [](const First& first, const Rest&... rest) {
        const std::int64_t n = count_rows(first);
        for (const std::int64_t other : {n, count_rows(rest)...})
          if (other != n)
            fail<invalid_argument_error>(message("[onto.batches] the arrays have ")
                                         << n << " and " << other << " rows; give one of each for every example");
        return n;
      },
      all);
}

}  // namespace detail

/// The data of an epoch in batches of `size` rows, the last one smaller where the rows are no multiple:
///
///     batches data(std::tie(images, labels), 32, {.shuffle = 7});
///     for (int epoch = 0; epoch < 20; ++epoch)
///       for (const auto& [x, y] : data) step(input = x, wanted = y);
///
/// A loop over it goes to the end of the epoch; the next loop has the next epoch, in another order. What a loop was
/// left with by `break` the next goes on with. Which rows batch number `k` has is a function of the seed and of `k`: so
/// `position()` is all there is to save, and `seek(k)` goes on from there.
///
/// The data is referred to, and must live as long. An item is valid until the next one is asked for. One thread at a
/// time uses a `batches`. With a function as the last argument an item is what `prepare(k, x, y)` returns, called by
/// the thread that prepares.
template <class Rows, class Prepare = detail::as_it_is>
class batches {
 public:
  /// The rows of a single array, else a tuple of those of each; or what the function returns.
  using value_type = typename detail::batch_item<Prepare, Rows>::type;

  /// *Throws* `invalid_argument_error` where there is no whole batch, or arrays have different numbers of rows.
  template <class Data>
  batches(Data&& data, int size, batch_options options = {}, Prepare prepare = {})
      : rows_(detail::rows_of(data)),
        count_(detail::count_rows(rows_)),
        size_(size),
        options_(options),
        prepare_(static_cast<Prepare&&>(prepare)) {
    static_cast<void>(detail::data_would_be_gone<Data>{});
    if (size < 1 || options.prefetch < 0 || count_ < (options.drop_last ? size : 1))
      detail::fail<invalid_argument_error>(detail::message("[onto.batches] ")
                                           << count_ << " rows make no batch of " << size << " with prefetch "
                                           << options.prefetch << "; a size is 1 or more, prefetch 0 or more");
    per_epoch_ = options.drop_last ? count_ / size : (count_ + size - 1) / size;
    const int ahead = is_prepared() ? options.prefetch + 1 : 1;
    for (int k = 0; k < ahead; ++k) slots_.push_back(std::make_unique<slot>(rows_));
  }
  batches(const batches&) = delete;
  batches& operator=(const batches&) = delete;
  ~batches() { stop(); }

  /// How many batches an epoch has.
  std::int64_t per_epoch() const { return per_epoch_; }
  /// How many batches were given, over all epochs: the number of the next one.
  std::int64_t position() const { return position_; }
  /// Goes on with batch number `position`. *Throws* `invalid_argument_error` where it is negative.
  void seek(std::int64_t position) {
    if (position < 0)
      detail::fail<invalid_argument_error>(detail::message("[onto.batches] a position is 0 or more, not ") << position);
    stop();
    position_ = made_ = position;
  }

  /// Passes through the batches up to the end of the epoch.
  class iterator {
   public:
    using value_type = typename batches::value_type;
    using difference_type = std::ptrdiff_t;

    iterator() = default;
    explicit iterator(batches& of) : of_(&of) { item_ = &of.next(); }

    const value_type& operator*() const { return *item_; }
    const value_type* operator->() const { return item_; }
    iterator& operator++() {
      item_ = of_->position_ % of_->per_epoch_ == 0 ? nullptr : &of_->next();
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const iterator& i, std::default_sentinel_t) { return !i.item_; }

   private:
    batches* of_ = nullptr;
    const value_type* item_ = nullptr;
  };

  /// *Throws* what preparing a batch threw, as going on does; the position is still that batch's.
  iterator begin() { return iterator(*this); }
  std::default_sentinel_t end() const { return {}; }

 private:
  static constexpr bool has_function = !std::is_same_v<Prepare, detail::as_it_is>;

  struct slot {
    explicit slot(const Rows& rows) : buffers(rows) {}
    detail::batch_buffers<Rows> buffers;
    std::optional<value_type> item;
  };

  /// Whether there is anything to do ahead: rows as they lie are only referred to.
  bool is_prepared() const { return options_.prefetch > 0 && (options_.shuffle || has_function); }

  slot& slot_of(std::int64_t k) { return *slots_[static_cast<std::size_t>(k) % slots_.size()]; }

  /// Makes batch number `k`. One thread at a time does.
  void make(std::int64_t k) {
    const std::int64_t epoch = k / per_epoch_, first = k % per_epoch_ * size_;
    if (options_.shuffle && epoch != order_of_) {
      order_ = detail::shuffled(count_, *options_.shuffle, epoch);
      order_of_ = epoch;
    }
    slot& s = slot_of(k);
    s.item.reset();
    s.buffers.rows(options_.shuffle ? order_.data() : nullptr, first, first + size_ > count_ ? count_ - first : size_,
                   size_, [&](const auto&... rows) {
                     if constexpr (has_function)
                       s.item.emplace(prepare_(k, rows...));
                     else
                       s.item.emplace(rows...);
                   });
  }

  const value_type& next() {
    const std::int64_t k = position_;
    if (is_prepared())
      take(k);
    else
      make(k);
    position_ = k + 1;
    return *slot_of(k).item;
  }

  /// Waits for batch number `k`; the one before it may be overwritten from now on.
  void take(std::int64_t k) {
    {
      std::unique_lock lock(mutex_);
      held_ = k;
      if (!thread_.joinable()) thread_ = std::thread([this] { prepare_ahead(); });
      changed_.notify_all();
      changed_.wait(lock, [&] { return made_ > k || failure_; });
      if (made_ > k) return;
    }
    const std::exception_ptr failure = failure_;
    stop();
    std::rethrow_exception(failure);
  }

  void prepare_ahead() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return stopped_ || made_ < held_ + static_cast<std::int64_t>(slots_.size()); });
      if (stopped_) return;
      const std::int64_t k = made_;
      lock.unlock();
      std::exception_ptr failure;
      try {
        make(k);
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      if (!failure) ++made_;
      failure_ = failure;
      changed_.notify_all();
      if (failure) return;
    }
  }

  /// Ends the thread; what it has made stays.
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
      changed_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
    stopped_ = false;
    failure_ = nullptr;
  }

  Rows rows_;
  std::int64_t count_, size_, per_epoch_ = 0;
  batch_options options_;
  Prepare prepare_;
  std::vector<std::unique_ptr<slot>> slots_;
  std::vector<std::int64_t> order_;  // of one epoch
  std::int64_t order_of_ = -1;
  std::int64_t position_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t held_ = 0;  // the number of the batch that is used, or waited for
  std::int64_t made_ = 0;  // how many are there
  bool stopped_ = false;
  std::exception_ptr failure_;
  std::thread thread_;
};

template <class Data>
batches(Data&& data, int size, batch_options options = {}) -> batches<decltype(detail::rows_of(data))>;
template <class Data, class Prepare>
batches(Data&& data, int size, batch_options options, Prepare prepare)
    -> batches<decltype(detail::rows_of(data)), Prepare>;

}  // namespace onto
