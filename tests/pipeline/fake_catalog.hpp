#pragma once

#include <functional>
#include <map>
#include <string>

#include "pipeline/plan.hpp"

namespace lockstep::test {

/// Steps that exist in this program only, so that binding is tested without libraries.
///
/// test.source   -> batch (tensor), caption (text)
/// test.other    -> batch (tensor)
/// test.words    -> batch (text): the name of another's output with a type of its own
/// test.reader   batch (tensor), mask (tensor, optional); one check per kind of bound
/// test.params   one parameter of every kind, all with defaults or optional
/// test.required a required integer from 1 to 8, two reals with one limit each
/// test.rules    low and high, with the rule low <= high
/// test.throws, test.foreign   validate throws; test.explodes: so does the constructor
/// test.broken   is found and does not load
class FakeCatalog final : public StepCatalog {
 public:
  FakeCatalog();
  Lookup find(const std::string& uses, const std::filesystem::path& plugin) override;
  std::vector<std::string> names() override;

  std::vector<std::string> plugins_asked_for;  ///< explicit files, as the binder passed them

 private:
  std::map<std::string, std::function<std::shared_ptr<Step>()>> factories_;
};

}  // namespace lockstep::test
