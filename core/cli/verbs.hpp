#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.hpp"

namespace lockstep::cli {

/// Every verb, in the order of the help.
[[nodiscard]] const std::vector<Verb>& verbs();

int run(const Arguments& arguments);
int validate(const Arguments& arguments);
int plan(const Arguments& arguments);
int list(const Arguments& arguments);
int describe(const Arguments& arguments);
int explain(const Arguments& arguments);
int compare(const Arguments& arguments);
int report(const Arguments& arguments);
int diff(const Arguments& arguments);
int merge(const Arguments& arguments);
int new_step(const Arguments& arguments);
int schema(const Arguments& arguments);
int completion(const Arguments& arguments);

/// The first word of the command line of an isolated step's process, which `run` starts; no verb for users.
inline constexpr std::string_view worker_word = "worker";
int worker(const CommandLine& line);

/// What `run` writes to --json and --junit when the command line cannot be read: a record with the verdict `invalid`,
/// so that nobody takes the report of an earlier run for this one's.
void record_invalid_command_line(const CommandLine& line, const std::vector<Diagnostic>& diagnostics);

/// `lockstep --help`
[[nodiscard]] std::string help();
/// `lockstep VERB --help`
[[nodiscard]] std::string help(const Verb& verb);

}  // namespace lockstep::cli
