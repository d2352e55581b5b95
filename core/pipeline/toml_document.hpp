#pragma once

#include <optional>

#include "pipeline/findings.hpp"
#include "pipeline/node.hpp"
#include "pipeline/source_file.hpp"

namespace lockstep {

/// The table of a TOML file with the place of every key and value. None after a syntax error, which goes to `findings`:
/// the parser stops at the first of a file.
[[nodiscard]] std::optional<Node> parse_document(const SourceFile& file, Findings& findings);

/// One `--set` argument, taken apart.
struct Assignment {
  std::vector<std::string> path;  ///< {"step", "runtime", "with", "max_seq"}
  Location key;
  Node value;
};

/// `KEY=VALUE`: KEY is a dotted TOML key, VALUE a TOML value if it parses as one, else text.
[[nodiscard]] std::optional<Assignment> parse_assignment(const SourceFile& argument, Findings& findings);

}  // namespace lockstep
