#include <limits>
#include <set>
#include <string>

#include <ATen/TensorOperators.h>
#include <fmt/format.h>

#include "catch.hpp"
#include "gemma4/steps/text_steps.hpp"
#include "runtime/faults.hpp"

using namespace gemma4::test;
using gemma4::Fault;
using lockstep::DType;
using lockstep::StepBench;
using lockstep::Tensor;
using lockstep::Verdict;

namespace {

// Of shapes-gemma4.
constexpr std::int64_t window = 64;

StepBench run_invariances(const std::shared_ptr<const gemma4::Runtime>& runtime) {
  StepBench bench("gemma4.invariances");
  bench.bind("checkpoint", shapes_checkpoint())
      .bind("batch", shared(batch_with_picture(*native_runtime(runtime->dtype(), runtime->layout().max_seq))))
      .bind("runtime", runtime)
      .run();
  CHECK_FALSE(bench.error());
  return bench;
}

Names failed(const StepBench& bench) {
  const auto all = bench.with(Verdict::fail);
  const std::set<std::string> once(all.begin(), all.end());
  return {once.begin(), once.end()};
}

/// For every slot of keys and values of every layer.
void change_slots(gemma4::KvCache& cache, const std::function<void(at::Tensor&)>& change) {
  for (auto& layer : cache.layers) {
    layer.key = changed(layer.key, change);
    layer.value = changed(layer.value, change);
  }
}

}  // namespace

TEST_CASE("invariances hold for the native runtime in both dtypes, at every length") {
  for (const auto dtype : {DType::bfloat16, DType::float32}) {
    CAPTURE(dtype);
    const auto bench = run_invariances(native_runtime(dtype));
    CHECK(failed(bench).empty());
    CHECK(bench.with(Verdict::warn).empty());
    CHECK(bench.with(Verdict::vacuous).empty());
    CHECK(bench.summary() == "prompts of 1, 62, 63, 64, 65, 155, 159 tokens");
    CHECK(bench.result("padding_logits", "other ids").compared == 960);
    CHECK(bench.result("max_seq_logits", "max_seq 240").compared == 960);
    // Two decoded tokens before the window is full, two after.
    CHECK(bench.result("longer_prompt_logits", fmt::format("{} tokens and 4 decoded", window - 2)).compared == 960);
    CHECK(bench.result("longer_prompt_cache", "155 tokens and 4 decoded layer 4 values").compared > 0);
    CHECK(bench.result("finite", "159 tokens").verdict == Verdict::pass);
  }
}

// Which properties a mistake breaks, written down before the run: it must differ between two ways to one result.
TEST_CASE("a mistake in decode breaks the equality with the longer prompt, whatever it is") {
  for (const auto dtype : {DType::bfloat16, DType::float32}) {
    for (const auto fault :
         {Fault::rope_wrong_denominator_decode, Fault::decode_position_frozen, Fault::decode_position_shifted,
          Fault::unused_slots_not_masked, Fault::cache_slot_off_by_one, Fault::stale_slot, Fault::mask_fill_zero}) {
      CAPTURE(dtype, fault);
      const auto red = failed(run_invariances(native_runtime(dtype, 160, fault)));
      CHECK(std::ranges::count(red, "longer_prompt_cache") == 1);
    }
  }
}

TEST_CASE("one key too many in decode fails in float32, and is above the noise of bfloat16") {
  const auto wide = run_invariances(native_runtime(DType::float32, 160, Fault::window_off_by_one_decode));
  CHECK(failed(wide) == names("longer_prompt_cache", "longer_prompt_logits"));
  const auto narrow = run_invariances(native_runtime(DType::bfloat16, 160, Fault::window_off_by_one_decode));
  CHECK(failed(narrow).empty());
  CHECK(distinct(narrow.with(Verdict::warn)) == names("longer_prompt_noise"));
  for (const auto& bench : {&wide, &narrow}) {
    // Before the window is full there is no key to keep too long.
    CHECK(bench->result("longer_prompt_noise", "1 tokens and 4 decoded layer 3").verdict == Verdict::pass);
    CHECK(bench->result("longer_prompt_noise", fmt::format("{} tokens and 4 decoded layer 3", window)).verdict ==
          Verdict::warn);
  }
}

TEST_CASE("slots of padding that a prompt sees turn padding red, with other ids and with large embeddings") {
  for (const auto dtype : {DType::bfloat16, DType::float32}) {
    CAPTURE(dtype);
    const auto faulty = faulty_runtime(dtype);
    faulty->damage_masks = [](gemma4::AttentionMasks& masks) {
      for (auto* mask : {&masks.sliding, &masks.full}) {
        *mask = changed(*mask, [](at::Tensor& values) { values.slice(3, 159).zero_(); });
      }
    };
    const auto bench = run_invariances(faulty);
    CHECK(bench.result("padding_logits", "other ids").verdict == Verdict::fail);
    CHECK(bench.result("padding_logits", "large embeddings").verdict == Verdict::fail);
    CHECK(bench.result("padding_cache", "other ids layer 4 keys").verdict == Verdict::fail);
    // Its input is the embeddings alone.
    CHECK(bench.result("padding_cache", "other ids layer 0 keys").verdict == Verdict::pass);
  }
}

