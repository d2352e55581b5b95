#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

#include <ATen/ops/allclose.h>
#include <ATen/ops/mul.h>

#include <lockstep/torch.hpp>

#include <lockstep/testing.hpp>

#include "catch.hpp"
#include "gemma4/runtime/tensors.hpp"
#include "gemma4/steps/runtimes.hpp"

using namespace gemma4::test;
using gemma4::Reference;
using gemma4::Runtime;
using gemma4::StaticBatch;
using lockstep::DType;
using lockstep::StepBench;
using lockstep::Tensor;
using lockstep::Verdict;

namespace {

std::shared_ptr<const StaticBatch> batch_of(const Runtime& runtime) {
  return std::make_shared<const StaticBatch>(
      runtime.build_static_inputs({.input_ids = row({2, 15, 300, 301, 7, 959})}));
}

StepBench run_step(DType dtype, std::shared_ptr<const Runtime> runtime) {
  StepBench bench("gemma4.token_embedding");
  bench.bind("batch", batch_of(*runtime)).bind("reference", native_reference(dtype)).bind("runtime", runtime).run();
  return bench;
}
StepBench run_faulty(DType dtype, std::function<Tensor(const Tensor&)> damage) {
  const auto faulty = std::make_shared<FaultyRuntime>(native_runtime(dtype));
  faulty->damage_embedding = std::move(damage);
  return run_step(dtype, faulty);
}

/// A copy of `tensor` with one byte range overwritten.
Tensor overwritten(const Tensor& tensor, std::size_t at, std::span<const std::byte> bytes) {
  std::vector<std::byte> data(tensor.data(),
                              tensor.data() + static_cast<std::size_t>(tensor.numel()) * element_size(tensor.dtype()));
  std::memcpy(data.data() + at, bytes.data(), bytes.size());
  return Tensor::copy_of(data, tensor.dtype(), tensor.sizes());
}

const std::vector<std::string> both{"matches_reference", "scale_applied"};

}  // namespace

TEST_CASE("token_embedding passes for the native runtime in both dtypes") {
  for (const auto dtype : {DType::bfloat16, DType::float32}) {
    const auto bench = run_step(dtype, native_runtime(dtype));
    CHECK_FALSE(bench.error());
    CHECK(bench.with(Verdict::pass) == both);
    CHECK(bench.result("matches_reference").compared == 160 * 128);
    CHECK(bench.result("matches_reference").metric == lockstep::Metric::bits);
    CHECK(bench.result("scale_applied").metric == lockstep::Metric::bits);
    const auto embeds = bench.output<Tensor>("text_embeds");
    REQUIRE(embeds);
    CHECK(embeds->sizes() == std::vector<std::int64_t>{1, 160, 128});
    CHECK(embeds->dtype() == dtype);
  }
}

TEST_CASE("a scale that is not rounded to bfloat16 turns token_embedding red, which torch's tolerance would not") {
  // sqrt(128) = 11.3137… in float32 and one rounding at the end; the right factor is 11.3125.
  const auto reference = native_reference(DType::bfloat16);
  const auto ids = batch_of(*native_runtime(DType::bfloat16))->input_ids;
  const auto rows = lockstep::to_torch(reference->unscaled_embedding(ids)).to(at::kFloat);
  const auto unrounded = at::mul(rows, std::sqrt(128.0F)).to(at::kBFloat16);
  const auto bench = run_faulty(DType::bfloat16, [&](const Tensor&) { return Tensor(unrounded); });
  CHECK(bench.with(Verdict::fail) == both);
  CHECK(bench.result("scale_applied").mismatched > 0);
  // rtol and atol: torch.testing.assert_close's defaults of bfloat16.
  CHECK(at::allclose(unrounded, lockstep::to_torch(reference->token_embedding(ids)), 1.6e-2, 1e-5));
}

TEST_CASE("a missing scale turns token_embedding red") {
  const auto bench = run_faulty(DType::float32, [](const Tensor& embeds) {
    return Tensor(at::mul(lockstep::to_torch(embeds), 1.0F / std::sqrt(128.0F)));
  });
  CHECK(bench.with(Verdict::fail) == both);
}

TEST_CASE("a wrong row turns token_embedding red, and no other row counts") {
  const auto bench = run_faulty(DType::float32, [](const Tensor& embeds) {
    const std::size_t row = 128 * sizeof(float);
    return overwritten(embeds, 3 * row, std::span(embeds.data() + row, row));  // slot 3 gets the row of slot 1
  });
  CHECK(bench.with(Verdict::fail) == both);
  CHECK(bench.result("matches_reference").mismatched > 64);
  CHECK(bench.result("matches_reference").mismatched <= 128);
}

TEST_CASE("one wrong bit turns token_embedding red") {
  const auto bench = run_faulty(DType::bfloat16, [](const Tensor& embeds) {
    const std::byte flipped = embeds.data()[1000] ^ std::byte{1};
    return overwritten(embeds, 1000, std::span(&flipped, 1));
  });
  CHECK(bench.with(Verdict::fail) == both);
  CHECK(bench.result("scale_applied").mismatched == 1);
}

TEST_CASE("a NaN turns token_embedding red") {
  const auto bench = run_faulty(DType::float32, [](const Tensor& embeds) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    return overwritten(embeds, 0, std::as_bytes(std::span(&nan, 1)));
  });
  CHECK(bench.with(Verdict::fail) == both);
}

TEST_CASE("another shape or dtype turns token_embedding red instead of ending it in an error") {
  const auto shorter = run_faulty(DType::float32, [](const Tensor& embeds) {
    return Tensor(lockstep::to_torch(embeds).slice(1, 0, 159).contiguous());
  });
  CHECK_FALSE(shorter.error());
  CHECK(shorter.with(Verdict::fail) == both);
  const auto wider = run_faulty(DType::bfloat16,
                                [](const Tensor& embeds) { return Tensor(lockstep::to_torch(embeds).to(at::kFloat)); });
  CHECK_FALSE(wider.error());
  CHECK(wider.with(Verdict::fail) == both);
}

TEST_CASE("token_embedding publishes the runtime's embeds after a fail too") {
  const auto bench = run_faulty(DType::float32,
                                [](const Tensor& embeds) { return Tensor(at::mul(lockstep::to_torch(embeds), 2.0F)); });
  CHECK(bench.output<Tensor>("text_embeds"));
}

TEST_CASE("a runtime of another dtype than the reference turns token_embedding red") {
  const auto runtime = native_runtime(DType::float32);
  StepBench bench("gemma4.token_embedding");
  bench.bind("batch", batch_of(*runtime))
      .bind("reference", native_reference(DType::bfloat16))
      .bind("runtime", runtime)
      .run();
  CHECK(bench.with(Verdict::fail) == both);
}
