#include <lockstep/step.hpp>

namespace {
using namespace lockstep;

/// Publishes the numbers of its parameter.
struct Source final : Step {
  Param<std::vector<double>> values{*this, "values", "the numbers", {.unit = "apples"}};
  Param<std::string> text{*this, "text", "the summary", {.default_value = ""}};
  Out<Tensor> numbers{*this, "numbers", "[n]"};

  void run(StepContext& context) override {
    if (!text->empty()) context.summary(*text);
    numbers = Tensor::copy_of(std::span<const double>(*values), {static_cast<std::int64_t>(values->size())});
  }
};
}  // namespace

LOCKSTEP_STEP("toy.source", Source, "publishes numbers")
