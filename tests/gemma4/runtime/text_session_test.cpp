#include <limits>

#include <ATen/ops/full_like.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/zeros.h>

#include <fmt/format.h>

#include "gemma4/runtime/errors.hpp"
#include "gemma4/runtime/prompts.hpp"

using namespace gemma4;
using namespace gemma4::test;
using lockstep::DType;

namespace {

constexpr std::int64_t irregular_window = 24;

lockstep::Tensor edited(const lockstep::Tensor& tensor, const std::function<void(at::Tensor&)>& edit) {
  auto copy = lockstep::to_torch(tensor).clone();
  edit(copy);
  return copy;
}

/// The valid slots of a cache, one tensor after the other.
std::vector<at::Tensor> valid_slots(const KvCache& cache) {
  std::vector<at::Tensor> slots;
  for (const auto& layer : cache.layers) {
    for (const auto& tensor : {layer.key, layer.value}) {
      slots.push_back(lockstep::to_torch(tensor).slice(2, 0, cache.length));
    }
  }
  return slots;
}

/// The greatest norm-wise difference of valid slots.
double difference(const KvCache& a, const KvCache& b) {
  REQUIRE(a.length == b.length);
  const auto left = valid_slots(a);
  const auto right = valid_slots(b);
  REQUIRE(left.size() == right.size());
  double largest = 0;
  for (std::size_t i = 0; i < left.size(); ++i) largest = std::max(largest, norm_wise(left[i], right[i]));
  return largest;
}

std::vector<std::int64_t> first_of(const std::vector<std::int64_t>& ids, std::int64_t count) {
  return {ids.begin(), ids.begin() + count};
}

}  // namespace

TEST_CASE("N decoded tokens give the logits and the cache of the prefill of the longer prompt") {
  const auto runtime = irregular_runtime(104);
  const std::int64_t steps = 12;
  // A single token; a prompt that just fits the window or just does not, with decode across it; far behind it.
  for (const std::int64_t length : {std::int64_t{1}, irregular_window - 6, irregular_window - 1, irregular_window,
                                    irregular_window + 1, std::int64_t{70}}) {
    CAPTURE(length);
    const auto ids = some_ids(length + steps);
    const auto session = runtime->start();
    auto logits = prefill(*session, prompt_of(*runtime, first_of(ids, length)));
    for (std::int64_t n = length; n < length + steps; ++n) logits = decode(*session, ids[static_cast<std::size_t>(n)]);
    const auto whole = runtime->start();
    CHECK(norm_wise(prefill(*whole, prompt_of(*runtime, ids)), logits) <= fp32_sums);
    CHECK(difference(whole->snapshot(), session->snapshot()) <= fp32_sums);
  }
}

TEST_CASE("logits and cache are those of a shorter max_seq: padded slots take no part") {
  const auto ids = some_ids(60);
  const auto narrow = irregular_runtime(72);
  const auto wide = irregular_runtime(200);
  const auto in_narrow = narrow->start();
  const auto in_wide = wide->start();
  CHECK(norm_wise(prefill(*in_narrow, prompt_of(*narrow, ids)), prefill(*in_wide, prompt_of(*wide, ids))) <= fp32_sums);
  CHECK(difference(in_narrow->snapshot(), in_wide->snapshot()) <= fp32_sums);
  for (const auto id : some_ids(8)) CHECK(norm_wise(decode(*in_narrow, id), decode(*in_wide, id)) <= fp32_sums);
}

TEST_CASE("what lies in padding changes no bit of logits and cache") {
  for (const auto dtype : {DType::float32, DType::bfloat16}) {
    CAPTURE(dtype);
    const auto runtime = shapes_runtime(100, dtype);
    const auto prompt = prompt_of(*runtime, some_ids(40));
    auto noisy = prompt;
    noisy.batch.input_ids = edited(prompt.batch.input_ids, [](at::Tensor& ids) { ids.slice(1, 40).fill_(123); });
    noisy.embeds = edited(prompt.embeds, [](at::Tensor& embeds) {
      embeds.slice(1, 40, 70).fill_(-3e4);
      embeds.slice(1, 70).fill_(1e-3);
    });
    const auto clean_session = runtime->start();
    const auto noisy_session = runtime->start();
    CHECK(same_bits(prefill(*clean_session, prompt), prefill(*noisy_session, noisy)));
    CHECK(difference(clean_session->snapshot(), noisy_session->snapshot()) == 0);
  }
}

