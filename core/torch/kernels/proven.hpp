#pragma once

#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "kernels/kernels.hpp"
#include "kernels/self_test.hpp"

namespace lockstep::kernels {

/// Which fast products may be used in this process: those whose class of shapes has passed the self-test, as long as no
/// class of the same form has failed it. Thread-safe.
class LOCKSTEP_API Proven {
 public:
  /// True if `fast` serves this shape; runs the self-test at the first shape of a class.
  [[nodiscard]] bool covers(Form form, const ProductShape& shape, const Product& fast, const Product& right);
  [[nodiscard]] KernelsReport report() const;

 private:
  /// Shapes that the same code computes, here and in LibTorch: N and K, and whether there is one row, few, or many.
  /// Sizes that grow with the text count by powers of two; K of Form::plain also by its remainder.
  using ShapeClass = std::tuple<Form, std::int64_t, std::int64_t, std::int64_t>;
  [[nodiscard]] static ShapeClass class_of(Form form, const ProductShape& shape);

  mutable std::mutex mutex_;
  std::set<ShapeClass> proved_;
  std::map<Form, std::string> refused_;  ///< what differs
};

}  // namespace lockstep::kernels
