#include "steps/recording_comparison.hpp"

#include <ATen/core/Tensor.h>
#include <fmt/format.h>

#include <iterator>
#include <lockstep/torch.hpp>
#include <span>

namespace gemma4 {

using lockstep::Actual;
using lockstep::Expected;
using lockstep::Tensor;

namespace {

Tensor characters(const std::string& text) {
  return Tensor::copy_of(std::as_bytes(std::span(text)), lockstep::DType::uint8, {std::ssize(text)});
}

}  // namespace

void RecordingComparison::operator()(std::string_view name, const Tensor& computed) {
  const auto found = recording_.tensors().find(name);
  if (found == recording_.tensors().end()) return;
  const auto& [subject, entry] = *found;
  const auto actual = recording_.kept_part(name, computed);
  const auto expected = recording_.values(name);
  if (!expected) {
    if (same_machine_) compare_with_hash(subject, entry, actual);
    return;
  }
  compared_.insert(subject);
  if (const auto damage = recording_.damage(name)) {
    bits_.at(subject).expect(false, *damage);
  } else if (same_machine_ || !is_floating_point(expected->dtype())) {
    bits_.at(subject).compare(Expected{*expected}, Actual{actual});
  } else {
    // A float32 tensor between bfloat16 ones carries their errors, so the computing dtype sets its bound.
    const auto in_dtype = [&](const Tensor& t) {
      return Tensor(lockstep::to_torch(t).to(lockstep::to_torch(recording_.dtype())));
    };
    norm_wise_.at(subject).compare(Expected{in_dtype(*expected)}, Actual{in_dtype(actual)});
  }
}

void RecordingComparison::compare_with_hash(const std::string& name, const RecordedTensor& entry,
                                            const Tensor& computed) {
  compared_.insert(name);
  if (name_of(computed.dtype()) != entry.dtype || computed.sizes() != entry.shape) {
    bits_.at(name).expect(false, fmt::format("computed as {}, recorded as {} {}", computed.to_string(), entry.dtype,
                                             lockstep::shape_text(entry.shape)));
  } else if (const auto hash = sha256_of(computed); hash != entry.sha256) {
    bits_.at(name).expect(false, fmt::format("sha256 is {}, recorded {}", hash, entry.sha256));
  } else {
    // The recorded values are not at hand; the bits that are compared are those of their hash.
    bits_.at(name).compare(Expected{characters(entry.sha256)}, Actual{characters(hash)});
  }
}

std::vector<std::string> RecordingComparison::not_compared() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : recording_.tensors()) {
    if (!compared_.contains(name)) names.push_back(name);
  }
  return names;
}

}  // namespace gemma4
