#include <fmt/format.h>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "cli/verbs.hpp"

namespace {

using namespace lockstep;

constexpr int invalid = 2;

void print(std::FILE* stream, const std::string& text) { std::fwrite(text.data(), 1, text.size(), stream); }

bool is_help(const std::string& word) { return word == "--help" || word == "-h"; }

int main_with(const cli::CommandLine& line) {
  if (line.words.empty() || is_help(line.words.front()) || line.words.front() == "help") {
    print(line.words.empty() ? stderr : stdout, cli::help());
    return line.words.empty() ? invalid : 0;
  }
  if (line.words.front() == "--version") {
    print(stdout, "lockstep " LOCKSTEP_VERSION "\n");
    return 0;
  }
  const auto& verbs = cli::verbs();
  const auto verb =
      std::find_if(verbs.begin(), verbs.end(), [&](const cli::Verb& v) { return v.name == line.words.front(); });
  if (verb == verbs.end())
    throw cli::CommandLineError{{{.code = "C001",
                                  .message = fmt::format("unknown verb '{}'", line.words.front()),
                                  .location = line.place(0),
                                  .help = "`lockstep --help` lists the verbs"}}};
  if (std::any_of(line.words.begin() + 1, line.words.end(), is_help)) {
    print(stdout, cli::help(*verb));
    return 0;
  }
  return verb->run(line.parse(*verb));
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE,
              SIG_IGN);  // a reader that leaves early (`| head`) must not kill a run before its record is written
  try {
    return main_with(cli::CommandLine({argv + 1, argv + argc}));
  } catch (const cli::CommandLineError& error) {
    for (const auto& diagnostic : error.diagnostics)
      print(stderr,
            fmt::format("{}: error[{}]: {}\n", diagnostic.location.to_string(), diagnostic.code, diagnostic.message));
    return invalid;
  }
}
