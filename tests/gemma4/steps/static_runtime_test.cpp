#include <lockstep/testing.hpp>

#include "catch.hpp"
#include "gemma4/steps/runtimes.hpp"

using namespace gemma4::test;
using gemma4::Checkpoint;
using gemma4::Runtime;
using lockstep::DType;
using lockstep::StepBench;

namespace {
using Messages = std::vector<std::string>;

StepBench custom() {
  StepBench bench("gemma4.static_runtime");
  bench.set("visual_start_idx", 1).set("num_visual_tokens", 64).set("max_soft_tokens", 70);
  bench.set("patch_grid_height", 24).set("patch_grid_width", 24).set("max_seq", 160);
  return bench;
}
}  // namespace

TEST_CASE("static_runtime publishes a runtime with the named profile") {
  StepBench bench("gemma4.static_runtime");
  bench.set("profile", "shapes_24x24_64").set("max_seq", 160).bind("checkpoint", shapes_checkpoint());
  CHECK(bench.problems() == Messages{});
  bench.run();
  CHECK_FALSE(bench.error());
  const auto runtime = bench.output<Runtime>("runtime");
  REQUIRE(runtime);
  CHECK(runtime->profile() == gemma4::find_profile("shapes_24x24_64"));
  CHECK(runtime->layout().max_seq == 160);
  CHECK(runtime->dtype() == DType::bfloat16);
  CHECK(bench.summary() == "shapes_24x24_64, max_seq 160, bfloat16");
}

TEST_CASE("static_runtime computes in the given dtype, else in the checkpoint's") {
  StepBench bench("gemma4.static_runtime");
  bench.set("profile", "shapes_24x24_64").set("max_seq", 160).set("dtype", "float32");
  bench.bind("checkpoint", shapes_checkpoint()).run();
  CHECK(bench.output<Runtime>("runtime")->dtype() == DType::float32);
}

TEST_CASE("static_runtime takes a profile field by field") {
  auto bench = custom();
  CHECK(bench.problems() == Messages{});
  bench.bind("checkpoint", shapes_checkpoint()).run();
  REQUIRE(bench.output<Runtime>("runtime"));
  CHECK(bench.output<Runtime>("runtime")->profile().name == "custom");
}

TEST_CASE("static_runtime with nothing but defaults is E2B's") {
  StepBench bench("gemma4.static_runtime");
  CHECK(bench.problems() == Messages{});
  bench.bind("checkpoint", shapes_checkpoint()).run();
  CHECK_THAT(bench.error().value(),
             contains_text("profile 'e2b_66x36_264'") && contains_text("max_soft_tokens is 280"));
  CHECK_FALSE(bench.output<Runtime>("runtime"));
}

TEST_CASE("an unknown profile is refused before anything runs") {
  StepBench bench("gemma4.static_runtime");
  bench.set("profile", "e2b_66x36");
  REQUIRE(bench.problems().size() == 1);
  CHECK_THAT(bench.problems()[0],
             contains_text("with.profile: P020: step 'bench': unknown vision profile 'e2b_66x36'"));
}

TEST_CASE("a profile that does not fit max_seq is refused before anything runs, at max_seq") {
  StepBench bench("gemma4.static_runtime");
  bench.set("profile", "shapes_24x24_64").set("max_seq", 64);
  REQUIRE(bench.problems().size() == 1);
  CHECK_THAT(bench.problems()[0],
             contains_text("with.max_seq: P020: step 'bench': max_seq is 64") && contains_text("end at slot 65"));
}

TEST_CASE("each field that contradicts the named profile is refused at that field") {
  StepBench bench("gemma4.static_runtime");
  bench.set("profile", "shapes_24x24_64").set("max_seq", 160).set("patch_grid_width", 30).set("image_width", 480);
  const auto messages = bench.problems();
  REQUIRE(messages.size() == 2);
  CHECK_THAT(
      messages[0],
      contains_text(
          "with.patch_grid_width: P020: step 'bench': patch_grid_width is 30, but profile 'shapes_24x24_64' has 24"));
  CHECK_THAT(messages[1], contains_text("with.image_width: P020: step 'bench': image_width is 480"));
}

TEST_CASE("a custom profile that breaks its own rules is refused at the field that breaks them") {
  auto bench = custom();
  bench.set("patch_grid_width", 25);
  REQUIRE(bench.problems().size() == 1);
  CHECK_THAT(bench.problems()[0], contains_text("with.patch_grid_width: P020: step 'bench': patch_grid_width is 25, "
                                                "not a multiple of pooling_kernel_size 3"));
}

TEST_CASE("a custom profile with missing fields lists them all") {
  StepBench bench("gemma4.static_runtime");
  bench.set("profile", "custom").set("max_soft_tokens", 70);
  CHECK(bench.problems().size() == 4);
}

TEST_CASE("static_runtime computes with the given mask fill") {
  StepBench bench("gemma4.static_runtime");
  bench.set("profile", "shapes_24x24_64").set("max_seq", 160).set("mask_fill", -37.5);
  CHECK(bench.problems() == Messages{});
  bench.bind("checkpoint", shapes_checkpoint()).run();
  CHECK(bench.output<Runtime>("runtime")->mask_fill() == -37.5);
}

TEST_CASE("a mask fill that is not negative is refused before anything runs") {
  StepBench bench("gemma4.static_runtime");
  bench.set("profile", "shapes_24x24_64").set("max_seq", 160).set("mask_fill", 0.0);
  REQUIRE(bench.problems().size() == 1);
  CHECK_THAT(bench.problems()[0],
             contains_text("with.mask_fill: P020: step 'bench': mask_fill is 0, expected a finite negative number"));
}

TEST_CASE("static_runtime says that it has a fault") {
  StepBench bench("gemma4.static_runtime");
  bench.set("profile", "shapes_24x24_64").set("max_seq", 160).set("fault", "softcap_missing");
  CHECK(bench.problems() == Messages{});
  bench.bind("checkpoint", shapes_checkpoint()).run();
  CHECK(bench.output<Runtime>("runtime"));
  CHECK(bench.summary() == "shapes_24x24_64, max_seq 160, bfloat16, with the fault softcap_missing");
}