TEST_CASE("rows of padding are finite in every layer, also where no key is allowed") {
  for (const auto dtype : {DType::float32, DType::bfloat16}) {
    CAPTURE(dtype);
    const auto runtime = shapes_runtime(160, dtype);
    const auto prompt = prompt_of(*runtime, some_ids(3));
    REQUIRE(lockstep::to_torch(prompt.masks.sliding)[0][0][120].ne(0).all().item<bool>());
    Shown shown;
    (void)prefill(*runtime->start(), prompt, into(shown));
    for (const auto& [name, tensor] : shown) {
      CAPTURE(name);
      CHECK(at::isfinite(tensor).all().item<bool>());
    }
    // per-layer inputs, keys and values; mask, gate, activation and output of each layer; logits_raw
    CHECK(shown.size() == 2 + 5 * 2 + 10 * 4 + 1);
  }
}

TEST_CASE("keys and values of padding do not enter the cache") {
  const auto runtime = irregular_runtime(80);
  const auto session = runtime->start();
  Shown shown;
  (void)prefill(*session, prompt_of(*runtime, some_ids(30)), into(shown));
  for (const auto& layer : session->snapshot().layers) {
    CAPTURE(layer.index);
    const auto key = lockstep::to_torch(layer.key);
    CHECK(key.size(2) == 79);
    CHECK(same_bits(key.slice(2, 0, 30), shown.at(fmt::format("L{}.k", layer.index)).slice(2, 0, 30)));
    CHECK(key.slice(2, 30).eq(0).all().item<bool>());
    CHECK(lockstep::to_torch(layer.value).slice(2, 30).eq(0).all().item<bool>());
  }
}

TEST_CASE("every shape of decode is the same in every step, up to the last slot") {
  const auto runtime = irregular_runtime(72);
  const auto session = runtime->start();
  (void)prefill(*session, prompt_of(*runtime, some_ids(20)));
  std::map<std::string, std::vector<std::int64_t>> shapes;
  for (const auto id : some_ids(51)) {
    Shown shown;
    shown["logits"] = decode(*session, id, into(shown));
    for (const auto& layer : session->snapshot().layers) {
      shown[fmt::format("cache.L{}", layer.index)] = lockstep::to_torch(layer.key);
    }
    for (const auto& [name, tensor] : shown) {
      CAPTURE(name);
      CHECK(shapes.try_emplace(name, tensor.sizes().vec()).first->second == tensor.sizes().vec());
    }
  }
  CHECK(session->length() == 71);
  CHECK(shapes.at("mask.full") == std::vector<std::int64_t>{1, 1, 1, 72});
  CHECK(shapes.at("mask.sliding") == std::vector<std::int64_t>{1, 1, 1, 72});
  CHECK(shapes.at("cache.L0") == std::vector<std::int64_t>{1, 1, 71, 24});
  CHECK(shapes.at("cache.L1") == std::vector<std::int64_t>{1, 1, 71, 48});
  CHECK(shapes.at("L1.k") == std::vector<std::int64_t>{1, 1, 1, 48});
  CHECK(shapes.at("L6.out") == std::vector<std::int64_t>{1, 1, 80});
  CHECK(shapes.at("rope.full.cos") == std::vector<std::int64_t>{1, 1, 48});
  CHECK(shapes.at("ple.combined") == std::vector<std::int64_t>{1, 1, 7, 12});
}

TEST_CASE("the last slot of the cache counts as any other, and after it the cache is full") {
  const auto runtime = irregular_runtime(72);
  const auto ids = some_ids(72);
  const auto session = runtime->start();
  (void)prefill(*session, prompt_of(*runtime, first_of(ids, 69)));
  (void)decode(*session, ids[69]);
  const auto last = decode(*session, ids[70]);
  const auto whole = runtime->start();
  CHECK(norm_wise(prefill(*whole, prompt_of(*runtime, first_of(ids, 71))), last) <= fp32_sums);
  CHECK(difference(whole->snapshot(), session->snapshot()) <= fp32_sums);
  for (auto* full : {session.get(), whole.get()}) {
    CHECK(full->length() == 71);
    CHECK_THAT(error_of([&] { (void)decode(*full, ids[71]); }),
               contains_text("the cache is full: 71 of 71 slots are taken") && contains_text("raise max_seq"));
    CHECK(full->length() == 71);
  }
}

