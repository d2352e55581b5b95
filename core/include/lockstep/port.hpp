#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <lockstep/tensor.hpp>

namespace lockstep {

class Step;

/// The stable id of a port's C++ type: "family.name/version". Ids, never typeid, decide whether two ports fit.
/// Set it once beside the type with LOCKSTEP_PORT_TYPE; raise the version when the type's layout or meaning changes.
template <class T>
struct PortType;

/// Use at global scope: `LOCKSTEP_PORT_TYPE(gemma4::StaticBatch, "gemma4.static_batch/1");`
#define LOCKSTEP_PORT_TYPE(Type, Id)           \
  template <>                                  \
  struct lockstep::PortType<Type> {            \
    static constexpr std::string_view id = Id; \
  }

template <>
struct PortType<Tensor> {
  static constexpr std::string_view id = "lockstep.tensor/1";
};
template <>
struct PortType<NamedTensors> {
  static constexpr std::string_view id = "lockstep.tensors/1";
};
template <>
struct PortType<std::string> {
  static constexpr std::string_view id = "lockstep.text/1";
};

/// Receives the tensors inside a result: for the run record (dtype and shape) and for `--dump`.
using TensorVisitor = std::function<void(std::string_view name, const Tensor& tensor)>;

/// A result that holds tensors shows them by a function found beside its type:
/// `void visit_tensors(const StaticBatch& batch, const lockstep::TensorVisitor& visit);`
inline void visit_tensors(const Tensor& tensor, const TensorVisitor& visit) { visit("", tensor); }
inline void visit_tensors(const NamedTensors& tensors, const TensorVisitor& visit) {
  for (const auto& [name, tensor] : tensors.entries()) visit(name, tensor);
}

/// How a result goes to another process and back (`isolation = "process"`): wholly described by tensors. A type without
/// a specialisation stays in its process. Specialise it beside the type, before the first port of it:
/// ```cpp
/// template <>
/// struct lockstep::PortTransfer<mine::Batch> {
///   static lockstep::NamedTensors to_tensors(const mine::Batch& batch);
///   static mine::Batch from_tensors(const lockstep::NamedTensors& tensors);
/// };
/// ```
/// What `from_tensors` makes of the result of `to_tensors` must be equal to the original. Values, layout and alignment
/// of the tensors are kept, and so is memory that several of them share.
template <class T>
struct PortTransfer;

template <>
struct LOCKSTEP_API PortTransfer<Tensor> {
  static NamedTensors to_tensors(const Tensor& tensor);
  static Tensor from_tensors(const NamedTensors& tensors);
};
template <>
struct LOCKSTEP_API PortTransfer<NamedTensors> {
  static NamedTensors to_tensors(const NamedTensors& tensors);
  static NamedTensors from_tensors(const NamedTensors& tensors);
};
template <>
struct LOCKSTEP_API PortTransfer<std::string> {
  static NamedTensors to_tensors(const std::string& text);
  static std::string from_tensors(const NamedTensors& tensors);
};

/// PortTransfer<T> without its type.
struct Transfer {
  NamedTensors (*to_tensors)(const void* value);
  std::shared_ptr<const void> (*from_tensors)(const NamedTensors& tensors);
};

namespace detail {
template <class T>
inline constexpr Transfer transfer{
    [](const void* value) { return PortTransfer<T>::to_tensors(*static_cast<const T*>(value)); },
    [](const NamedTensors& tensors) -> std::shared_ptr<const void> {
      return std::make_shared<const T>(PortTransfer<T>::from_tensors(tensors));
    }};

/// Null if T has no PortTransfer.
template <class T>
[[nodiscard]] constexpr const Transfer* transfer_of() {
  if constexpr (requires { sizeof(PortTransfer<T>); })
    return &transfer<T>;
  else
    return nullptr;
}
}  // namespace detail

/// What `describe`, the binder and the docs know about a port.
struct PortInfo {
  std::string name;
  std::string type;  ///< PortType<T>::id
  std::string doc;
  bool optional = false;
  const Transfer* transfer = nullptr;  ///< null: its values stay in their process
};

struct OptionalTag {};
/// Last argument of a port that may stay empty.
inline constexpr OptionalTag optional{};

/// The untyped half of In<T>. `bind` belongs to the engine and to test benches.
class LOCKSTEP_API InPort {
 public:
  InPort(Step& step, std::string name, std::string_view type, std::string doc, bool is_optional,
         const Transfer* transfer);
  InPort(const InPort&) = delete;
  InPort& operator=(const InPort&) = delete;

