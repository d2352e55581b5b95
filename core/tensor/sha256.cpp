#include <openssl/evp.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>
#include <lockstep/safetensors.hpp>

namespace lockstep {
namespace {

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new()) {
    if (!context_ || EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) != 1)
      throw Error{"OpenSSL offers no SHA-256", "check the OpenSSL configuration of this machine"};
  }
  void update(std::span<const std::byte> bytes) {
    if (EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) != 1) throw Error{"OpenSSL's SHA-256 failed"};
  }
  std::string hex() {
    std::array<unsigned char, 32> digest{};
    if (EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr) != 1) throw Error{"OpenSSL's SHA-256 failed"};
    std::string text;
    for (const unsigned char byte : digest) text += fmt::format("{:02x}", byte);
    return text;
  }

 private:
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> context_;
};

}  // namespace

std::string sha256(std::span<const std::byte> bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.hex();
}

std::string sha256(std::string_view bytes) { return sha256(std::as_bytes(std::span{bytes})); }

std::string sha256_of_file(const std::filesystem::path& path) {
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const auto fail = [&] { return Error{fmt::format("cannot read {}: {}", path.string(), std::strerror(errno))}; };
  const std::unique_ptr<std::FILE, Close> file{std::fopen(path.c_str(), "rb")};
  if (!file) throw fail();
  Sha256 hash;
  std::vector<std::byte> block(1 << 20);
  while (const auto count = std::fread(block.data(), 1, block.size(), file.get())) hash.update({block.data(), count});
  if (std::ferror(file.get()) != 0) throw fail();
  return hash.hex();
}

}  // namespace lockstep