TEST_CASE("logits of the last slot instead of the last token turn padding red") {
  const auto bench = run_invariances(native_runtime(DType::bfloat16, 160, Fault::logits_wrong_row));
  CHECK(failed(bench) == names("longer_prompt_logits", "padding_logits"));
}

TEST_CASE("slots of a snapshot beyond its length that take part turn unused red") {
  for (const auto dtype : {DType::bfloat16, DType::float32}) {
    CAPTURE(dtype);
    const auto faulty = faulty_runtime(dtype);
    faulty->damage_resumed = [](gemma4::KvCache& cache) {
      change_slots(cache, [](at::Tensor& slots) { slots.select(2, 0) += slots.select(2, slots.size(2) - 1); });
    };
    const auto bench = run_invariances(faulty);
    CHECK(failed(bench) == names("unused_cache", "unused_logits"));
    CHECK(bench.result("unused_logits", "as they are").verdict == Verdict::pass);
    CHECK(bench.result("unused_logits", "large values").verdict == Verdict::fail);
    CHECK(bench.result("unused_logits", "NaN").verdict == Verdict::fail);
  }
}

TEST_CASE("a resumed session that lost a slot turns unused red though nothing was changed") {
  const auto faulty = faulty_runtime(DType::bfloat16);
  faulty->damage_resumed = [](gemma4::KvCache& cache) {
    change_slots(cache, [](at::Tensor& slots) { slots.select(2, 0).zero_(); });
  };
  const auto bench = run_invariances(faulty);
  CHECK(failed(bench) == names("unused_cache", "unused_logits"));
  CHECK(bench.result("unused_cache", "as they are layer 0 keys").verdict == Verdict::fail);
}

TEST_CASE("results that depend on the number of slots turn max_seq red") {
  const auto bench = run_invariances(native_runtime(DType::float32, 160, Fault::unused_slots_not_masked));
  CHECK(failed(bench) == names("longer_prompt_cache", "longer_prompt_logits", "max_seq_cache", "max_seq_logits"));
}

TEST_CASE("a runtime that cannot be made with another max_seq has these checks left out, with the reason recorded") {
  const auto faulty = faulty_runtime(DType::bfloat16);
  faulty->has_other_max_seq = false;
  const auto bench = run_invariances(faulty);
  CHECK(failed(bench).empty());
  CHECK(bench.with(Verdict::vacuous).empty());
  CHECK(bench.recorded().front().first == "left_out");
  CHECK_THAT(std::get<std::string>(bench.recorded().front().second.data),
             contains_text("max_seq_logits, max_seq_cache: the runtime cannot be made with another max_seq"));
}

TEST_CASE("NaN at one length turns finite red there") {
  const auto faulty = faulty_runtime(DType::float32);
  faulty->damage_decode = [](std::int64_t length, const Tensor& t) {
    if (length != 159) return t;
    return changed(t, [](at::Tensor& v) { v[0][3] = std::numeric_limits<float>::quiet_NaN(); });
  };
  const auto bench = run_invariances(faulty);
  CHECK(failed(bench) == names("finite", "longer_prompt_logits"));
  CHECK(bench.result("finite", "155 tokens and 4 decoded").message == "a logit is NaN or infinite");
  CHECK(bench.result("finite", "155 tokens").verdict == Verdict::pass);
}

TEST_CASE("an infinite key names its layer") {
  const auto faulty = faulty_runtime(DType::bfloat16);
  faulty->damage_cache = [](gemma4::KvCache& cache) {
    if (cache.length != window) return;
    cache.layers[2].key = changed(cache.layers[2].key, [](at::Tensor& slots) {
      slots.select(2, 0).fill_(std::numeric_limits<float>::infinity());
    });
  };
  const auto bench = run_invariances(faulty);
  CHECK(failed(bench) == names("finite"));
  CHECK(bench.result("finite", "64 tokens").message == "the cache of layer 2 holds NaN or infinity");
}

TEST_CASE("a runtime that gives its one prompt for any other is told, not passed") {
  const auto faulty = faulty_runtime(DType::bfloat16);
  const auto only = batch_with_picture(*native_runtime(DType::bfloat16));
  faulty->damage_batch = [only](gemma4::StaticBatch& batch) { batch = only; };
  const auto bench = run_invariances(faulty);
  CHECK(failed(bench) == names("other_prompts"));
  CHECK_THAT(bench.result("other_prompts").message.value(),
             contains_text("asked for a prompt of 1 token, the runtime gave one of 68"));
}

TEST_CASE("a prompt without room for the decoded tokens fails fits") {
  const auto bench = run_invariances(native_runtime(DType::bfloat16, 72));
  CHECK(failed(bench) == names("fits"));
  CHECK_THAT(bench.result("fits").message.value(), contains_text("68 tokens, expected at most 67"));
}
