#include <unistd.h>

#include <ATen/TensorOperators.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <lockstep/diagnostic.hpp>
#include <lockstep/torch.hpp>
#include <map>
#include <set>

#include "catch.hpp"
#include "recording/recording.hpp"
#include "references.hpp"

namespace fs = std::filesystem;
using gemma4::test::checkpoint_folder;
using gemma4::test::int64s;
using gemma4::test::native_reference;
using gemma4::test::prompt;
using lockstep::DType;
using lockstep::Tensor;
using Sizes = std::vector<std::int64_t>;

namespace {

/// 30 ids; the irregular checkpoint's window is 24, its layers 0 to 3 have keys and values of their own.
Sizes thirty_ids() {
  Sizes ids;
  for (std::int64_t i = 0; i < 30; ++i) ids.push_back(100 + 7 * i % 300);
  return ids;
}
std::shared_ptr<const gemma4::Reference> irregular(DType dtype = DType::bfloat16) {
  return native_reference(checkpoint_folder("irregular-gemma4"), dtype);
}
std::string hash_of(const gemma4::KvCache& cache) {
  std::string hashes;
  gemma4::visit_tensors(cache, [&](std::string_view name, const Tensor& tensor) {
    hashes += std::string(name) + tensor.to_string() + gemma4::sha256_of(tensor);
  });
  return hashes;
}

/// A checkpoint whose generation_config.json says other eos ids; gone with the object.
class OtherEos {
 public:
  explicit OtherEos(const std::string& ids) : folder_(fs::temp_directory_path() / ("eos_" + std::to_string(getpid()))) {
    fs::remove_all(folder_);
    fs::create_directory(folder_);
    for (const auto& file : fs::directory_iterator(checkpoint_folder("shapes-gemma4"))) {
      fs::create_symlink(file, folder_ / file.path().filename());
    }
    fs::remove(folder_ / "generation_config.json");
    std::ofstream(folder_ / "generation_config.json") << R"({"eos_token_id": )" << ids << "}";
  }
  ~OtherEos() { fs::remove_all(folder_); }
  OtherEos(const OtherEos&) = delete;
  OtherEos& operator=(const OtherEos&) = delete;
  [[nodiscard]] const fs::path& folder() const { return folder_; }

 private:
  fs::path folder_;
};

}  // namespace

TEST_CASE("layers that share keys and values run on the kept positions only") {
  const auto [keep, kept] = GENERATE(table<std::int64_t, std::int64_t>({{0, 30}, {1, 1}, {3, 3}, {30, 30}, {99, 30}}));
  const auto reference = irregular();
  std::map<std::string, Sizes> shapes;
  const auto logits = reference->start()->prefill(
      prompt(thirty_ids()), keep,
      [&](std::string_view name, const Tensor& tensor) { shapes[std::string(name)] = tensor.sizes(); });
  CHECK(logits.sizes() == Sizes{1, kept, reference->checkpoint().config().text.vocab_size});
  CHECK(shapes.at("L3.out") == Sizes{1, 30, 80});
  CHECK(shapes.at("L4.out") == Sizes{1, kept, 80});
  CHECK(shapes.at("L6.scores_masked") == Sizes{1, 4, kept, 30});
  CHECK_FALSE(shapes.contains("L4.k"));
  CHECK(shapes.at("L4.kv_source.k") == Sizes{1, 1, 30, 48});  // of layer 1, the last full one before
}

TEST_CASE("sliding layers keep the last window - 1 positions, full ones all") {
  const auto session = irregular()->start();
  static_cast<void>(session->prefill(prompt(thirty_ids()), 0));
  for (std::int64_t length = 30; length <= 32; ++length) {
    const auto cache = session->snapshot();
    CHECK(cache.length == length);
    REQUIRE(cache.layers.size() == 4);
    for (const auto& layer : cache.layers) {
      const bool full = layer.index == 1;
      const Sizes expected{1, 1, full ? length : 23, full ? 48 : 24};
      CHECK(layer.key.sizes() == expected);
      CHECK(layer.value.sizes() == expected);
    }
    static_cast<void>(session->decode(int64s({7})));
  }
}

