#include "runtime/fixed_shape.hpp"

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>
#include <lockstep/tensor.hpp>

namespace gemma4 {

void ensure_static_shape(const at::Tensor& tensor, at::IntArrayRef sizes, std::string_view what) {
  if (tensor.sizes() == sizes) return;
  throw lockstep::Error{fmt::format("{} is {}, the static graph has {}", what, lockstep::shape_text(tensor.sizes()),
                                    lockstep::shape_text(sizes)),
                        "pass tensors of the layout that the runtime was built for"};
}

}  // namespace gemma4
