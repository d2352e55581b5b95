// Every diagnostic of the command line, of compare's files and of reports, by a real call.

#include <lockstep/safetensors.hpp>
#include <nlohmann/json.hpp>

#include "cli.hpp"

namespace {

struct Mistake {
  const char* golden;
  int code;
  std::vector<std::string> arguments;
};

void write_tensor(const std::string& file, const std::string& name, const std::vector<float>& values) {
  const std::span<const float> span(values);
  lockstep::write_safetensors(file,
                              {{name, lockstep::Tensor::copy_of(span, {static_cast<std::int64_t>(values.size())})}});
}

}  // namespace

TEST_CASE("every mistake on the command line renders as approved") {
  const cli::Scratch scratch;
  std::filesystem::copy(cli::folder / "pipelines", scratch.file("pipelines"));
  write_tensor(scratch.file("a.safetensors"), "weight", {1, 2});
  const std::vector<float> numbers{1, 2};
  const auto number = lockstep::Tensor::copy_of(std::span<const float>(numbers), {2});
  lockstep::write_safetensors(scratch.file("b.safetensors"), {{"weight", number}, {"bias", number}});
  std::filesystem::create_symlink("circle.json", scratch.file("circle.json"));
  std::filesystem::create_directories(scratch.file("taken/src"));
  std::ofstream(scratch.file("taken/README.md"));
  std::ofstream(scratch.file("taken/src/norm.cpp"));
  auto options = cli::options();
  options.folder = scratch.file("");
  const std::string a = "a.safetensors";
  const std::string b = "b.safetensors";
  const std::vector<Mistake> mistakes{
      Mistake{"C001", 2, {"rnu", "pipelines/pass.toml"}},
      Mistake{"C001-nothing", 2, {}},
      Mistake{"C002", 2, {"run", "pipelines/pass.toml", "--onyl", "compare"}},
      Mistake{"C002-abbreviated", 2, {"run", "pipelines/pass.toml", "--verb"}},
      Mistake{"C002-several", 2, {"run", "--jsn=a.json", "pipelines/pass.toml", "-q"}},
      Mistake{"C003", 2, {"run", "pipelines/pass.toml", "--json"}},
      Mistake{"C003-option", 2, {"run", "pipelines/pass.toml", "--json", "--quiet"}},
      Mistake{"C003-switch", 2, {"run", "pipelines/pass.toml", "--quiet=yes"}},
      Mistake{"C004", 2, {"run", "pipelines/pass.toml", "--from", "compare", "--from", "runtime"}},
      Mistake{"C005", 2, {"run", "pipelines/pass.toml", "--color=alwasy"}},
      Mistake{"C005-empty", 2, {"run", "pipelines/pass.toml", "--dump", "", "--plugin-path", ""}},
      Mistake{"C005-metric", 2, {"compare", a, a, "--metric", "cosin"}},
      Mistake{"C005-number", 2, {"compare", a, a, "--rtol", "1e-3x", "--atol=0"}},
      Mistake{"C006", 2, {"run"}},
      Mistake{"C006-second", 2, {"compare", "a.safetensors"}},
      Mistake{"C007", 2, {"run", "pipelines/pass.toml", "--set", "prompt=Describe", "the image"}},
      Mistake{"C008", 2, {"run", "pipelines/pass.toml", "--quiet", "--verbose"}},
      Mistake{"C008-plan", 2, {"plan", "pipelines/pass.toml", "--json", "--format", "ctest"}},
      Mistake{"C009", 2, {"run", "pipelines/pass.toml", "--only", "compar", "--to=toy.source"}},
      Mistake{"C010", 2, {"run", "pipelines/pass.toml", "--from", "compare", "--to", "reference"}},
      Mistake{"C011", 2, {"run", "pipelines/pass.toml", "--json", "-", "--junit", "-"}},
      Mistake{"C012", 2, {"explain", "C099"}},
      Mistake{"C013", 2, {"compare", a, a, "--rtol", "0.1"}},
      Mistake{"C013-missing", 2, {"compare", a, a, "--metric", "max_abs"}},
      Mistake{"C013-foreign", 2, {"compare", a, a, "--metric", "bits", "--max", "1"}},
      Mistake{"C013-infinite", 2, {"compare", a, a, "--rtol", "inf", "--atol", "0"}},
      Mistake{"C013-share", 2, {"compare", a, a, "--metric", "cosine", "--min", "2"}},
      Mistake{"C014", 2, {"compare", a, a, "--map", "weight"}},
      Mistake{"C014-star", 2, {"compare", a, a, "--map", "w*=weight"}},
      Mistake{"C014-useless", 2, {"compare", a, a, "--map", "wieght*=weight*"}},
      Mistake{"C014-both", 2, {"compare", b, a, "--map", "bias=weight", "--map", "weight=weight"}},
      Mistake{"C014-twice", 2, {"compare", a, b, "--map", "weight=bias", "--map", "weight=weight"}},
      Mistake{"C015", 2, {"run", "pipelines/pass.toml", "--plugin-path", "plugins", "--plugin-path=a.safetensors"}},
      Mistake{"C018", 0, {"validate", "pipelines/no_check.toml"}},
      Mistake{"F001", 2, {"compare", a, "missing.safetensors"}},
      Mistake{"F001-malformed", 2, {"compare", "pipelines/pass.toml", a}},
      Mistake{"F002", 2, {"compare", a, a, "--map", "wieght=kernel"}},
      Mistake{"F004", 2, {"run", "pipelines/pass.toml", "--baseline", "missing.toml"}},
      Mistake{"F004-other", 2, {"run", "pipelines/pass.toml", "--baseline", "pipelines/fail.toml"}},
      Mistake{"C016", 2, {"run", "pipelines/pass.toml", "--update-baseline"}},
      Mistake{"F003", 2, {"report", "pipelines/pass.toml"}},
      Mistake{"F003-missing", 2, {"report", "missing.json"}},
      Mistake{"F002-new", 2, {"compare", a, b, "--map", "weight=bais"}},
      Mistake{"N001", 2, {"new", "stpe", "mine.norm"}},
      Mistake{"N002", 2, {"new", "step", "Mine.norm"}},
      Mistake{"N002-no-family", 2, {"new", "step", "norm"}},
      Mistake{"N003", 2, {"new", "step", "mine.norm", "--out-of-tree", "taken"}},
      Mistake{"N004", 2, {"new", "step", "mine.norm"}},
      Mistake{"N005", 4, {"new", "step", "mine.norm", "--out-of-tree", "pipelines/pass.toml"}},
      Mistake{"R001", 2, {"run", "pipelines/pass.toml", "--quiet", "--json", "no/such/folder/record.json"}},
      Mistake{
          "R001-baseline", 2, {"run", "pipelines/pass.toml", "--baseline", "no/such/base.toml", "--update-baseline"}},
      Mistake{"R001-circle", 4, {"run", "pipelines/pass.toml", "--quiet", "--json", "circle.json"}},
      Mistake{"R001-junit", 2, {"run", "pipelines/pass.toml", "--quiet", "--junit", "pipelines"}}};
  for (const auto& mistake : mistakes) {
    INFO(mistake.golden);
    const auto result = process::run(cli::words(mistake.arguments), options);
    CHECK(result.code == mistake.code);
    CHECK(result.err.find(std::string(mistake.golden).substr(0, 4)) != std::string::npos);
    golden::check(std::string("cli/golden/") + mistake.golden + ".txt", cli::normalised(result.err));
  }
}

