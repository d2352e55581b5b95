#include "runtime/vision_profile.hpp"

#include <functional>

#include "catch.hpp"
#include "gemma4/runtime/errors.hpp"
#include "runtime/known_profiles.hpp"

using gemma4::ProcessorSettings;
using gemma4::VisionGeometry;
using gemma4::VisionProfile;
using gemma4::test::error_of;

namespace {

const VisionProfile& e2b() { return gemma4::find_profile("e2b_66x36_264"); }

VisionProfile changed(const std::function<void(VisionProfile&)>& change) {
  auto profile = e2b();
  change(profile);
  return profile;
}

std::string error_of_profile(const VisionProfile& profile) {
  return error_of([&] { profile.validate(); });
}

/// What the E2B checkpoint's files say.
ProcessorSettings e2b_processor() {
  return {.tokenizer_add_bos_token = false,
          .image_processor = ProcessorSettings::ImageProcessor{16, 3, 280},
          .image_seq_length = 280};
}

std::string error_of_processor(const std::function<void(ProcessorSettings&)>& change) {
  auto settings = e2b_processor();
  change(settings);
  return error_of([&] { e2b().validate_processor(settings); });
}

}  // namespace

// The numbers of both E2B profiles are those of TICO 0.3.0, Gemma4StaticVisionProfile.
TEST_CASE("the default profile has E2B's numbers for 1056 x 576 pixels") {
  const auto& p = e2b();
  CHECK(p.num_valid_patches() == 2376);
  CHECK(p.num_patches() == 2520);
  CHECK(p.num_padding_patches() == 144);
  CHECK(p.soft_grid_height() == 12);
  CHECK(p.soft_grid_width() == 22);
  CHECK(p.image_height() == 576);
  CHECK(p.image_width() == 1056);
  CHECK(p.patch_vector_size() == 768);
  CHECK(p.visual_start_idx == 1);
  CHECK(p.num_visual_tokens == 264);
  CHECK(p.visual_end_idx() == 265);
  CHECK_FALSE(p.tokenizer_add_bos_token);
}

TEST_CASE("the second E2B profile has the numbers for 912 x 672 pixels") {
  const auto& p = gemma4::find_profile("e2b_57x42_266");
  CHECK(p.num_valid_patches() == 2394);
  CHECK(p.num_patches() == 2520);
  CHECK(p.num_padding_patches() == 126);
  CHECK(p.soft_grid_height() == 14);
  CHECK(p.soft_grid_width() == 19);
  CHECK(p.image_height() == 672);
  CHECK(p.image_width() == 912);
  CHECK(p.visual_end_idx() == 267);
}

TEST_CASE("a profile has a name") {
  CHECK_THAT(error_of_profile(changed([](auto& p) { p.name = ""; })), contains_text("no name"));
}

TEST_CASE("a profile has one picture") {
  CHECK_THAT(error_of_profile(changed([](auto& p) { p.batch_size = 2; })), contains_text("batch_size is 2"));
}

TEST_CASE("every size of a profile is positive, and the error names it") {
  using Field = std::int64_t VisionProfile::*;
  const std::pair<const char*, Field> fields[] = {{"num_visual_tokens", &VisionProfile::num_visual_tokens},
                                                  {"max_soft_tokens", &VisionProfile::max_soft_tokens},
                                                  {"patch_grid_height", &VisionProfile::patch_grid_height},
                                                  {"patch_grid_width", &VisionProfile::patch_grid_width},
                                                  {"patch_size", &VisionProfile::patch_size},
                                                  {"pooling_kernel_size", &VisionProfile::pooling_kernel_size}};
  for (const auto& [name, field] : fields) {
    for (const std::int64_t wrong : {std::int64_t{0}, std::int64_t{-3}, std::int64_t{1} << 62}) {
      const auto profile = changed([&, size = field](auto& p) { p.*size = wrong; });
      CHECK_THAT(error_of_profile(profile), contains_text(std::string(name) + " is " + std::to_string(wrong)));
      CHECK(profile.find_violation()->setting == name);
    }
  }
}

TEST_CASE("a profile's picture does not start before slot 0") {
  CHECK_THAT(error_of_profile(changed([](auto& p) { p.visual_start_idx = -1; })),
             contains_text("visual_start_idx is -1"));
}

TEST_CASE("the grid's height is a multiple of the pooling kernel") {
  CHECK_THAT(error_of_profile(changed([](auto& p) { p.patch_grid_height = 37; })),
             contains_text("patch_grid_height is 37, not a multiple of pooling_kernel_size 3"));
}

TEST_CASE("the grid's width is a multiple of the pooling kernel") {
  CHECK_THAT(error_of_profile(changed([](auto& p) { p.patch_grid_width = 65; })),
             contains_text("patch_grid_width is 65, not a multiple of pooling_kernel_size 3"));
}

TEST_CASE("a profile has no more tokens than the processor's capacity") {
  CHECK_THAT(error_of_profile(changed([](auto& p) { p.num_visual_tokens = 281; })),
             contains_text("num_visual_tokens is 281, more than max_soft_tokens 280"));
}

