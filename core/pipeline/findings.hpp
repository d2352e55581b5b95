#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <lockstep/diagnostic.hpp>

#include "pipeline/node.hpp"

namespace lockstep {

/// Collects what is wrong with a pipeline and puts it into the order of files, lines and columns.
class Findings {
 public:
  /// Sources come in this order; a finding in an unknown source comes last.
  void add_source(const std::shared_ptr<const SourceText>& source);

  /// Adds an error; the reference is good until the next one is added.
  Diagnostic& error(std::string_view code, Location location, std::string message);
  /// The same at a value; says where it is used if it came through a variable.
  Diagnostic& error(std::string_view code, const Node& node, std::string message);
  /// An error that only says that a plugin does not load.
  void unloadable(Diagnostic diagnostic);

  /// A finding as it is kept.
  struct Finding {
    Diagnostic diagnostic;
    bool unloadable = false;
  };
  void add(Finding finding);
  /// Everything that was found, in the order that it was found in; leaves this object empty.
  [[nodiscard]] std::vector<Finding> take();

  /// Enough is enough: what is added now is only counted, so suggestions and notes for it would be wasted work.
  [[nodiscard]] bool full() const noexcept;
  [[nodiscard]] std::size_t count() const noexcept { return findings_.size() + dropped_; }
  [[nodiscard]] std::size_t unloadable_count() const noexcept { return unloadable_; }
  /// Leaves this object empty.
  [[nodiscard]] std::vector<Diagnostic> take_sorted();

 private:
  std::vector<Finding> findings_;
  std::unordered_map<const SourceText*, std::size_t> ranks_;
  std::size_t dropped_ = 0;
  std::size_t unloadable_ = 0;
  Diagnostic scratch_;
};

}  // namespace lockstep
