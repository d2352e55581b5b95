#include "reference/weights.hpp"

#include <lockstep/torch.hpp>

namespace gemma4 {

at::Tensor Weights::operator()(const std::string& name) const {
  return lockstep::to_torch(checkpoint_->weight(prefix_ + name)).to(dtype_);
}

}  // namespace gemma4
