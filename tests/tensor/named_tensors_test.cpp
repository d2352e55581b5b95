#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <lockstep/diagnostic.hpp>
#include <lockstep/port.hpp>
#include <lockstep/tensor.hpp>

#include "catch.hpp"

using namespace lockstep;

namespace {

Tensor vector_of(const std::vector<std::int32_t>& values) {
  return Tensor::copy_of(std::span<const std::int32_t>(values), {static_cast<std::int64_t>(values.size())});
}

}  // namespace

TEST_CASE("a set of tensors keeps its order, finds by name and shows each tensor to a visitor") {
  NamedTensors set;
  set.add("second", vector_of({1, 2}));
  set.add("first", vector_of({3}));
  CHECK(set.names() == std::vector<std::string>{"second", "first"});
  CHECK(set.at("first").values<std::int32_t>()[0] == 3);
  CHECK(set.find("third") == nullptr);

  std::vector<std::string> shown;
  visit_tensors(set, [&](std::string_view name, const Tensor& tensor) {
    shown.push_back(std::string(name) + " " + tensor.to_string());
  });
  CHECK(shown == std::vector<std::string>{"second int32 [2]", "first int32 [1]"});
  CHECK(PortType<NamedTensors>::id == "lockstep.tensors/1");

  const NamedTensors copy(set.entries());
  set.add("third", vector_of({}));
  CHECK(copy.size() == 2);
  CHECK(copy.at("second").data() == set.at("second").data());
}

TEST_CASE("a set of tensors takes a name once and none that is empty") {
  NamedTensors set;
  set.add("weight", vector_of({1, 2}));
  CHECK_THROWS_WITH(set.add("weight", vector_of({3})),
                    "the name 'weight' is given to two tensors of one set: int32 [2] and int32 [1]");
  CHECK_THROWS_WITH(set.add("", vector_of({3})), "a tensor int32 [1] has no name, a set of tensors needs one");
  CHECK(set.size() == 1);
}

TEST_CASE("a name that a set of tensors does not have brings the nearest one") {
  NamedTensors set;
  set.add("layer.0.weight", vector_of({1}));
  set.add("bias", vector_of({1}));
  try {
    (void)set.at("layer.0.wieght");
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.diagnostic().message == "there is no tensor 'layer.0.wieght' in the set");
    CHECK(error.diagnostic().did_you_mean == "layer.0.weight");
    CHECK(error.diagnostic().help == "it has: layer.0.weight, bias");
  }
}
