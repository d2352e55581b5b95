#include "check/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace lockstep {
namespace {

std::atomic<int> threads_setting{0};

/// at::set_flush_denormal and fast-math libraries change it; a comparison must not depend on that.
class DefaultFloatEnvironment {
 public:
  DefaultFloatEnvironment() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatEnvironment() { std::fesetenv(&saved_); }
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;

 private:
  std::fenv_t saved_{};
};

}  // namespace

void set_check_threads(int threads) noexcept { threads_setting.store(std::max(threads, 0)); }

int check_threads() noexcept {
  const int setting = threads_setting.load();
  return setting > 0 ? setting : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

namespace numeric {

void parallel_for(std::int64_t count, std::int64_t elements, const std::function<void(std::int64_t)>& task) {
  std::atomic<std::int64_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    const DefaultFloatEnvironment environment;
    try {
      for (std::int64_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) task(i);
    } catch (...) {
      next.store(count);
      const std::scoped_lock lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };

  {
    std::vector<std::jthread> helpers;
    constexpr std::int64_t small_size = 1 << 16;  // some 50 us of work, as long as a thread takes to start
    const auto wanted = elements < small_size ? 0 : std::min<std::int64_t>(check_threads(), count) - 1;
    try {
      for (std::int64_t i = 0; i < wanted; ++i) helpers.emplace_back(work);
    } catch (const std::system_error&) {
      // No more threads to be had: those that started, and this one, do all of the work.
    }
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace numeric
}  // namespace lockstep
