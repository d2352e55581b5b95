#include "cli/terminal_io.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>
#include <cstdlib>
#include <string_view>

#include "pipeline/render_diagnostic.hpp"

namespace lockstep::cli {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing here sets the environment
  return value == nullptr ? std::string_view() : value;
}

/// Whether standard output is a pipe or a socket from which nobody reads any more.
bool reader_left() {
  pollfd output{STDOUT_FILENO, 0, 0};
  return poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace

bool is_terminal(std::FILE* stream) { return isatty(fileno(stream)) == 1; }

bool use_colour(std::FILE* stream) {
  return is_terminal(stream) && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
}

bool use_colour(const Arguments& arguments, std::FILE* stream) {
  const auto choice = arguments.option("color");
  if (!choice || choice->value == "auto") return use_colour(stream);
  return choice->value == "always";
}

Detail detail_of(const Arguments& arguments) {
  if (arguments.has("quiet")) return Detail::quiet;
  return arguments.has("verbose") ? Detail::verbose : Detail::normal;
}

void print(std::FILE* stream, const std::string& text) { std::fwrite(text.data(), 1, text.size(), stream); }

void print(const std::vector<Diagnostic>& diagnostics, bool colour) {
  for (const auto& diagnostic : diagnostics) print(stderr, render(diagnostic, colour));
}

bool flush_standard_output() {
  const bool flushed = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  return flushed || reader_left();
}

std::optional<Diagnostic> printing_failure(std::FILE* stream) {
  const bool written = stream == stdout ? flush_standard_output() : std::ferror(stream) == 0;
  if (written) return std::nullopt;
  return Diagnostic{
      .code = "R001",
      .message = fmt::format("the report cannot be written to standard {}", stream == stdout ? "output" : "error")};
}

}  // namespace lockstep::cli
