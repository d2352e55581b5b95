#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include <lockstep/diagnostic.hpp>

#include "pipeline/findings.hpp"

namespace lockstep {

/// A text that pipelines are read from, and what relative paths in it are relative to.
struct SourceFile {
  std::shared_ptr<const SourceText> source;             ///< name only if it could not be read
  std::shared_ptr<const std::filesystem::path> folder;  ///< null: the working directory
  bool usable = false;                                  ///< read, UTF-8, of a sane size
};

/// Reads a pipeline file or an overlay; `path` as given on the command line is its name. Problems go to `findings`.
[[nodiscard]] SourceFile read_source(const std::filesystem::path& path, Findings& findings);

/// A source for a command-line argument, for example ("--set", "max_seq=256").
[[nodiscard]] SourceFile argument_source(std::string option, std::string argument, Findings& findings);

}  // namespace lockstep
