#include <unistd.h>

#include <cstdint>

#include <lockstep/step.hpp>

namespace {
using namespace lockstep;

/// Hands on what it gets: as it is, and copied into memory of its own.
struct Mirror final : Step {
  In<NamedTensors> set{*this, "set", "any tensors"};
  In<Tensor> numbers{*this, "numbers", "any tensor"};
  In<std::string> text{*this, "text", "any text"};
  Out<NamedTensors> same{*this, "same", "the tensors themselves"};
  Out<NamedTensors> copied{*this, "copied", "contiguous copies"};
  Out<std::string> echo{*this, "echo", "the text"};
  Check shares_memory{*this, "shares_memory", expect(), "tensors that share memory do so here"};
  Check same_memory{*this, "same_memory", bits(), "nothing is compared", Level::inform};
  Check numbers_differ{*this, "numbers_differ", max_abs(0), "a failing check", Level::inform};

  Check left_out{*this, "left_out", bits(), "the step leaves it out as it runs"};

  void run(StepContext& context) override {
    left_out.configure({.level = Level::off});
    shares_memory.expect(
        set->at("plain").data() == numbers->data() && set->at("column").data() == numbers->data() + sizeof(float),
        "memory was copied twice");
    same_memory.compare(Expected{*numbers}, Actual{set->at("plain")});
    numbers_differ.at("row", 1).compare(Expected{set->at("large")}, Actual{set->at("column").contiguous()});
    NamedTensors copies;
    for (const auto& [name, tensor] : set->entries()) {
      const auto packed = tensor.contiguous();
      const auto bytes = static_cast<std::size_t>(packed.numel()) * element_size(packed.dtype());
      copies.add(name, Tensor::copy_of(std::span(packed.data(), bytes), packed.dtype(), packed.sizes()));
    }
    same = *set;
    copied = copies;
    echo = *text;
    context.summary("mirrored");
    context.environment("mirror", "here");
    context.record("process", std::int64_t{getpid()});
    context.record("list", Value::Table{{"b", 1}, {"a", Value::Array{0.5, std::string("x")}}});
  }
};
}  // namespace

LOCKSTEP_STEP("iso.mirror", Mirror, "hands on what it gets")
