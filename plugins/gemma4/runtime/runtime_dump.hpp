#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <lockstep/export.hpp>
#include <lockstep/port.hpp>
#include <lockstep/tensor.hpp>

namespace gemma4 {

/// Tensors that a runtime computed elsewhere, by the name "<stage>.<output>": "token_embedding.text_embeds",
/// "build_static_inputs.batch.input_ids". They lie in a folder of safetensors files: the tensors of a file that is
/// named as a stage need no stage in their names, which is what `lockstep run --dump` writes.
class LOCKSTEP_API RuntimeDump {
 public:
  /// Throws lockstep::Error if the folder has no safetensors file, one is malformed, or two have a tensor of one name.
  [[nodiscard]] static RuntimeDump open(const std::filesystem::path& folder);

  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_; }
  [[nodiscard]] std::optional<lockstep::Tensor> find(std::string_view name) const;
  /// The name nearest to one that is not there, or "".
  [[nodiscard]] std::string nearest(std::string_view name) const;
  /// Shows what lies under "<stage>." with that part of the name taken off.
  void show(std::string_view stage, const lockstep::TensorVisitor& visit) const;
  [[nodiscard]] std::size_t size() const noexcept { return tensors_.size(); }

 private:
  RuntimeDump() = default;
  std::filesystem::path folder_;
  std::map<std::string, lockstep::Tensor, std::less<>> tensors_;
};

}  // namespace gemma4
