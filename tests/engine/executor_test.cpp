#include "engine/executor.hpp"

#include <array>
#include <filesystem>
#include <fstream>

#include <lockstep/safetensors.hpp>

#include "catch.hpp"
#include "engine/toy_plan.hpp"
#include "golden.hpp"
#include "pipeline/render_diagnostic.hpp"

using namespace toy;

TEST_CASE("after a FAIL the outputs are published and the readers run") {
  const auto record = PlanBuilder().add("a", fail).add("b", pass, {{"needed", "a", "out"}}).run();
  CHECK(statuses(record) == "a fail, b pass");
  CHECK(record.exit_code == 1);
}

TEST_CASE("--fail-fast skips everything after the first FAIL or ERROR") {
  RunOptions options;
  options.fail_fast = true;
  CHECK(statuses(PlanBuilder().add("a", fail).add("b", pass).run(options)) ==
        "a fail, b skipped (--fail-fast after 'a')");
  CHECK(statuses(PlanBuilder().add("a", raise).add("b", pass).run(options)) ==
        "a error (no weights), b skipped (--fail-fast after 'a')");
}

TEST_CASE("after ERROR every reader is skipped with that reason, optional input or not, and the others run") {
  const auto record = PlanBuilder()
                          .add("a", raise)
                          .add("required", pass, {{"needed", "a", "out"}})
                          .add("optional", pass, {{"in", "a", "out"}})
                          .add("reader_of_reader", pass, {{"in", "optional", "out"}})
                          .add("other", pass)
                          .run();
  CHECK(statuses(record) ==
        "a error (no weights), required skipped ('a' ended in ERROR), optional skipped ('a' ended in ERROR), "
        "reader_of_reader skipped ('a' ended in ERROR), other pass");
  CHECK(record.steps[0].help == "train first");
  CHECK(record.exit_code == 4);
  REQUIRE(record.diagnostics.size() == 1);
  CHECK(record.diagnostics[0].code == "S001");
  CHECK(record.diagnostics[0].message == "step 'a': no weights");
}

TEST_CASE("readers of a step with skip are skipped with its reason, optional input or not") {
  const auto record = PlanBuilder()
                          .skipped("a", "not built yet")
                          .add("b", pass, {{"in", "a", "out"}})
                          .add("c", pass, {{"in", "b", "out"}})
                          .add("d", pass)
                          .run();
  CHECK(statuses(record) ==
        "a skipped (not built yet), b skipped ('a' was skipped: not built yet), c skipped ('a' was skipped: not built "
        "yet), d pass");
  CHECK(record.exit_code == 0);
}

TEST_CASE("a step that skips itself empties optional inputs and skips readers that require it") {
  const auto record = PlanBuilder()
                          .add("a", skip_itself)
                          .add("optional",
                               [](Toy& t, StepContext& c) {
                                 CHECK_FALSE(t.in.has_value());
                                 pass(t, c);
                               },
                               {{"in", "a", "out"}})
                          .add("required", pass, {{"needed", "a", "out"}})
                          .run();
  CHECK(statuses(record) == "a skipped (no picture), optional pass, required skipped ('a' was skipped: no picture)");
  CHECK(record.steps[0].checks.empty());
}

TEST_CASE("a non-optional output that stays unset needs a FAIL, else the step is an ERROR") {
  const auto silent = [](Toy& t, StepContext&) { t.check.expect(true, ""); };
  const auto record = PlanBuilder()
                          .add("explained", fail_unpublished)
                          .add("silent", silent)
                          .add("reader", pass, {{"in", "explained", "out"}})
                          .run();
  CHECK(statuses(record) ==
        "explained fail, silent error (did not publish 'out' and failed no check), reader skipped ('explained' did not "
        "publish 'out')");
  CHECK(record.diagnostics.at(0).code == "S003");
  for (const auto& check : record.steps[1].checks) CHECK_FALSE(check.verdict.has_value());
}

