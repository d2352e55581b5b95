#include "checkpoint/sha256.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <lockstep/diagnostic.hpp>

namespace gemma4 {

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, 32> digest{};
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr) != 1) {
    throw lockstep::Error{"OpenSSL gives no SHA-256"};
  }
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

}  // namespace gemma4
