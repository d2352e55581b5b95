// Times the stages of reference and runtime at the size of a real model, without comparing them:
// bench_model_size CHECKPOINT INPUTS PROFILE MAX_SEQ. INPUTS is what model_size.py wrote. Prints JSON.

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <lockstep/diagnostic.hpp>
#include <lockstep/safetensors.hpp>
#include <lockstep/torch.hpp>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "kernels/kernels.hpp"
#include "reference/native_reference.hpp"
#include "runtime/known_profiles.hpp"
#include "runtime/static_runtime.hpp"

namespace {

using lockstep::Tensor;

constexpr std::int64_t decoded_tokens = 16;

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// A field of /proc/self/status in MiB: VmHWM, RssAnon, RssFile.
double mebibytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field + ":")) return std::stod(line.substr(field.size() + 1)) / 1024;
  }
  return 0;
}

/// Bytes per second that two threads read of a weight that is in memory.
double read_speed(const Tensor& weight) {
  const auto tensor = lockstep::to_torch(weight);
  const std::span words(static_cast<const std::uint64_t*>(tensor.const_data_ptr()), tensor.nbytes() / 8);
  std::uint64_t sums[2] = {0, 0};
  double least = 1e9;
  for (int i = 0; i < 5; ++i) {
    least = std::min(
        least, seconds_of([&] {
          const auto half = words.size() / 2;
          std::thread other([&] { sums[1] += std::accumulate(words.begin() + half, words.end(), std::uint64_t{0}); });
          sums[0] += std::accumulate(words.begin(), words.begin() + half, std::uint64_t{0});
          other.join();
        }));
  }
  return (sums[0] ^ sums[1]) == 0 ? 0 : static_cast<double>(tensor.nbytes()) / least;
}

Tensor token(std::int64_t id) { return Tensor::copy_of(std::span<const std::int64_t>(&id, 1), {1, 1}); }

/// Tokens per second of `decode`; the first, which brings weights into the caches, does not count.
double decode_speed(const std::function<void(const Tensor&)>& decode) {
  decode(token(100));
  const auto seconds = seconds_of([&] {
    for (std::int64_t i = 0; i < decoded_tokens; ++i) decode(token(101 + i));
  });
  return static_cast<double>(decoded_tokens) / seconds;
}

void measure(char** argv) {
  const auto inputs = lockstep::SafetensorsFile::open(argv[2]);
  std::shared_ptr<const gemma4::Checkpoint> checkpoint;
  std::shared_ptr<const gemma4::Reference> reference;
  const auto open = seconds_of([&] {
    checkpoint = std::make_shared<const gemma4::Checkpoint>(gemma4::Checkpoint::open(argv[1]));
    reference = gemma4::make_native_reference(checkpoint, lockstep::DType::bfloat16);
    static_cast<void>(reference->token_embedding(token(100)));
  });

  const gemma4::ModelInputs prompt{.input_ids = inputs.at("input_ids"),
                                   .attention_mask = inputs.at("attention_mask"),
                                   .pixel_values = inputs.at("pixel_values"),
                                   .image_position_ids = inputs.at("image_position_ids")};
  const auto vision = seconds_of(
      [&] { static_cast<void>(reference->image_features(*prompt.pixel_values, *prompt.image_position_ids)); });
  auto session = reference->start();
  const auto whole_prefill = seconds_of([&] { static_cast<void>(session->prefill(prompt, 1)); });
  const auto decode = decode_speed([&](const Tensor& id) { static_cast<void>(session->decode(id)); });
  const auto reference_anon = mebibytes("RssAnon");
  session.reset();

  gemma4::StaticRuntimeOptions options{.profile = gemma4::find_profile(argv[3]), .max_seq = std::stoll(argv[4])};
  const auto runtime = gemma4::make_static_runtime(checkpoint, options);
  const auto batch = runtime->build_static_inputs({.input_ids = prompt.input_ids,
                                                   .attention_mask = prompt.attention_mask,
                                                   .pixel_values = prompt.pixel_values,
                                                   .image_position_ids = prompt.image_position_ids});
  Tensor visual;
  const auto static_vision =
      seconds_of([&] { visual = runtime->vision_prefill(*batch.pixel_values, *batch.image_position_ids); });
  const auto embeds = runtime->fuse(runtime->token_embedding(batch.input_ids), visual);
  const auto masks = runtime->attention_masks(batch.attention_mask);
  const auto rope = runtime->rope(batch.position_ids);
  const auto run = runtime->start();
  const auto static_prefill = seconds_of([&] { static_cast<void>(run->prefill(batch, embeds, masks, rope)); });
  const auto static_decode = decode_speed([&](const Tensor& id) { static_cast<void>(run->decode(id)); });

  const auto kernels = lockstep::kernels_report();
  fmt::print(
      "{{\"prompt_tokens\": {}, \"open\": {}, \"vision\": {}, \"prefill\": {}, \"decode\": {}, \"static_vision\": {}, "
      "\"static_prefill\": {}, \"static_decode\": {}, \"read_speed\": {}, \"anon_mib\": {}, \"anon_mib_end\": {}, "
      "\"peak_mib\": {}, \"kernels\": \"{}\"}}\n",
      prompt.input_ids.size(1), open, vision, whole_prefill - vision, decode, static_vision, static_prefill,
      static_decode, read_speed(checkpoint->weight("model.language_model.embed_tokens.weight")), reference_anon,
      mebibytes("RssAnon"), mebibytes("VmHWM"), kernels.used);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    fmt::print(stderr, "usage: bench_model_size CHECKPOINT INPUTS PROFILE MAX_SEQ\n");
    return 2;
  }
  at::set_num_interop_threads(1);
  at::set_num_threads(2);
  const c10::InferenceMode no_gradients;
  try {
    measure(argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