TEST_CASE("an optional output that stays unset leaves optional inputs empty and skips readers that require it") {
  const auto record = PlanBuilder()
                          .add("a", pass)
                          .add("optional",
                               [](Toy& t, StepContext& c) {
                                 CHECK_FALSE(t.in.has_value());
                                 pass(t, c);
                               },
                               {{"in", "a", "extra"}})
                          .add("required", pass, {{"needed", "a", "extra"}})
                          .run();
  CHECK(statuses(record) == "a pass, optional pass, required skipped ('a' did not publish 'extra')");
}

TEST_CASE("checks of an ERROR step keep what they measured but have no verdict") {
  const auto record = PlanBuilder()
                          .add("a",
                               [](Toy& t, StepContext& c) {
                                 t.check.expect(false, "seen");
                                 raise(t, c);
                               })
                          .run();
  REQUIRE(record.steps[0].checks.size() == 1);
  CHECK_FALSE(record.steps[0].checks[0].verdict.has_value());
}

TEST_CASE("progress interrupts a long step after Ctrl-C and the rest is skipped") {
  std::atomic<bool> interrupted{false};
  RunOptions options;
  options.interrupted = &interrupted;
  int reached = 0;
  const auto record = PlanBuilder()
                          .add("long",
                               [&](Toy&, StepContext& c) {
                                 for (reached = 0; reached < 100; ++reached) {
                                   if (reached == 3) interrupted = true;
                                   c.progress(reached, 100, "layer");
                                 }
                               })
                          .add("b", pass)
                          .run(options);
  CHECK(reached == 3);
  CHECK(statuses(record) == "long skipped (interrupted), b skipped (interrupted)");
  CHECK(record.exit_code == 6);
}

TEST_CASE("observers see progress, and each step's record final when it has finished") {
  struct Watcher final : RunObserver {
    std::string log;
    void step_progress(std::size_t step, std::int64_t done, std::int64_t total, std::string_view unit) override {
      log += std::to_string(step) + ":" + std::to_string(done) + "/" + std::to_string(total) + " " + std::string(unit) +
             ";";
    }
    void step_finished(const RunRecord& record, std::size_t step) override {
      CHECK(record.verdict == RunVerdict::incomplete);
      log += std::string(name_of(record.steps[step].status.value())) + ";";
    }
  } watcher;
  PlanBuilder()
      .add("a",
           [](Toy& t, StepContext& c) {
             c.progress(2, 7, "layer");
             pass(t, c);
           })
      .add("b", fail)
      .run({}, {&watcher});
  CHECK(watcher.log == "0:2/7 layer;pass;fail;");
}

TEST_CASE("what a step says of itself stands in its record") {
  const auto record = PlanBuilder()
                          .add("a",
                               [](Toy& t, StepContext& c) {
                                 c.summary("3 tensors");
                                 c.record("not_compared", Value::Array{"x"});
                                 c.environment("model", "shapes");
                                 CHECK(c.step_id() == "a");
                                 pass(t, c);
                               })
                          .run();
  CHECK(record.steps[0].summary == "3 tensors");
  CHECK(record.steps[0].extra.at(0) == std::pair<std::string, Value>{"not_compared", Value::Array{"x"}});
  CHECK(record.environment.back() == std::pair<std::string, Value>{"model", "shapes"});
  CHECK(record.steps[0].peak_rss_bytes > record.steps[0].peak_private_bytes);
  CHECK(record.steps[0].peak_private_bytes > 0);
}

TEST_CASE("what a failing step may have meant stands before its help in the record") {
  const auto record = PlanBuilder()
                          .add("a",
                               [](Toy&, StepContext&) {
                                 throw Error{Diagnostic{.message = "there is no tensor 'hiden' in the set",
                                                        .did_you_mean = "hidden",
                                                        .help = "it has: hidden, logits"}};
                               })
                          .run();
  CHECK(record.steps[0].status == StepStatus::error);
  CHECK(record.steps[0].help == "did you mean 'hidden'? it has: hidden, logits");
}

