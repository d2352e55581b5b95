#include "runtime/known_profiles.hpp"

#include <fstream>

#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "gemma4/runtime/errors.hpp"
#include "runtime/processor_contract.hpp"

using gemma4::ProfileFields;
using gemma4::test::error_of;

namespace {

// The judge: numbers and digests that transformers' own processor gave (tests/data/vision_profiles).
nlohmann::json judge() {
  std::ifstream stream(LOCKSTEP_TEST_DATA "/vision_profiles/vision_profiles.json");
  return nlohmann::json::parse(stream);
}

ProfileFields shapes_fields() {
  return {.visual_start_idx = 1,
          .num_visual_tokens = 64,
          .max_soft_tokens = 70,
          .patch_grid_height = 24,
          .patch_grid_width = 24};
}

}  // namespace

TEST_CASE("the shapes profiles have the numbers and position ids that the processor gave") {
  const auto recorded = judge();
  REQUIRE(recorded["profiles"].size() == 4);
  for (const auto& want : recorded["profiles"]) {
    const auto name = want["name"].get<std::string>();
    CAPTURE(name);
    const auto& p = gemma4::find_profile(name);
    CHECK(p.visual_start_idx == want["visual_start_idx"]);
    CHECK(p.num_visual_tokens == want["num_visual_tokens"]);
    CHECK(p.max_soft_tokens == want["max_soft_tokens"]);
    CHECK(p.patch_grid_height == want["patch_grid_height"]);
    CHECK(p.patch_grid_width == want["patch_grid_width"]);
    CHECK(p.patch_size == want["patch_size"]);
    CHECK(p.pooling_kernel_size == want["pooling_kernel_size"]);
    CHECK(p.batch_size == want["batch_size"]);
    CHECK(p.tokenizer_add_bos_token == want["tokenizer_add_bos_token"]);
    CHECK(p.num_valid_patches() == want["num_valid_patches"]);
    CHECK(p.num_patches() == want["num_patches"]);
    CHECK(p.num_padding_patches() == want["num_padding_patches"]);
    CHECK(p.soft_grid_height() == want["soft_grid_height"]);
    CHECK(p.soft_grid_width() == want["soft_grid_width"]);
    CHECK(p.image_height() == want["image_height"]);
    CHECK(p.image_width() == want["image_width"]);
    CHECK(p.patch_vector_size() == want["patch_vector_size"]);
    CHECK(p.visual_end_idx() == want["visual_end_idx"]);
    const auto ids = gemma4::build_image_position_ids(p);
    CHECK(ids.sizes() == want["image_position_ids_shape"].get<std::vector<std::int64_t>>());
    CHECK(gemma4::image_position_ids_sha256(ids) == want["image_position_ids_sha256"]);
    CHECK(error_of([&] { p.validate(recorded["max_seq"].get<std::int64_t>()); }).empty());
  }
}

TEST_CASE("every known profile keeps its own rules and is found by its name") {
  CHECK(gemma4::known_profiles().size() == 6);
  for (const auto& profile : gemma4::known_profiles()) {
    CHECK(error_of([&] { profile.validate(2048); }).empty());
    CHECK(&gemma4::find_profile(profile.name) == &profile);
  }
}

TEST_CASE("an unknown profile name lists the known ones and suggests the nearest") {
  CHECK_THAT(error_of([] { (void)gemma4::find_profile("shapes_24x24_46"); }),
             contains_text("unknown vision profile 'shapes_24x24_46'") &&
                 contains_text("e2b_66x36_264, e2b_57x42_266") && contains_text("shapes_39x15_65_chat"));
  const auto choice = gemma4::choose_profile("shapes_24x24_46", {});
  CHECK_FALSE(choice.profile);
  REQUIRE(choice.violations.size() == 1);
  CHECK(choice.violations[0].setting == "profile");
  CHECK_THAT(choice.violations[0].message, contains_text("did you mean 'shapes_24x24_64'?"));
  CHECK_THAT(choice.violations[0].help, contains_text("'custom'"));
}

TEST_CASE("nothing said gives the default profile") {
  CHECK(gemma4::choose_profile(std::nullopt, {}).profile->name == "e2b_66x36_264");
}

TEST_CASE("a name with fields that agree gives the named profile") {
  const auto choice = gemma4::choose_profile("shapes_24x24_64", shapes_fields());
  CHECK(choice.violations.empty());
  CHECK(*choice.profile == gemma4::find_profile("shapes_24x24_64"));
}

TEST_CASE("a name with a field that disagrees is an error at that field") {
  using Field = std::optional<std::int64_t> ProfileFields::*;
  const std::pair<const char*, Field> fields[] = {{"visual_start_idx", &ProfileFields::visual_start_idx},
                                                  {"num_visual_tokens", &ProfileFields::num_visual_tokens},
                                                  {"max_soft_tokens", &ProfileFields::max_soft_tokens},
                                                  {"patch_grid_height", &ProfileFields::patch_grid_height},
                                                  {"patch_grid_width", &ProfileFields::patch_grid_width},
                                                  {"patch_size", &ProfileFields::patch_size},
                                                  {"pooling_kernel_size", &ProfileFields::pooling_kernel_size},
                                                  {"image_height", &ProfileFields::image_height},
                                                  {"image_width", &ProfileFields::image_width}};
  for (const auto& [name, field] : fields) {
    ProfileFields given;
    given.*field = 7;
    const auto choice = gemma4::choose_profile("shapes_24x24_64", given);
    REQUIRE(choice.violations.size() == 1);
    CHECK(choice.violations[0].setting == name);
    CHECK_THAT(choice.violations[0].message, contains_text(std::string(name) + " is 7"));
  }
}

TEST_CASE("fields without a name are a profile called custom") {
  for (const auto& name : {std::optional<std::string>{}, std::optional<std::string>{"custom"}}) {
    const auto choice = gemma4::choose_profile(name, shapes_fields());
    CHECK(choice.violations.empty());
    auto expected = gemma4::find_profile("shapes_24x24_64");
    expected.name = "custom";
    CHECK(*choice.profile == expected);
  }
}

TEST_CASE("a custom profile lists every required field that is missing") {
  const auto choice = gemma4::choose_profile("custom", {.max_soft_tokens = 70});
  CHECK_FALSE(choice.profile);
  std::vector<std::string> settings;
  for (const auto& violation : choice.violations) settings.push_back(violation.setting);
  CHECK(settings ==
        std::vector<std::string>{"visual_start_idx", "num_visual_tokens", "patch_grid_height", "patch_grid_width"});
}

TEST_CASE("a custom profile's image size, if given, is what the grid gives") {
  auto fields = shapes_fields();
  fields.image_height = 384;
  fields.image_width = 385;
  const auto choice = gemma4::choose_profile(std::nullopt, fields);
  REQUIRE(choice.violations.size() == 1);
  CHECK(choice.violations[0].setting == "image_width");
  CHECK_THAT(choice.violations[0].message, contains_text("image_width is 385") && contains_text("gives 384 pixels"));
}

TEST_CASE("a custom profile may have its own patch size and kernel") {
  auto fields = shapes_fields();
  fields.patch_size = 14;
  fields.pooling_kernel_size = 4;
  fields.num_visual_tokens = 36;
  const auto choice = gemma4::choose_profile("custom", fields);
  REQUIRE(choice.violations.empty());
  CHECK(choice.profile->image_height() == 336);
  CHECK(choice.profile->num_patches() == 1120);
}