TEST_CASE("a command line that cannot be read replaces an older record by an invalid one") {
  const cli::Scratch scratch;
  const auto record = scratch.file("record.json");
  REQUIRE(cli::lockstep({"run", "pipelines/pass.toml", "--json", record}).code == 0);
  REQUIRE(cli::lockstep({"run", "pipelines/pass.toml", "--json=" + record, "--onyl", "compare"}).code == 2);
  const auto json = nlohmann::json::parse(cli::content(record));
  CHECK(json.at("verdict") == "invalid");
  CHECK(json.at("exit_code") == 2);
  CHECK(json.at("diagnostics").at(0).at("code") == "C002");
  CHECK(json.at("diagnostics").at(0).at("did_you_mean") == "--only");
}

TEST_CASE("a --plugin-path folder must exist for every verb that searches plugins") {
  for (const auto& words : std::vector<std::vector<std::string>>{{"run", "pipelines/pass.toml"},
                                                                 {"validate", "pipelines/pass.toml"},
                                                                 {"plan", "pipelines/pass.toml"},
                                                                 {"list"},
                                                                 {"describe", "toy.source"}}) {
    INFO(words.front());
    auto with_folder = words;
    with_folder.insert(with_folder.end(), {"--plugin-path", "no/such/folder"});
    const auto result = cli::lockstep(with_folder);
    CHECK(result.code == 2);
    CHECK(result.err.find("error[C015]: plugin folder 'no/such/folder' does not exist") != std::string::npos);
    CHECK(result.out.empty());
  }
  auto options = cli::options();
  options.environment.front() += ":/no/such/folder";
  CHECK(process::run(cli::words({"list"}), options).code == 0);
}

TEST_CASE("an option's value may start with a dash or an equals sign may join it") {
  CHECK(cli::lockstep({"run", "pipelines/pass.toml", "--set", "step.runtime.with.text=-x", "--quiet"}).code == 0);
  CHECK(cli::lockstep({"run", "--color=never", "pipelines/pass.toml", "--quiet"}).code == 0);
  const auto result = cli::lockstep({"run", "pipelines/pass.toml", "--json", "-", "--quiet"});
  CHECK(result.code == 0);
  CHECK(nlohmann::json::parse(result.out).at("verdict") == "pass");
}