TEST_CASE("a prompt without a free slot is refused, one with a single one is not") {
  const auto runtime = irregular_runtime(72);
  CHECK(prefill(*runtime->start(), prompt_of(*runtime, some_ids(71))).size(1) == 900);
  CHECK_THAT(error_of([&] { (void)prefill(*runtime->start(), prompt_of(*runtime, some_ids(72))); }),
             contains_text("the prompt has 72 tokens, prefill takes 1 to 71: max_seq is 72") &&
                 contains_text("shorten the prompt"));
}

TEST_CASE("calls in the wrong order are refused") {
  const auto runtime = irregular_runtime(72);
  const auto session = runtime->start();
  const auto prompt = prompt_of(*runtime, some_ids(5));
  CHECK(session->length() == 0);
  CHECK_THAT(error_of([&] { (void)decode(*session, 20); }), contains_text("decode was called before prefill"));
  CHECK_THAT(error_of([&] {
               (void)session->generate(zeros(DType::float32, {1, 900}), 1);
             }),
             contains_text("generate was called before prefill"));
  (void)prefill(*session, prompt);
  CHECK_THAT(
      error_of([&] { (void)prefill(*session, prompt); }),
      contains_text("prefill was called in a session that holds 5 tokens") && contains_text("start a new session"));
  CHECK(session->length() == 5);
}

TEST_CASE("an input of another shape or dtype is refused by its name, and the session goes on") {
  const auto runtime = irregular_runtime(72);
  const auto good = prompt_of(*runtime, some_ids(5));
  const auto session = runtime->start();
  const auto error = [&](const std::function<void(Prompt&)>& change) {
    auto prompt = good;
    change(prompt);
    return error_of([&] { (void)prefill(*session, prompt); });
  };
  CHECK_THAT(error([](Prompt& p) {
               p.embeds = zeros(DType::float32, {1, 71, 80});
             }),
             contains_text("fused_embeds is float32 [1, 71, 80], expected float32 [1, 72, 80]"));
  CHECK_THAT(error([](Prompt& p) {
               p.embeds = zeros(DType::bfloat16, {1, 72, 80});
             }),
             contains_text("fused_embeds is bfloat16 [1, 72, 80], expected float32"));
  CHECK_THAT(error([](Prompt& p) {
               p.masks.full = zeros(DType::float32, {1, 1, 72, 71});
             }),
             contains_text("mask.full is float32 [1, 1, 72, 71]"));
  CHECK_THAT(error([](Prompt& p) {
               p.rope.sliding.sin = zeros(DType::float32, {1, 72, 48});
             }),
             contains_text("rope.sliding.sin is float32 [1, 72, 48], expected float32 [1, 72, 24]"));
  CHECK_THAT(error([](Prompt& p) {
               p.batch.input_ids = zeros(DType::int64, {1, 5});
             }),
             contains_text("input_ids is int64 [1, 5]"));
  CHECK_THAT(error([](Prompt& p) { p.batch.valid_length = 0; }), contains_text("the prompt has 0 tokens"));
  const auto logits = prefill(*session, good);
  CHECK(same_bits(logits, prefill(*runtime->start(), good)));
  CHECK_THAT(error_of([&] { (void)session->decode(row({20, 21})); }), contains_text("input_ids is int64 [1, 2]"));
  CHECK_THAT(error_of([&] { (void)decode(*session, 900); }), contains_text("the vocabulary has ids 0 to 899"));
  CHECK_THAT(error_of([&] {
               (void)session->generate(zeros(DType::float32, {1, 899}), 1);
             }),
             contains_text("logits is float32 [1, 899]"));
  const auto untouched = runtime->start();
  (void)prefill(*untouched, good);
  CHECK(same_bits(decode(*untouched, 20), decode(*session, 20)));
}

