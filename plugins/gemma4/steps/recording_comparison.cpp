#include "steps/recording_comparison.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/topk.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <lockstep/torch.hpp>
#include <optional>
#include <span>
#include <tuple>

namespace gemma4 {

using lockstep::Actual;
using lockstep::Expected;
using lockstep::Tensor;

namespace {

Tensor characters(const std::string& text) {
  return Tensor::copy_of(std::as_bytes(std::span(text)), lockstep::DType::uint8, {std::ssize(text)});
}

/// Where two texts part first.
struct Fork {
  std::int64_t row;
  std::int64_t column;
  std::int64_t recorded;  ///< token ids
  std::int64_t computed;

  [[nodiscard]] std::string text(const at::Tensor& logits) const {
    const auto top = std::get<0>(at::topk(logits.select(0, row).select(0, column).to(at::kFloat), 2));
    return fmt::format("token {} of row {} is {}, recorded {}; the top two logits there are {:.3g} apart", column, row,
                       computed, recorded, top[0].item<float>() - top[1].item<float>());
  }
};

/// The first column in which int64 [B, m] and [B, n] differ; none if one begins with the other.
std::optional<Fork> first_difference(const at::Tensor& recorded, const at::Tensor& computed) {
  const auto columns = std::min(recorded.size(1), computed.size(1));
  for (std::int64_t column = 0; column < columns; ++column) {
    for (std::int64_t row = 0; row < recorded.size(0); ++row) {
      const auto expected = recorded[row][column].item<std::int64_t>();
      const auto actual = computed[row][column].item<std::int64_t>();
      if (expected != actual) return Fork{row, column, expected, actual};
    }
  }
  return std::nullopt;
}

}  // namespace

void RecordingComparison::operator()(std::string_view name, const Tensor& computed) {
  const auto found = recording_.tensors().find(name);
  if (found == recording_.tensors().end()) return;
  const auto& [subject, entry] = *found;
  const auto actual = recording_.kept_part(name, computed);
  if (const auto expected = recording_.values(name)) {
    compare_values(subject, *expected, actual);
  } else if (same_machine_) {
    compare_with_hash(subject, entry, actual);
  }
}

std::int64_t RecordingComparison::tokens(std::string_view name, const Tensor& computed, const Tensor& logits) {
  const auto values = recording_.values(name);
  if (same_machine_ || !values || recording_.damage(name) || values->dtype() != computed.dtype() ||
      values->dim() != 2 || values->size(0) != computed.size(0)) {
    (*this)(name, computed);
    return computed.size(1);
  }
  const auto fork = first_difference(lockstep::to_torch(*values), lockstep::to_torch(computed));
  if (!fork) {
    (*this)(name, computed);
    return computed.size(1);
  }
  compared_.emplace(name);
  checks_.tokens.at(std::string(name)).expect(false, fork->text(lockstep::to_torch(logits)));
  return fork->column;
}

void RecordingComparison::leading(std::string_view name, const Tensor& computed, std::int64_t columns) {
  const auto expected = recording_.values(name);
  if (same_machine_ || !expected || expected->dim() < 2) return (*this)(name, computed);
  const auto first = [columns](const Tensor& t) {
    return Tensor(lockstep::to_torch(t).slice(1, 0, std::min(columns, t.size(1))));
  };
  compare_values(std::string(name), first(*expected), first(computed));
}

void RecordingComparison::compare_values(const std::string& name, const Tensor& expected, const Tensor& actual) {
  compared_.insert(name);
  if (const auto damage = recording_.damage(name)) {
    checks_.bits.at(name).expect(false, *damage);
  } else if (same_machine_ || !is_floating_point(expected.dtype())) {
    checks_.bits.at(name).compare(Expected{expected}, Actual{actual});
  } else {
    // A float32 tensor between bfloat16 ones carries their errors, so the computing dtype sets its bound.
    const auto in_dtype = [&](const Tensor& t) {
      return Tensor(lockstep::to_torch(t).to(lockstep::to_torch(recording_.dtype())));
    };
    checks_.norm_wise.at(name).compare(Expected{in_dtype(expected)}, Actual{in_dtype(actual)});
  }
}

void RecordingComparison::compare_with_hash(const std::string& name, const RecordedTensor& entry,
                                            const Tensor& computed) {
  compared_.insert(name);
  if (name_of(computed.dtype()) != entry.dtype || computed.sizes() != entry.shape) {
    checks_.bits.at(name).expect(false, fmt::format("computed as {}, recorded as {} {}", computed.to_string(),
                                                    entry.dtype, lockstep::shape_text(entry.shape)));
  } else if (const auto hash = sha256_of(computed); hash != entry.sha256) {
    checks_.bits.at(name).expect(false, fmt::format("sha256 is {}, recorded {}", hash, entry.sha256));
  } else {
    // The recorded values are not at hand; the bits that are compared are those of their hash.
    checks_.bits.at(name).compare(Expected{characters(entry.sha256)}, Actual{characters(hash)});
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
