#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "catch.hpp"
#include "process/process_memory.hpp"
#include "process/temporary_file.hpp"

using namespace lockstep;

namespace {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
constexpr std::size_t ballast = std::size_t{96} << 20;

}  // namespace

TEST_CASE("memory that was allocated and given back is in the private peak, also between two looks at it") {
  MemoryWatch watch;
  const auto before = watch.peak();
  {
    const std::string text(ballast, 'x');
    ::usleep(50'000);
    CHECK(text.back() == 'x');
  }
  const auto after = watch.peak();
  CHECK(after.private_bytes - before.private_bytes > 90 * mebibyte);
  CHECK(after.rss_bytes >= after.private_bytes);
  CHECK(MemoryWatch().peak().private_bytes < after.private_bytes - 60 * mebibyte);
}

TEST_CASE("pages of a mapped file are resident, but not private") {
  TemporaryFile file;
  file.write(std::string(ballast, '\0'), 0);
  MemoryWatch watch;
  const auto before = watch.peak();
  auto* const pages =
      static_cast<char*>(::mmap(nullptr, ballast, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file.descriptor(), 0));
  REQUIRE(pages != MAP_FAILED);
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < ballast; i += 4096) sum += pages[i];
  CHECK(sum == 0);
  const auto after = watch.peak();
  ::munmap(pages, ballast);
  CHECK(after.rss_bytes - before.rss_bytes > 60 * mebibyte);
  CHECK(after.private_bytes - before.private_bytes < 20 * mebibyte);
}