TEST_CASE("a step sets the end of a program's output in its record, and none of the record's other fields") {
  const auto record_of = [](const char* key, Value value) {
    return PlanBuilder()
        .add("a",
             [&](Toy& t, StepContext& c) {
               c.record(key, value);
               pass(t, c);
             })
        .run()
        .steps[0];
  };
  const auto told = record_of("output_tail", Value::Array{"loading", "no such device"});
  CHECK(told.status == StepStatus::pass);
  CHECK(told.output_tail == std::vector<std::string>{"loading", "no such device"});
  CHECK(told.extra.empty());
  CHECK(record_of("status", "pass").reason == "a step's own field is called 'status', as one of the record's");
  CHECK(record_of("output_tail", "one line").reason == "output_tail is \"one line\", expected a list of texts");
}

namespace {

/// Publishes one tensor.
struct Numbers final : Step {
  Out<Tensor> numbers{*this, "numbers", "[2]"};
  std::function<void(Numbers&, StepContext&)> body;
  void run(StepContext& context) override { body(*this, context); }
};

void publish_numbers(Numbers& n, StepContext&) {
  const std::array<float, 2> values{1.5F, -2.0F};
  n.numbers = Tensor::copy_of(std::span<const float>(values), {2});
}

}  // namespace

TEST_CASE("--dump writes one safetensors file per step with tensors, named by port") {
  const auto folder = std::filesystem::temp_directory_path() / ("lockstep-dump-" + std::to_string(getpid()));
  RunOptions options;
  options.dump = folder / "deep";
  const auto record = PlanBuilder().add<Numbers>("n", publish_numbers).add("a", pass).run(options);
  CHECK(record.exit_code == 0);
  CHECK(record.steps[0].outputs.at(0).tensors.at(0).shape == std::vector<std::int64_t>{2});
  const auto file = SafetensorsFile::open(options.dump / "n.safetensors");
  CHECK(file.at("numbers").values<float>()[1] == -2.0F);
  CHECK_FALSE(std::filesystem::exists(options.dump / "a.safetensors"));
  std::filesystem::remove_all(folder);
}

TEST_CASE("a dump that cannot be written is reported, exit code 4, and the run goes on") {
  const auto file = std::filesystem::temp_directory_path() / ("lockstep-nodump-" + std::to_string(getpid()));
  std::ofstream(file) << "a file where the folder should be";
  RunOptions options;
  options.dump = file;
  const auto record = PlanBuilder().add<Numbers>("n", publish_numbers).add("a", pass).run(options);
  CHECK(statuses(record) == "n done, a pass");
  CHECK(record.exit_code == 4);
  CHECK(record.diagnostics.at(0).code == "S004");
  std::filesystem::remove(file);
}

TEST_CASE("the full text of every diagnostic of a run is pinned") {
  const auto blocker = std::filesystem::temp_directory_path() / ("lockstep-blocker-" + std::to_string(getpid()));
  std::ofstream(blocker) << "a file where the folder should be";
  RunOptions options;
  options.dump = blocker;
  PlanBuilder builder;
  builder.add("raises", raise)
      .add("throws_int", [](Toy&, StepContext&) { throw 42; })
      .add("silent", [](Toy& t, StepContext&) { t.check.expect(true, ""); })
      .add<Numbers>("numbers", publish_numbers);
  const auto source = std::make_shared<SourceText>(SourceText{"p.toml", "[[step]]\nid = \"raises\"\n"});
  for (auto& step : builder.plan.steps) step.location = {source, 2, 6, 8};
  const auto record = builder.run(options);
  REQUIRE(record.diagnostics.size() == 4);
  for (const auto& diagnostic : record.diagnostics) {
    golden::check("engine/golden/" + diagnostic.code + ".txt",
                  golden::replaced(render(diagnostic, false), blocker.string(), "dump"));
  }
  std::filesystem::remove(blocker);
}