TEST_CASE("a snapshot stays what it was, and sessions do not disturb each other") {
  const auto reference = irregular(DType::float32);
  const auto alone = reference->start(), one = reference->start(), other = reference->start();
  static_cast<void>(alone->prefill(prompt(thirty_ids()), 1));
  static_cast<void>(one->prefill(prompt(thirty_ids()), 1));
  const auto before = one->snapshot();
  const auto hash = hash_of(before);
  static_cast<void>(other->prefill(prompt({1, 2, 3}), 1));
  static_cast<void>(other->decode(int64s({4})));
  const auto expected = gemma4::sha256_of(alone->decode(int64s({9})));
  CHECK(gemma4::sha256_of(one->decode(int64s({9}))) == expected);
  CHECK(hash_of(before) == hash);
  CHECK(hash_of(one->snapshot()) != hash);
  CHECK(hash_of(one->snapshot()) == hash_of(alone->snapshot()));
}

TEST_CASE("a session outlives the reference that started it") {
  auto reference = irregular();
  const auto session = reference->start();
  reference.reset();
  CHECK(session->prefill(prompt({5, 6}), 1).sizes() == Sizes{1, 1, 900});
}

TEST_CASE("a placeholder's id counts as the pad id, in the prompt and in a step") {
  const auto reference = irregular();
  const auto& tokens = reference->checkpoint().config().tokens;
  REQUIRE(tokens.image);
  const auto run = [&](std::int64_t in_prompt, std::int64_t in_step) {
    const auto session = reference->start();
    const auto prefill = gemma4::sha256_of(session->prefill(prompt({5, in_prompt, 6}), 0));
    return std::pair(prefill, gemma4::sha256_of(session->decode(int64s({in_step}))));
  };
  const auto padded = run(tokens.pad, tokens.pad);
  CHECK(run(*tokens.image, *tokens.image) == padded);
  CHECK(run(5, tokens.pad).first != padded.first);
  CHECK(run(tokens.pad, 5).second != padded.second);
}

TEST_CASE("generation ends at any id of the eos set, and at max_new_tokens") {
  // "A red triangle …" without a picture: the ids do not matter, only that they are the same with every eos set.
  const auto ids = prompt({2, 300, 301, 302});
  const OtherEos none("[1]");
  const auto generated = [&ids](const fs::path& folder, const auto&... each) {
    const auto reference = native_reference(folder, DType::float32);
    return reference->generate(reference->prompt(ids), 6, each...);
  };
  const auto free = generated(none.folder());
  REQUIRE(free.tokens.size() == 6);
  CHECK(free.stop == "length");
  for (const auto& set : {"[1, {}]", "[{}, 1]", "{}"}) {
    auto text = std::string(set);
    text.replace(text.find("{}"), 2, std::to_string(free.tokens[2]));
    const OtherEos eos(text);
    std::vector<Sizes> logits;
    const auto stopped = generated(eos.folder(), [&](std::int64_t step, const Tensor& scores) {
      CHECK(step == std::ssize(logits));
      CHECK(scores.dtype() == DType::float32);
      logits.push_back(scores.sizes());
    });
    const auto first = std::ranges::find(free.tokens, free.tokens[2]) + 1;
    CHECK(stopped.tokens == Sizes(free.tokens.begin(), first));
    CHECK(stopped.stop == "eos");
    CHECK(logits == std::vector<Sizes>(stopped.tokens.size(), Sizes{1, 960}));
  }
}

TEST_CASE("passes out of order, and inputs that do not fit, are errors that say so") {
  const auto reference = irregular();
  const auto session = reference->start();
  CHECK_THROWS_WITH(session->decode(int64s({1})), contains_text("before prefill"));
  CHECK_THROWS_WITH(session->prefill(prompt({1, 2}), -1), contains_text("logits_to_keep is -1"));
  auto odd = prompt({1, 2});
  odd.attention_mask = int64s({1, 1, 1});
  CHECK_THROWS_WITH(session->prefill(odd, 0), contains_text("attention_mask is int64 [1, 3], expected [1, 2]"));
  auto half = prompt({1, 2});
  half.pixel_values = Tensor();
  CHECK_THROWS_WITH(session->prefill(half, 0), contains_text("given together"));
  static_cast<void>(session->prefill(prompt({1, 2}), 0));
  CHECK_THROWS_WITH(session->prefill(prompt({1, 2}), 0), contains_text("called twice"));
  CHECK_THROWS_WITH(session->decode(int64s({1, 2})), contains_text("int64 [1, 2], expected int64 [1, 1]"));
  CHECK_THROWS_WITH(session->decode(int64s({900})), contains_text("900 at position 0, expected 0 to 899"));
  const auto undisturbed = reference->start();
  static_cast<void>(undisturbed->prefill(prompt({1, 2}), 0));
  CHECK(gemma4::sha256_of(session->decode(int64s({3}))) == gemma4::sha256_of(undisturbed->decode(int64s({3}))));
  CHECK_THROWS_WITH(reference->generate(reference->prompt(prompt({1, 2}, 2)), 3), contains_text("one row"));
  CHECK_THROWS_WITH(reference->generate(reference->prompt(prompt({1, 2})), 0), contains_text("max_new_tokens is 0"));
}

