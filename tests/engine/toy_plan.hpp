#pragma once

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <lockstep/step.hpp>

#include "engine/executor.hpp"

/// Plans made of small steps that are written down in the test.
namespace toy {

using namespace lockstep;

/// Something with a number; counts how many of its kind are alive.
struct Token {
  explicit Token(int v) : value(v) { ++alive; }
  Token(const Token& other) : value(other.value) { ++alive; }
  Token& operator=(const Token&) = delete;
  ~Token() { --alive; }
  int value;
  static inline int alive = 0;
};

}  // namespace toy

LOCKSTEP_PORT_TYPE(toy::Token, "toy.token/1");

namespace toy {

/// A step with every kind of port and check; what it does is a function.
struct Toy final : Step {
  In<Token> in{*this, "in", "a token", lockstep::optional};
  In<Token> in2{*this, "in2", "another", lockstep::optional};
  In<Token> needed{*this, "needed", "a token that must be there"};
  Out<Token> out{*this, "out", "a token"};
  Out<Token> extra{*this, "extra", "not always there", lockstep::optional};
  Check check{*this, "check", expect(), "holds"};
  std::function<void(Toy&, StepContext&)> body;

  void run(StepContext& context) override { body(*this, context); }
};

/// The same without checks: DONE.
struct Source final : Step {
  Out<Token> out{*this, "out", "a token"};
  std::function<void(Source&, StepContext&)> body = [](Source& s, StepContext&) { s.out = 1; };

  void run(StepContext& context) override { body(*this, context); }
};

inline void pass(Toy& t, StepContext&) {
  t.check.expect(true, "");
  t.out = 1;
}
inline void fail(Toy& t, StepContext&) {
  t.check.expect(false, "found 1, expected 2");
  t.out = 1;
}
inline void fail_unpublished(Toy& t, StepContext&) { t.check.expect(false, "found 1, expected 2"); }
inline void raise(Toy&, StepContext&) { throw Error{"no weights", "train first"}; }
inline void skip_itself(Toy&, StepContext& c) { c.skip("no picture"); }

/// Builds a plan step by step. A wire is {"in", "producer", "out"}.
class PlanBuilder {
 public:
  struct Wire {
    std::string input, step, output;
  };

  PlanBuilder() { plan.environment.threads = 1; }

  template <class S = Toy>
  PlanBuilder& add(const std::string& id, std::type_identity_t<std::function<void(S&, StepContext&)>> body,
                   std::vector<Wire> wires = {}) {
    auto step = std::make_shared<S>();
    step->body = std::move(body);
    PlannedStep planned{.id = id, .uses = "toy.step"};
    planned.handle = StepHandle{.step = step};
    for (const auto& wire : wires) {
      planned.wires.push_back({.input = wire.input, .step = index_of(wire.step), .output = wire.output});
    }
    plan.steps.push_back(std::move(planned));
    return *this;
  }
  PlanBuilder& skipped(const std::string& id, const std::string& reason) {
    add(id, pass);
    plan.steps.back().skip = reason;
    return *this;
  }
  PlanBuilder& setting(const std::function<void(CheckSettings&)>& change) {
    auto& check = *plan.steps.back().handle->step->declarations().checks.at(0);
    auto settings = check.settings();
    change(settings);
    check.configure(settings);
    return *this;
  }
  RunRecord run(const RunOptions& options = {}, const std::vector<RunObserver*>& observers = {}) {
    return execute(plan, options, observers);
  }

  Plan plan;

 private:
  std::size_t index_of(const std::string& id) const {
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      if (plan.steps[i].id == id) return i;
    }
    throw Error{"no step " + id};
  }
};

/// "pass fail skipped(reason)" for the steps of a record.
inline std::string statuses(const RunRecord& record) {
  std::string text;
  for (const auto& step : record.steps) {
    if (!text.empty()) text += ", ";
    text += step.id + " " + std::string(name_of(step.status.value_or(StepStatus::crashed)));
    if (step.reason) text += " (" + *step.reason + ")";
  }
  return text;
}

}  // namespace toy