TEST_CASE("a snapshot goes on as the session that it was taken from, bit for bit, and is a copy") {
  for (const auto dtype : {DType::float32, DType::bfloat16}) {
    CAPTURE(dtype);
    const auto runtime = shapes_runtime(100, dtype);
    const auto session = runtime->start();
    (void)prefill(*session, prompt_of(*runtime, some_ids(60)));
    (void)decode(*session, 33);
    const auto snapshot = session->snapshot();
    const auto first = decode(*session, 44);
    const auto second = decode(*session, 55);
    for (int again = 0; again < 2; ++again) {
      const auto resumed = runtime->resume(snapshot);
      CHECK(resumed->length() == 61);
      CHECK(same_bits(first, decode(*resumed, 44)));
      CHECK(same_bits(second, decode(*resumed, 55)));
    }
  }
}

TEST_CASE("slots of a snapshot beyond its length are not read: NaN there changes no bit") {
  const auto runtime = irregular_runtime(72);
  const auto session = runtime->start();
  (void)prefill(*session, prompt_of(*runtime, some_ids(30)));
  auto snapshot = session->snapshot();
  for (auto& layer : snapshot.layers) {
    for (auto* slots : {&layer.key, &layer.value}) {
      *slots = edited(*slots, [](at::Tensor& t) { t.slice(2, 30).fill_(std::numeric_limits<float>::quiet_NaN()); });
    }
  }
  const auto resumed = runtime->resume(snapshot);
  for (const auto id : some_ids(3)) CHECK(same_bits(decode(*session, id), decode(*resumed, id)));
}

TEST_CASE("resume refuses a snapshot of another runtime by what differs") {
  const auto runtime = irregular_runtime(72);
  const auto session = runtime->start();
  (void)prefill(*session, prompt_of(*runtime, some_ids(30)));
  const auto good = session->snapshot();
  const auto error = [&](const std::function<void(KvCache&)>& change) {
    auto cache = good;
    change(cache);
    return error_of([&] { (void)runtime->resume(cache); });
  };
  CHECK(error([](KvCache&) {}).empty());
  CHECK_THAT(error([](KvCache& c) { c.length = 0; }), contains_text("the snapshot holds 0 positions"));
  CHECK_THAT(error([](KvCache& c) { c.length = 72; }), contains_text("a cache of max_seq 72 has 1 to 71"));
  CHECK_THAT(error([](KvCache& c) { c.layers.pop_back(); }),
             contains_text("the snapshot has 3 layers, the runtime has 4"));
  CHECK_THAT(error([](KvCache& c) { c.layers[3].index = 5; }), contains_text("layer 5 where the runtime has layer 3"));
  CHECK_THAT(error([](KvCache& c) {
               c.layers[1].value = zeros(DType::float32, {1, 1, 71, 24});
             }),
             contains_text("value of layer 1 is [1, 1, 71, 24], the static graph has [1, 1, 71, 48]"));
  CHECK_THAT(error([](KvCache& c) {
               c.layers[0].key = zeros(DType::bfloat16, {1, 1, 71, 24});
             }),
             contains_text("key of layer 0 is bfloat16, the runtime computes in float32"));
}

TEST_CASE("a producer's keys and values are those that its consumers attend to; consumers have no cache") {
  // The irregular checkpoint: 0 sliding, 1 full, 2 and 3 sliding produce; 4 full takes 1, 5 sliding takes 3, 6 full
  // takes 1.
  const auto runtime = irregular_runtime(72);
  const auto session = runtime->start();
  (void)prefill(*session, prompt_of(*runtime, some_ids(20)));
  const auto snapshot = session->snapshot();
  std::vector<std::int64_t> cached;
  for (const auto& layer : snapshot.layers) cached.push_back(layer.index);
  CHECK(cached == std::vector<std::int64_t>{0, 1, 2, 3});

  Shown clean;
  (void)decode(*runtime->resume(snapshot), 30, into(clean));
  for (const std::size_t producer : {1, 3}) {
    CAPTURE(producer);
    auto damaged = snapshot;
    damaged.layers[producer].value =
        edited(snapshot.layers[producer].value, [](at::Tensor& t) { t.slice(2, 10, 20).neg_(); });
    Shown shown;
    (void)decode(*runtime->resume(damaged), 30, into(shown));
    for (std::size_t layer = 0; layer < 7; ++layer) {
      CAPTURE(layer);
      const auto name = fmt::format("L{}.out", layer);
      CHECK(same_bits(clean.at(name), shown.at(name)) == (layer < producer));
    }
  }
}

