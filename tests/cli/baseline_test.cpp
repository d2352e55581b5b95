// A baseline as a user meets it: taken, held against, refused, loosened with a reason; and two records compared.

#include "cli.hpp"

TEST_CASE("a run that is worse than its baseline fails, and what loosens it needs a reason") {
  const cli::Scratch scratch;
  const auto file = scratch.file("base.toml");
  const auto run = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"run", "pipelines/pass.toml", "--baseline", file};
    words.insert(words.end(), more.begin(), more.end());
    return cli::lockstep(words);
  };
  CHECK(run({}).code == 2);
  const auto taken = run({"--update-baseline"});
  CHECK(taken.code == 0);
  CHECK(taken.out.find("the baseline was updated: ") != std::string::npos);
  CHECK(run({}).code == 0);
  const auto before = cli::content(file);

  // A required check that only informs.
  const auto junit = scratch.file("junit.xml");
  const auto record = scratch.file("run.json");
  const std::vector<std::string> less{"--set", "step.compare.checks.same_bits.level=inform", "--junit", junit, "--json",
                                      record};
  const auto worse = run(less);
  CHECK(worse.code == 1);
  CHECK(worse.out.find("its level is inform, was require") != std::string::npos);
  CHECK(cli::content(junit).find("its level is inform, was require") != std::string::npos);
  CHECK(cli::content(record).find("\"verdict\": \"fail\"") != std::string::npos);
  CHECK(cli::lockstep({"report", record}).out == worse.out);

  auto refused = less;
  refused.insert(refused.end(), {"--update-baseline"});
  CHECK(run(refused).code == 1);
  CHECK(cli::content(file) == before);
  refused.insert(refused.end(), {"--reason", "not needed any more"});
  CHECK(run(refused).code == 0);
  CHECK(cli::content(file).find("reason = \"not needed any more\"") != std::string::npos);
}

TEST_CASE("a reason that says nothing, or is no text, is refused before anything runs") {
  const cli::Scratch scratch;
  const auto file = scratch.file("base.toml");
  for (const auto* reason : {"  ", "caf\xe9"}) {
    const auto result = cli::lockstep(
        {"run", "pipelines/pass.toml", "--baseline", file, "--update-baseline", "--reason", reason, "--quiet"});
    CHECK(result.code == 2);
    CHECK(result.err.find("error[C005]: '--reason' ") != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(file));
  }
}

TEST_CASE("a run that performs no check of its baseline does not pass by it") {
  const cli::Scratch scratch;
  const auto run = [&](const std::string& file, std::vector<std::string> more) {
    more.insert(more.begin(), {"run", "pipelines/pass.toml", "--baseline", scratch.file(file)});
    return cli::lockstep(more);
  };
  REQUIRE(run("base.toml", {"--update-baseline"}).code == 0);
  const auto before = cli::content(scratch.file("base.toml"));
  const auto none = run("base.toml", {"--only", "reference"});
  CHECK(none.code == 1);
  CHECK(none.out.find("nothing was compared") != std::string::npos);
  CHECK(run("base.toml", {"--only", "reference", "--update-baseline"}).code == 1);
  CHECK(cli::content(scratch.file("base.toml")) == before);
  CHECK(run("new.toml", {"--only", "reference", "--update-baseline"}).code == 1);
  CHECK_FALSE(std::filesystem::exists(scratch.file("new.toml")));
}

TEST_CASE("diff tells equal records from others by its exit code") {
  const cli::Scratch scratch;
  const auto a = scratch.file("a.json");
  const auto b = scratch.file("b.json");
  const auto c = scratch.file("c.json");
  CHECK(cli::lockstep({"run", "pipelines/pass.toml", "--json", a}).code == 0);
  CHECK(cli::lockstep({"run", "pipelines/pass.toml", "--json", b}).code == 0);
  CHECK(cli::lockstep({"run", "pipelines/pass.toml", "--set", "right=[1.0]", "--json", c}).code == 1);
  const auto same = cli::lockstep({"diff", a, b});
  CHECK(same.code == 0);
  CHECK(same.out == "no difference\n");
  const auto other = cli::lockstep({"diff", a, c});
  CHECK(other.code == 1);
  CHECK(other.out.starts_with("verdicts\n  run  verdict: pass -> fail\n"));
  CHECK(cli::lockstep({"diff", a, c, "--json"}).out.find("\"equal\": false") != std::string::npos);
  CHECK(cli::lockstep({"diff", a, scratch.file("none.json")}).code == 2);
}

TEST_CASE("the report of a record is the report of its run, byte for byte") {
  const cli::Scratch scratch;
  const auto record = scratch.file("run.json");
  for (const auto* pipeline : {"pass", "fail", "warn", "vacuous", "error", "skip", "layers"}) {
    for (const auto* detail : {"--quiet", "--verbose"}) {
      INFO(pipeline << " " << detail);
      const auto run = cli::lockstep({"run", "pipelines/" + std::string(pipeline) + ".toml", "--json", record, detail});
      CHECK(cli::lockstep({"report", record, detail}).out == run.out);
    }
  }
}
