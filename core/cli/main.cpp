#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include <lockstep/diagnostic.hpp>
#include "cli/terminal_io.hpp"
#include "cli/verbs.hpp"
#include "pipeline/exit_code.hpp"
#include "pipeline/render_diagnostic.hpp"

namespace {

using namespace lockstep;

bool is_help(const std::string& word) { return word == "--help" || word == "-h"; }

[[noreturn]] void fail_without_verb(const cli::CommandLine& line, std::size_t place) {
  std::vector<std::string> names;
  names.reserve(cli::verbs().size());
  for (const auto& verb : cli::verbs()) names.emplace_back(verb.name);
  const auto help = fmt::format("verbs: {}; `lockstep --help` shows what they do", fmt::join(names, ", "));
  if (line.words.empty())
    throw cli::CommandLineError{{{.code = "C001", .message = "no verb", .location = line.end(), .help = help}}};
  const auto& word = line.words[place];
  throw cli::CommandLineError{{{.code = "C001",
                                .message = fmt::format("unknown verb {}", in_quotes(word)),
                                .location = line.place(place),
                                .did_you_mean = did_you_mean(word, names),
                                .help = help}}};
}

int main_with(const cli::CommandLine& line) {
  const auto first = line.words.empty() ? std::string() : line.words.front();
  const bool asks_about_verb = first == "help" && line.words.size() > 1 && !is_help(line.words[1]);
  if (is_help(first) || (first == "help" && !asks_about_verb)) {
    cli::print(stdout, cli::help());
    return exit_code::passed;
  }
  if (first == "--version") {
    cli::print(stdout, "lockstep " LOCKSTEP_VERSION "\n");
    return exit_code::passed;
  }
  if (first == cli::worker_word) return cli::worker(line);
  const auto& verbs = cli::verbs();
  const std::size_t place = asks_about_verb ? 1 : 0;
  const auto name = line.words.empty() ? std::string() : line.words[place];
  const auto verb = std::ranges::find(verbs, name, &cli::Verb::name);
  if (verb == verbs.end()) fail_without_verb(line, place);
  if (asks_about_verb || std::any_of(line.words.begin() + 1, line.words.end(), is_help)) {
    cli::print(stdout, cli::help(*verb));
    return exit_code::passed;
  }
  return verb->run(line.parse(*verb));
}

/// Ends the process without what plugins left to be done then. The verdict is written; they could only spoil the exit
/// code that goes with it.
int leave(int code) {
  std::fflush(nullptr);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which tell what they found at the very end
  std::_Exit(code);
#endif
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE,
              SIG_IGN);  // a reader that leaves early (`| head`) must not end a run before its record is written
  // OpenMP threads that wait sleep instead of spinning, unless the user says otherwise: on a busy machine the spinning
  // ones take the cores from those that compute. Read when the first plugin brings OpenMP in.
  ::setenv("OMP_WAIT_POLICY", "passive", 0);
  const cli::CommandLine line({argv + 1, argv + argc});
  int code = exit_code::error;
  try {
    code = main_with(line);
  } catch (const cli::CommandLineError& error) {
    cli::print(error.diagnostics, cli::use_colour(stderr));
    if (!line.words.empty() && line.words.front() == "run") cli::record_invalid_command_line(line, error.diagnostics);
    code = exit_code::invalid;
  } catch (const Error& error) {
    cli::print({error.diagnostic()}, cli::use_colour(stderr));
  } catch (const std::exception& error) {
    cli::print({{.message = error.what()}}, cli::use_colour(stderr));
  }
  if (cli::flush_standard_output() || code == exit_code::error)
    return leave(code);  // `run` has said it, in its record too
  cli::print({{.code = "R001", .message = "the report cannot be written to standard output"}}, cli::use_colour(stderr));
  return leave(std::max(code, exit_code::error));
}