TEST_CASE("sessions of one runtime do not influence each other and outlive it") {
  auto runtime = irregular_runtime(72);
  const auto ids = some_ids(30);
  const auto first = prompt_of(*runtime, first_of(ids, 20));
  const auto second = prompt_of(*runtime, first_of(ids, 9));
  std::vector<at::Tensor> alone;
  for (const auto& prompt : {first, second}) {
    const auto session = runtime->start();
    alone.push_back(prefill(*session, prompt));
    alone.push_back(decode(*session, 40));
  }
  const auto one = runtime->start();
  const auto two = runtime->start();
  runtime.reset();
  CHECK(same_bits(alone[0], prefill(*one, first)));
  CHECK(same_bits(alone[2], prefill(*two, second)));
  CHECK(same_bits(alone[1], decode(*one, 40)));
  CHECK(same_bits(alone[3], decode(*two, 40)));
}

TEST_CASE("taps change no bit") {
  const auto runtime = irregular_runtime(72);
  const auto prompt = prompt_of(*runtime, some_ids(20));
  Shown shown;
  const auto watched = runtime->start();
  const auto unwatched = runtime->start();
  CHECK(same_bits(prefill(*unwatched, prompt), prefill(*watched, prompt, into(shown))));
  CHECK(same_bits(decode(*unwatched, 40), decode(*watched, 40, into(shown))));
}

TEST_CASE("a placeholder that was generated is read as the pad id, as transformers does") {
  const auto runtime = shapes_runtime(100);
  const auto tokens = shapes_vision_checkpoint()->config().tokens;
  for (const auto placeholder : {tokens.image.value(), tokens.audio.value(), tokens.video.value()}) {
    CAPTURE(placeholder);
    const auto session = runtime->start();
    (void)prefill(*session, prompt_of(*runtime, some_ids(10)));
    const auto snapshot = session->snapshot();
    CHECK(same_bits(decode(*runtime->resume(snapshot), tokens.pad), decode(*runtime->resume(snapshot), placeholder)));
    CHECK_FALSE(same_bits(decode(*runtime->resume(snapshot), 20), decode(*runtime->resume(snapshot), placeholder)));
  }
}

TEST_CASE("generation ends at every id of the eos set, at max_new_tokens, or at a full cache, and shows its logits") {
  const auto runtime = shapes_runtime(72);
  const auto eos = shapes_vision_checkpoint()->generation().eos_token_ids;
  REQUIRE(eos.size() == 3);
  const auto logits_for = [](std::int64_t id) {
    auto logits = at::zeros({1, 960});
    logits[0][id] = 1;
    return lockstep::Tensor(logits);
  };
  const auto session_of = [&](std::int64_t length) {
    auto session = runtime->start();
    (void)prefill(*session, prompt_of(*runtime, some_ids(length)));
    return session;
  };
  for (const auto id : eos) {
    const auto session = session_of(10);
    const auto generation = session->generate(logits_for(id), 5);
    CHECK(generation.tokens == std::vector{id});
    CHECK(generation.stop == "eos");
    CHECK(session->length() == 10);  // the last token is not decoded
  }
  const auto none = session_of(10)->generate(logits_for(20), 0);
  CHECK(none.tokens.empty());
  CHECK(none.stop == "length");

  std::vector<std::int64_t> seen;
  const auto session = session_of(10);
  const auto twin = session_of(10);
  auto expected = lockstep::to_torch(logits_for(20));
  const auto generation = session->generate(logits_for(20), 3, [&](std::int64_t step, const lockstep::Tensor& logits) {
    CHECK(step == std::ssize(seen));
    CHECK(same_bits(expected, lockstep::to_torch(logits)));
    seen.push_back(lockstep::to_torch(logits).argmax().item<std::int64_t>());
    expected = decode(*twin, seen.back());
  });
  CHECK(generation.tokens == seen);
  CHECK(generation.tokens.size() == 3);
  CHECK(generation.stop == "length");
  CHECK(session->length() == 12);

  const auto full = session_of(70)->generate(logits_for(20), 50);
  CHECK(full.tokens.size() == 2);
  CHECK(full.stop == "cache_full");
  const auto tie = session_of(10)->generate(at::zeros({1, 960}), 1);
  CHECK(tie.tokens == std::vector<std::int64_t>{0});  // the first of equals
}