TEST_CASE("the soft grid gives exactly the visual tokens") {
  CHECK_THAT(error_of_profile(changed([](auto& p) { p.num_visual_tokens = 263; })),
             contains_text("num_visual_tokens is 263") && contains_text("12 x 22 = 264"));
}

TEST_CASE("more patches than the capacity cannot pass") {
  // 72 x 72 patches give 576 tokens: whatever is declared, one of the two rules before stops it.
  for (const std::int64_t tokens : {264, 280, 576}) {
    CHECK_FALSE(error_of_profile(changed([&](auto& p) {
                  p.patch_grid_height = p.patch_grid_width = 72;
                  p.num_visual_tokens = tokens;
                })).empty());
  }
}

TEST_CASE("a profile's picture ends within max_seq") {
  CHECK(error_of([] { e2b().validate(265); }).empty());
  CHECK_THAT(error_of([] { e2b().validate(264); }), contains_text("max_seq is 264") &&
                                                        contains_text("end at slot 265") &&
                                                        contains_text("raise max_seq to at least 265"));
}

TEST_CASE("a profile's geometry is that of the checkpoint's vision config") {
  const auto with = [](VisionGeometry geometry) { return error_of([&] { e2b().validate(2048, geometry); }); };
  CHECK(with({16, 3, 280}).empty());
  CHECK(with({16, 3, std::nullopt}).empty());
  CHECK_THAT(with({14, 3, 280}), contains_text("patch_size is 16") && contains_text("vision_config.patch_size is 14"));
  CHECK_THAT(with({16, 2, 280}), contains_text("pooling_kernel_size is 3") && contains_text("is 2"));
  CHECK_THAT(with({16, 3, 70}),
             contains_text("max_soft_tokens is 280") && contains_text("default_output_length is 70"));
}

TEST_CASE("the rules of a profile are checked in the documented order") {
  auto p = e2b();
  p.name = "";
  p.batch_size = 2;
  p.num_visual_tokens = 0;
  p.visual_start_idx = -1;
  p.patch_grid_height = 37;
  p.patch_grid_width = 65;
  const auto setting = [&] { return p.find_violation(10, VisionGeometry{14, 3, 70})->setting; };
  CHECK(setting() == "profile");
  p.name = "mine";
  CHECK(setting() == "batch_size");
  p.batch_size = 1;
  CHECK(setting() == "num_visual_tokens");
  p.num_visual_tokens = 300;
  CHECK(setting() == "visual_start_idx");
  p.visual_start_idx = 1;
  CHECK(setting() == "patch_grid_height");
  p.patch_grid_height = 36;
  CHECK(setting() == "patch_grid_width");
  p.patch_grid_width = 66;
  CHECK_THAT(p.find_violation(10)->message, contains_text("more than max_soft_tokens"));
  p.num_visual_tokens = 263;
  CHECK_THAT(p.find_violation(10)->message, contains_text("12 x 22"));
  p.num_visual_tokens = 264;
  CHECK(setting() == "max_seq");
  CHECK(p.find_violation(265, VisionGeometry{14, 3, 70})->setting == "patch_size");
}

TEST_CASE("a processor that produces what the profile fixes is accepted") {
  CHECK(error_of_processor([](auto&) {}).empty());
  CHECK(error_of([] { e2b().validate_processor({}); }).empty());
}

TEST_CASE("the tokenizer's add_bos_token is the profile's") {
  CHECK_THAT(error_of_processor([](auto& s) { s.tokenizer_add_bos_token = true; }),
             contains_text("expects tokenizer_add_bos_token = false") && contains_text("is true"));
}

TEST_CASE("the image processor's patch size, kernel and capacity are the profile's") {
  CHECK_THAT(error_of_processor([](auto& s) { s.image_processor->patch_size = 14; }),
             contains_text("expects patch_size = 16") && contains_text("is 14"));
  CHECK_THAT(error_of_processor([](auto& s) { s.image_processor->pooling_kernel_size = 2; }),
             contains_text("expects pooling_kernel_size = 3") && contains_text("is 2"));
  CHECK_THAT(error_of_processor([](auto& s) { s.image_processor->max_soft_tokens = 70; }),
             contains_text("expects max_soft_tokens = 280") && contains_text("is 70"));
}

TEST_CASE("the processor's image_seq_length is the profile's capacity") {
  CHECK_THAT(error_of_processor([](auto& s) { s.image_seq_length = 256; }),
             contains_text("expects max_soft_tokens = 280") && contains_text("image_seq_length is 256"));
}

TEST_CASE("what a processor does not say is not compared") {
  CHECK(error_of_processor([](auto& s) { s.tokenizer_add_bos_token.reset(); }).empty());
  CHECK(error_of_processor([](auto& s) { s.image_processor->max_soft_tokens.reset(); }).empty());
  // Without an image processor the text-only processor's other settings do not matter.
  CHECK(error_of_processor([](auto& s) {
          s.image_processor.reset();
          s.image_seq_length = 256;
        }).empty());
}
