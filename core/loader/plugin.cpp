#include <lockstep/plugin.hpp>

#include <cstring>
#include <exception>
#include <string_view>

#include <lockstep/step.hpp>

namespace lockstep::detail {

void store_current_exception(PluginError* error) noexcept {
  const auto store = [error](std::string_view text) {
    const auto length = text.copy(error->text, sizeof(error->text) - 1);
    error->text[length] = '\0';
  };
  try {
    throw;
  } catch (const std::exception& e) {
    store(e.what());
  } catch (...) {
    store("an exception that is not derived from std::exception");
  }
}

void destroy_step(Step* step) noexcept { delete step; }

}  // namespace lockstep::detail