TEST_CASE("what goes on from a prompt is what a fresh session gives, bit for bit, behind dropped positions too") {
  const auto dtype = GENERATE(DType::bfloat16, DType::float32);
  const auto text = GENERATE(prompt({5, 6, 7}), prompt(thirty_ids()));  // shorter than the window, and longer
  const auto reference = irregular(dtype);
  const auto fresh = reference->start();
  auto logits = fresh->prefill(text, 1);
  std::set<std::string> shown;
  const auto made = reference->prompt(text, [&](std::string_view name, const Tensor& tensor) {
    shown.emplace(name);
    if (name.ends_with(".out")) CHECK(tensor.size(1) == text.input_ids.size(1));
  });
  CHECK(shown.contains("L0.out"));
  CHECK(shown.contains("L6.out"));  // it shares keys and values
  CHECK(gemma4::sha256_of(made.logits) == gemma4::sha256_of(logits));
  CHECK(hash_of(made.cache) == hash_of(fresh->snapshot()));
  CHECK(gemma4::sha256_of(reference->prompt(text).logits) == gemma4::sha256_of(logits));

  const auto sent = lockstep::PortTransfer<gemma4::ReferencePrompt>::from_tensors(
      lockstep::PortTransfer<gemma4::ReferencePrompt>::to_tensors(made));
  CHECK(sent.made_by == reference->identity());
  const auto resumed = reference->resume(sent), again = reference->resume(made);
  Sizes tokens;
  std::vector<std::string> rows;
  for (int step = 0; step < 4; ++step) {
    rows.push_back(gemma4::sha256_of(lockstep::Tensor(lockstep::to_torch(logits).select(1, 0).to(at::kFloat))));
    tokens.push_back(lockstep::to_torch(logits).argmax().item<std::int64_t>());
    logits = fresh->decode(int64s({tokens.back()}));
    for (auto* session : {resumed.get(), again.get()}) {
      CHECK(gemma4::sha256_of(session->decode(int64s({tokens.back()}))) == gemma4::sha256_of(logits));
      CHECK(hash_of(session->snapshot()) == hash_of(fresh->snapshot()));
    }
  }
  const auto generated = reference->generate(sent, 4, [&](std::int64_t step, const Tensor& row) {
    CHECK(gemma4::sha256_of(row) == rows.at(static_cast<std::size_t>(step)));
  });
  CHECK(generated.tokens == tokens);
}

TEST_CASE("a prompt that the reference cannot have made is refused with what does not fit") {
  const auto reference = irregular();
  const auto good = reference->prompt(prompt(thirty_ids()));
  const auto refused = [&](const std::function<void(gemma4::ReferencePrompt&)>& damage) {
    auto bad = good;
    damage(bad);
    try {
      static_cast<void>(reference->resume(bad));
    } catch (const lockstep::Error& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  CHECK(refused([](auto&) {}) == "taken");
  CHECK_THAT(refused([](auto& p) { p.cache.length = 31; }), contains_text("has 31 positions"));
  CHECK_THAT(refused([](auto& p) { p.cache.layers.pop_back(); }), contains_text("nothing for layer 3"));
  CHECK_THAT(refused([](auto& p) { p.cache.layers[1].index = 2; }), contains_text("nothing for layer 1"));
  CHECK_THAT(refused([](auto& p) {
               p.cache.layers.push_back({6, Tensor(), Tensor()});
             }),
             contains_text("has 5 layers"));
  CHECK_THAT(refused([](auto& p) { p.cache.layers[0].key = p.cache.layers[1].key; }),
             contains_text("bfloat16 [1, 1, 30, 48] for layer 0, expected bfloat16 [1, 1, 23, 24]"));
  CHECK_THAT(refused([](auto& p) { p.cache = irregular(DType::float32)->prompt(p.inputs).cache; }),
             contains_text("expected bfloat16"));
  CHECK_THAT(refused([](auto& p) { p.logits = Tensor(); }), contains_text("logits are float32 [0]"));
}
