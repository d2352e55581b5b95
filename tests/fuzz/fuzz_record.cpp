#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <lockstep/diagnostic.hpp>

#include "report/github.hpp"
#include "report/json.hpp"
#include "report/junit.hpp"
#include "report/markdown.hpp"
#include "report/read_record.hpp"
#include "report/record_diff.hpp"
#include "report/summary.hpp"
#include "report/terminal.hpp"

// Any bytes give an Error or a record that is written as it was read, and of which every report can be made.

namespace {

using namespace lockstep;

void make_reports(const RunRecord& record) {
  (void)terminal_report(record, {.colour = true, .detail = Detail::verbose});
  (void)terminal_report(record, {.detail = Detail::quiet});
  (void)to_markdown(record);
  (void)to_github(record, {"/repository", "/repository/here"});
  (void)to_junit(record);
  if (!diff_records(record, record).empty()) std::abort();
  try {
    (void)merge_rows({record}, {"fuzz.json"});
  } catch (const Error&) {
    return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  RunRecord record;
  try {
    record = read_record(text, "fuzz.json");
  } catch (const Error&) {
    return 0;
  }
  const auto json = to_json(record);
  if (to_json(read_record(json, "again.json")) != json) std::abort();
  make_reports(record);
  return 0;
}
