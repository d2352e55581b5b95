#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include <lockstep/export.hpp>

namespace lockstep {

/// The results that flow between the steps of one run. Each is dropped after its last reader.
class LOCKSTEP_API Results {
 public:
  using Key = std::pair<std::size_t, std::string>;  ///< step index, output port

  /// Announces one more reader of an output; before the output is published.
  void expect_reader(const Key& output) { ++readers_[output]; }
  /// Keeps `value` for the announced readers; without any it is dropped at once.
  void publish(const Key& output, std::shared_ptr<const void> value);
  /// The value, null if it was not published. It stays until the last reader is done.
  [[nodiscard]] std::shared_ptr<const void> read(const Key& output) const;
  /// One announced reader has run, or never will.
  void reader_done(const Key& output);

 private:
  std::map<Key, int> readers_;
  std::map<Key, std::shared_ptr<const void>> values_;
};

}  // namespace lockstep
