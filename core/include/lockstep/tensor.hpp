#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lockstep/export.hpp>

namespace lockstep {

/// Element types, named as in PyTorch.
enum class DType : std::uint8_t {
  boolean,
  uint8,
  int8,
  uint16,
  int16,
  uint32,
  int32,
  uint64,
  int64,
  float8_e4m3fn,
  float8_e5m2,
  float8_e4m3fnuz,
  float8_e5m2fnuz,
  float8_e8m0fnu,
  float16,
  bfloat16,
  float32,
  float64,
};

/// Bytes of one element.
[[nodiscard]] LOCKSTEP_API std::size_t element_size(DType dtype) noexcept;
/// "bfloat16", "float32", "bool", …: PyTorch's spelling without "torch.".
[[nodiscard]] LOCKSTEP_API std::string_view name_of(DType dtype) noexcept;
[[nodiscard]] LOCKSTEP_API bool is_floating_point(DType dtype) noexcept;

/// How a foreign tensor type becomes a Tensor without a copy; specialised for `at::Tensor` in <lockstep/torch.hpp>.
/// A specialisation has `static Tensor to_tensor(const T&)`.
template <class T>
struct TensorAdapter;

/// An immutable view of strided data together with whatever keeps that data alive.
///
/// Copying copies the handle, not the data. Sizes and strides count elements; strides may be zero or negative.
/// ```cpp
/// const std::array<float, 6> values{1, 2, 3, 4, 5, 6};
/// const auto t = Tensor::copy_of(std::span{values}, {2, 3});
/// ```
class LOCKSTEP_API Tensor {
 public:
  /// No data, dtype float32, sizes [0].
  Tensor();
  /// `data` is the address of element [0, 0, …]; `owner` keeps it alive (may be null for static data).
  /// Throws Error if a size is negative or sizes and strides differ in length.
  Tensor(std::shared_ptr<const void> owner, const void* data, DType dtype, std::vector<std::int64_t> sizes,
         std::vector<std::int64_t> strides);
  /// Row-major contiguous.
  Tensor(std::shared_ptr<const void> owner, const void* data, DType dtype, std::vector<std::int64_t> sizes);

  /// Any type with a TensorAdapter, for example at::Tensor once <lockstep/torch.hpp> is included.
  template <class T>
  requires requires(const T& value) { TensorAdapter<T>::to_tensor(value); }
  Tensor(const T& value) : Tensor(TensorAdapter<T>::to_tensor(value)) {}  // NOLINT(google-explicit-constructor)

  /// A contiguous, 64-byte aligned copy of `bytes`. Throws Error if the byte count does not fit dtype and sizes.
  static Tensor copy_of(std::span<const std::byte> bytes, DType dtype, std::vector<std::int64_t> sizes);
  /// The same from typed values: bool, (u)intN_t, float, double.
  template <class T>
  static Tensor copy_of(std::span<const T> values, std::vector<std::int64_t> sizes);

  [[nodiscard]] DType dtype() const noexcept { return dtype_; }
  [[nodiscard]] const std::vector<std::int64_t>& sizes() const noexcept { return sizes_; }
  [[nodiscard]] const std::vector<std::int64_t>& strides() const noexcept { return strides_; }
  [[nodiscard]] std::int64_t dim() const noexcept { return static_cast<std::int64_t>(sizes_.size()); }
  [[nodiscard]] std::int64_t size(std::int64_t axis) const;  ///< negative axes count from the end
  [[nodiscard]] std::int64_t numel() const noexcept;         ///< 1 for a 0-d tensor
  [[nodiscard]] const std::byte* data() const noexcept { return data_; }
  [[nodiscard]] const std::shared_ptr<const void>& owner() const noexcept { return owner_; }
  [[nodiscard]] bool is_contiguous() const noexcept;
  /// This tensor if contiguous, else a contiguous copy.
  [[nodiscard]] Tensor contiguous() const;
  /// Contiguous elements as T. Throws Error if the dtype is another or the tensor is not contiguous.
  template <class T>
  [[nodiscard]] std::span<const T> values() const;
  /// "bfloat16 [1, 160, 128]"
  [[nodiscard]] std::string to_string() const;

 private:
  std::shared_ptr<const void> owner_;
  const std::byte* data_ = nullptr;
  DType dtype_ = DType::float32;
  std::vector<std::int64_t> sizes_{0};
  std::vector<std::int64_t> strides_{1};
};

/// A set of tensors by name, in the order in which they were added: what a file of tensors holds, what a model takes
/// and gives. A plain value; copying copies handles.
/// ```cpp
/// NamedTensors outputs;
/// outputs.add("logits", logits);
/// write_safetensors("outputs.safetensors", outputs.entries());
/// ```
class LOCKSTEP_API NamedTensors {
 public:
  using Entries = std::vector<std::pair<std::string, Tensor>>;

  NamedTensors() = default;
  /// Throws Error as add() does.
  explicit NamedTensors(Entries entries);

  /// Throws Error if the name is empty or is in the set already.
  void add(std::string name, Tensor tensor);
  [[nodiscard]] const Entries& entries() const noexcept { return entries_; }
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  [[nodiscard]] std::vector<std::string> names() const;
  /// Null if there is no such tensor; valid until the next add().
  [[nodiscard]] const Tensor* find(std::string_view name) const noexcept;
  /// Throws Error with the nearest name if there is no such tensor.
  [[nodiscard]] const Tensor& at(std::string_view name) const;

 private:
  Entries entries_;
  std::map<std::string, std::size_t, std::less<>> index_;
};

/// "[1, 160, 128]"
[[nodiscard]] LOCKSTEP_API std::string shape_text(std::span<const std::int64_t> sizes);

/// The DType of a C++ element type.
template <class T>
[[nodiscard]] constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, bool>)
    return DType::boolean;
  else if constexpr (std::is_same_v<T, std::uint8_t>)
    return DType::uint8;
  else if constexpr (std::is_same_v<T, std::int8_t>)
    return DType::int8;
  else if constexpr (std::is_same_v<T, std::uint16_t>)
    return DType::uint16;
  else if constexpr (std::is_same_v<T, std::int16_t>)
    return DType::int16;
  else if constexpr (std::is_same_v<T, std::uint32_t>)
    return DType::uint32;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return DType::int32;
  else if constexpr (std::is_same_v<T, std::uint64_t>)
    return DType::uint64;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return DType::int64;
  else if constexpr (std::is_same_v<T, float>)
    return DType::float32;
  else {
    static_assert(std::is_same_v<T, double>, "no DType for this C++ type");
    return DType::float64;
  }
}

namespace detail {
/// Throws unless `tensor` is contiguous and of `dtype`.
LOCKSTEP_API void require_values(const Tensor& tensor, DType dtype);
}  // namespace detail

template <class T>
Tensor Tensor::copy_of(std::span<const T> values, std::vector<std::int64_t> sizes) {
  return copy_of(std::as_bytes(values), dtype_of<T>(), std::move(sizes));
}

template <class T>
std::span<const T> Tensor::values() const {
  detail::require_values(*this, dtype_of<T>());
  return {reinterpret_cast<const T*>(data_), static_cast<std::size_t>(numel())};
}

}  // namespace lockstep
