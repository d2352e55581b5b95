// `lockstep compare`: two files without a pipeline.

#include <lockstep/safetensors.hpp>

#include "cli.hpp"

namespace {

using lockstep::Tensor;

Tensor tensor(const std::vector<float>& values, std::vector<std::int64_t> sizes) {
  return Tensor::copy_of(std::span<const float>(values), std::move(sizes));
}

/// Two files, compared in a folder of their own.
struct Files {
  cli::Scratch scratch;
  std::string a = scratch.file("a.safetensors");
  std::string b = scratch.file("b.safetensors");

  void write(const std::vector<std::pair<std::string, Tensor>>& in_a,
             const std::vector<std::pair<std::string, Tensor>>& in_b) const {
    lockstep::write_safetensors(a, in_a);
    lockstep::write_safetensors(b, in_b);
  }
  [[nodiscard]] process::Result compare(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"compare", "a.safetensors", "b.safetensors"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    auto options = cli::options();
    options.folder = std::filesystem::path(a).parent_path();
    return process::run(cli::words(arguments), options);
  }
};

}  // namespace

TEST_CASE("compare lists every tensor that differs, does not fit or is missing on either side") {
  const Files files;
  files.write({{"same", tensor({1, 2, 3}, {3})},
               {"value", tensor({1, 2, 3, 4}, {2, 2})},
               {"shape", tensor({1, 2}, {2})},
               {"empty", tensor({}, {0})},
               {"gone", tensor({1}, {1})}},
              {{"same", tensor({1, 2, 3}, {3})},
               {"value", tensor({1, 2.5, 3, 4}, {2, 2})},
               {"shape", tensor({1, 2}, {1, 2})},
               {"empty", tensor({}, {0})},
               {"new", tensor({1}, {1})}});
  const auto result = files.compare({"--metric", "bits"});
  CHECK(result.code == 1);
  CHECK(result.err.empty());
  golden::check("cli/golden/compare.txt", result.out);
}

TEST_CASE("compare maps names of the first file to names of the second") {
  const Files files;
  files.write({{"old", tensor({1, 2}, {2})}, {"kept", tensor({3}, {1})}},
              {{"new", tensor({1, 2}, {2})}, {"kept", tensor({3}, {1})}});
  CHECK(files.compare({"--metric", "bits"}).code == 1);
  const auto mapped = files.compare({"--metric", "bits", "--map", "old=new"});
  CHECK(mapped.code == 0);
  CHECK(mapped.out.find("old -> new") != std::string::npos);
}

TEST_CASE("a pattern of --map renames every name that it fits, the first rule that fits counts") {
  const Files files;
  files.write({{"layers.0.w", tensor({1, 2}, {2})}, {"layers.1.w", tensor({3}, {1})}, {"kept", tensor({4}, {1})}},
              {{"blk.0.weight", tensor({1, 2}, {2})}, {"last", tensor({3}, {1})}, {"kept", tensor({4}, {1})}});
  const auto result = files.compare({"--map", "layers.1.w=last", "--map", "layers.*.w=blk.*.weight"});
  CHECK(result.code == 0);
  CHECK_THAT(result.out, contains_text("layers.0.w -> blk.0.weight"));
  CHECK_THAT(result.out, contains_text("layers.1.w -> last"));
  const auto missing = files.compare({"--map", "layers.*.w=blk.*.weight"});
  CHECK(missing.code == 1);
  CHECK_THAT(missing.out, contains_text("layers.1.w"));
}

TEST_CASE("files without a common tensor compare nothing, which is no success") {
  const Files files;
  files.write({{"a", tensor({1}, {1})}}, {{"b", tensor({1}, {1})}});
  const auto result = files.compare({"--metric", "bits"});
  CHECK(result.code == 1);
  CHECK(result.out.find("nothing was compared") != std::string::npos);
}

TEST_CASE("tensors without elements alone compare nothing") {
  const Files files;
  files.write({{"a", tensor({}, {0})}}, {{"a", tensor({}, {0})}});
  CHECK(files.compare({"--metric", "bits"}).code == 1);
}

TEST_CASE("compare takes torch's default tolerances, or both of its own") {
  const Files files;
  // torch's defaults for float32 are rtol 1.3e-6 and atol 1e-5 (documentation of torch.testing.assert_close).
  files.write({{"a", tensor({1, 100}, {2})}}, {{"a", tensor({1.00001F, 100}, {2})}});
  CHECK(files.compare().code == 0);
  CHECK(files.compare({"--rtol", "1e-6", "--atol", "0"}).code == 1);
  files.write({{"a", tensor({1, 100}, {2})}}, {{"a", tensor({1.0001F, 100}, {2})}});
  CHECK(files.compare().code == 1);
  CHECK(files.compare({"--rtol", "0", "--atol", "0.001"}).code == 0);
  CHECK(files.compare({"--metric", "max_abs", "--max", "0.001"}).code == 0);
  CHECK(files.compare({"--metric", "max_abs", "--max", "0.00001"}).code == 1);
}

TEST_CASE("compare is quiet about what passes and says nothing on standard error") {
  const Files files;
  files.write({{"a", tensor({1}, {1})}}, {{"a", tensor({1}, {1})}});
  const auto result = files.compare({"--metric", "bits", "--quiet"});
  CHECK(result.code == 0);
  CHECK(result.out == "passed: 1\n");
  CHECK(result.err.empty());
}

TEST_CASE("compare refuses the bounds that a pipeline refuses, and takes those at the limit") {
  const Files files;
  const auto numbers = tensor({3, 4}, {1, 2});  // of length 5, so that their cosine is 1 without rounding
  files.write({{"a", numbers}}, {{"a", numbers}});
  const std::vector<std::vector<std::string>> refused{{"--rtol", "inf", "--atol", "0"},
                                                      {"--rtol", "0", "--atol", "nan"},
                                                      {"--metric", "max_abs", "--max=-1"},
                                                      {"--metric", "kl", "--max", "inf"},
                                                      {"--metric", "sqnr", "--min", "inf"},
                                                      {"--metric", "cosine", "--min", "2"},
                                                      {"--metric", "pcc", "--min", "1.5"},
                                                      {"--metric", "top1", "--min", "1.5"},
                                                      {"--metric", "topk", "--min", "2", "--k", "1"},
                                                      {"--metric", "topk", "--min", "1", "--k", "1.5"},
                                                      {"--metric", "norm_wise", "--k", "inf"}};
  for (const auto& bounds : refused) {
    INFO(bounds[0] << ' ' << bounds[1] << ' ' << bounds.back());
    const auto result = files.compare(bounds);
    CHECK(result.code == 2);
    CHECK(result.out.empty());
    CHECK(result.err.find("error[C013]: bound '") != std::string::npos);
  }
  CHECK(files.compare({"--metric", "cosine", "--min", "1"}).code == 0);
  CHECK(files.compare({"--metric", "topk", "--min", "1", "--k", "1"}).code == 0);
  CHECK(files.compare({"--rtol", "0", "--atol", "0"}).code == 0);
}