  [[nodiscard]] const PortInfo& info() const noexcept { return info_; }
  [[nodiscard]] bool has_value() const noexcept { return value_ != nullptr; }
  [[nodiscard]] const std::shared_ptr<const void>& value() const noexcept { return value_; }
  void bind(std::shared_ptr<const void> value) noexcept { value_ = std::move(value); }

 protected:
  ~InPort() = default;
  /// Throws Error naming the port if nothing is bound (an optional port must be tested first).
  [[nodiscard]] const void* required() const;

 private:
  PortInfo info_;
  std::shared_ptr<const void> value_;
};

/// An input of a step; declares itself to the step that it is a member of.
/// ```cpp
/// In<gemma4::StaticBatch> batch{*this, "batch", "padded inputs"};
/// In<Tensor> visual{*this, "visual_embeds", "[V, H]", optional};
/// ```
template <class T>
class In final : public InPort {
 public:
  In(Step& step, std::string name, std::string doc)
      : InPort(step, std::move(name), PortType<T>::id, std::move(doc), false, detail::transfer_of<T>()) {}
  In(Step& step, std::string name, std::string doc, OptionalTag)
      : InPort(step, std::move(name), PortType<T>::id, std::move(doc), true, detail::transfer_of<T>()) {}

  [[nodiscard]] const T& operator*() const { return *static_cast<const T*>(required()); }
  [[nodiscard]] const T* operator->() const { return static_cast<const T*>(required()); }
  /// Shares ownership, for results that keep an input alive. Null if nothing is bound.
  [[nodiscard]] std::shared_ptr<const T> shared() const { return std::static_pointer_cast<const T>(value()); }
  explicit operator bool() const noexcept { return has_value(); }
};

/// The untyped half of Out<T>. `take` and `publish` belong to the engine and to test benches.
class LOCKSTEP_API OutPort {
 public:
  OutPort(Step& step, std::string name, std::string_view type, std::string doc, bool is_optional,
          const Transfer* transfer);
  OutPort(const OutPort&) = delete;
  OutPort& operator=(const OutPort&) = delete;

  [[nodiscard]] const PortInfo& info() const noexcept { return info_; }
  [[nodiscard]] bool has_value() const noexcept { return value_ != nullptr; }
  [[nodiscard]] const std::shared_ptr<const void>& value() const noexcept { return value_; }
  [[nodiscard]] std::shared_ptr<const void> take() noexcept { return std::exchange(value_, nullptr); }
  void publish(std::shared_ptr<const void> value) noexcept { value_ = std::move(value); }
  /// Shows the tensors of the value, if it is set and its type has any.
  virtual void visit(const TensorVisitor& visitor) const = 0;

 protected:
  virtual ~OutPort();

 private:
  PortInfo info_;
  std::shared_ptr<const void> value_;
};

/// An output of a step: `logits = value;` publishes it, immutable from then on.
template <class T>
class Out final : public OutPort {
 public:
  Out(Step& step, std::string name, std::string doc)
      : OutPort(step, std::move(name), PortType<T>::id, std::move(doc), false, detail::transfer_of<T>()) {}
  Out(Step& step, std::string name, std::string doc, OptionalTag)
      : OutPort(step, std::move(name), PortType<T>::id, std::move(doc), true, detail::transfer_of<T>()) {}

  template <class U>
  requires std::constructible_from<T, U&&> Out& operator=(U&& value) {
    publish(std::make_shared<const T>(std::forward<U>(value)));
    return *this;
  }
  /// Shares an object that exists already; T may be an abstract class.
  template <class U>
  requires std::convertible_to<U*, const T*> Out& operator=(std::shared_ptr<U> value) {
    publish(std::shared_ptr<const T>(std::move(value)));
    return *this;
  }

  void visit(const TensorVisitor& visitor) const override {
    if constexpr (requires(const T& v) { visit_tensors(v, visitor); }) {
      if (has_value()) visit_tensors(*static_cast<const T*>(value().get()), visitor);
    }
  }
};

}  // namespace lockstep
