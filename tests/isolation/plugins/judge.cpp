#include <cstring>

#include <lockstep/step.hpp>

namespace {
using namespace lockstep;

bool same_bits(const Tensor& a, const Tensor& b) {
  const auto x = a.contiguous();
  const auto y = b.contiguous();
  const auto bytes = static_cast<std::size_t>(x.numel()) * element_size(x.dtype());
  return x.dtype() == y.dtype() && x.sizes() == y.sizes() &&
         (bytes == 0 || std::memcmp(x.data(), y.data(), bytes) == 0);
}

/// Compares what a mirror handed on with what it was given.
struct Judge final : Step {
  In<NamedTensors> set{*this, "set", "what the mirror got"};
  In<std::string> text{*this, "text", "the text that it got"};
  In<NamedTensors> same{*this, "same", "the tensors themselves"};
  In<NamedTensors> copied{*this, "copied", "contiguous copies"};
  In<std::string> echo{*this, "echo", "the text"};
  Check names{*this, "names", equal(), "the names, in order"};
  Check bits_of{*this, "bits", expect(), "dtype, shape and every bit"};
  Check layout{*this, "layout", expect(), "strides"};
  Check memory{*this, "memory", expect(), "what is handed on unchanged is the same memory as before"};
  Check text_of{*this, "text", equal(), "the text"};

  void run(StepContext&) override {
    names.at("same").equal(Expected{set->names()}, Actual{same->names()});
    names.at("copied").equal(Expected{set->names()}, Actual{copied->names()});
    for (const auto& [name, tensor] : set->entries()) {
      bits_of.at(name + " same").expect(same_bits(tensor, same->at(name)), "bits differ");
      bits_of.at(name + " copied").expect(same_bits(tensor, copied->at(name)), "bits differ");
      layout.at(name).expect(tensor.strides() == same->at(name).strides(), "strides differ");
      memory.at(name).expect(tensor.numel() == 0 || tensor.data() == same->at(name).data(), "another address");
    }
    text_of.equal(Expected{*text}, Actual{*echo});
  }
};
}  // namespace

LOCKSTEP_STEP("iso.judge", Judge, "judges a mirror")
