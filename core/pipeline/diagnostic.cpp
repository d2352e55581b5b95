#include <lockstep/diagnostic.hpp>

#include <utility>

namespace lockstep {

std::string Location::to_string() const {
  if (!source) return {};
  // An argument is named by its key, "--set max_seq": it has neither lines nor, often, a unique name.
  if (source->name.starts_with("--")) return source->name + " " + source->text.substr(0, source->text.find('='));
  if (line == 0) return source->name;
  return source->name + ":" + std::to_string(line) + ":" + std::to_string(column);
}

Error::Error(Diagnostic diagnostic)
    : std::runtime_error(diagnostic.message), diagnostic_(std::make_shared<const Diagnostic>(std::move(diagnostic))) {}

Error::Error(std::string message, std::string help)
    : Error(Diagnostic{.message = std::move(message), .help = std::move(help)}) {}

Error::~Error() = default;

}  // namespace lockstep
