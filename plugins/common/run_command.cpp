#include <lockstep/safetensors.hpp>
#include <lockstep/step.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "process/child_process.hpp"
#include "process/scratch_folder.hpp"

namespace {
using namespace lockstep;
using Texts = std::vector<std::string>;

std::string replaced(std::string text, std::string_view placeholder, const std::string& value) {
  for (auto at = text.find(placeholder); at != std::string::npos; at = text.find(placeholder, at + value.size()))
    text.replace(at, placeholder.size(), value);
  return text;
}

Texts last_lines(const std::string& text) {
  constexpr std::ptrdiff_t most = 20;
  Texts lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  if (std::ssize(lines) > most) lines.erase(lines.begin(), lines.end() - most);
  return lines;
}

/// `word` for a POSIX shell.
std::string quoted(const std::string& word) {
  constexpr std::string_view harmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  if (!word.empty() && word.find_first_not_of(harmless) == std::string::npos) return word;
  return "'" + replaced(word, "'", "'\\''") + "'";
}

/// The files that the command reads and writes.
class ExchangeFiles {
 public:
  explicit ExchangeFiles(bool keep) {
    if (keep) folder_.keep();
  }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }
  [[nodiscard]] std::filesystem::path inputs() const { return folder_.path() / "inputs.safetensors"; }
  [[nodiscard]] std::filesystem::path outputs() const { return folder_.path() / "outputs.safetensors"; }

 private:
  ScratchFolder folder_{"command"};
};

/// Runs a program that reads tensors from one safetensors file and writes others to another.
struct RunCommand final : Step {
  In<NamedTensors> inputs{*this, "inputs", "what the command reads", optional};
  Out<NamedTensors> outputs{*this, "outputs", "what it wrote"};

  Param<Texts> command{
      *this, "command",
      "program and arguments, no shell; {inputs} and {outputs} stand for the two files, which are also "
      "in the environment variables LOCKSTEP_INPUTS and LOCKSTEP_OUTPUTS"};
  Param<Texts> results{*this,
                       "results",
                       "outputs to take, by name; the command must write them; none: all that it writes",
                       {.default_value = Texts{}}};
  Param<double> time_limit{*this,
                           "time_limit",
                           "the command and all that it has started end after it; none: no limit",
                           {.min = 0.001, .unit = "s", .optional = true}};
  Param<FolderPath> folder{
      *this, "folder", "the command's working folder; none: the one of lockstep itself", {.optional = true}};

  Param<bool> keep{
      *this, "keep", "keep the two files, and say how to repeat a command that failed", {.default_value = false}};

  void validate(Rules& rules) const override {
    if (command->empty() || command->front().empty()) rules.error(command, "names no program");
  }

  void run(StepContext& context) override {
    const ExchangeFiles files(*keep);
    if (inputs) write_safetensors(files.inputs(), inputs->entries());
    const auto request = request_of(files, context);
    const auto result = run_child(request);
    const auto tail = last_lines(result.output_tail);
    if (!tail.empty()) context.record("output_tail", Value::Array(tail.begin(), tail.end()));
    repetition_ = repetition_of(request);
    if (!result.succeeded()) fail(ending_text(request, result) + (result.timed_out ? " (with.time_limit)" : ""), tail);
    if (!std::filesystem::exists(files.outputs()))
      fail("wrote no outputs", tail, "it must write the file that {outputs} and LOCKSTEP_OUTPUTS name");
    auto tensors = taken(read(files, tail), tail);
    context.summary(fmt::format("{} tensor{} from {}{}", tensors.size(), tensors.size() == 1 ? "" : "s",
                                command->front(),
                                *keep ? ", files kept in " + files.folder().string() : std::string()));
    outputs = std::move(tensors);
  }

 private:
  [[nodiscard]] ChildRequest request_of(const ExchangeFiles& files, StepContext& context) const {
    ChildRequest request;
    for (const auto& word : *command)
      request.argv.push_back(
          replaced(replaced(word, "{inputs}", files.inputs().string()), "{outputs}", files.outputs().string()));
    request.environment = {{"LOCKSTEP_INPUTS", files.inputs().string()},
                           {"LOCKSTEP_OUTPUTS", files.outputs().string()}};
    if (folder.has_value()) request.folder = folder->path;
    if (time_limit.has_value()) request.time_limit = *time_limit;
    const auto limit = static_cast<std::int64_t>(time_limit.has_value() ? *time_limit : 0);
    // Throws after Ctrl-C, which ends the command.
    request.while_waiting = [&context, limit, start = std::chrono::steady_clock::now()] {
      const auto elapsed = std::chrono::steady_clock::now() - start;
      context.progress(std::chrono::duration_cast<std::chrono::seconds>(elapsed).count(), limit, "s");
    };
    return request;
  }

  /// The command with the paths of its files, for a shell.
  static std::string repetition_of(const ChildRequest& request) {
    std::string text;
    if (!request.folder.empty()) text += fmt::format("cd {} && ", quoted(request.folder.string()));
    for (const auto& [name, value] : request.environment) text += fmt::format("{}={} ", name, quoted(value));
    Texts words;
    for (const auto& word : request.argv) words.push_back(quoted(word));
    return text + fmt::format("{}", fmt::join(words, " "));
  }

  /// "the command 'adb shell …' exited with code 3", and the last that it said.
  [[noreturn]] void fail(const std::string& what, const Texts& tail, const std::string& help = {}) const {
    auto message = fmt::format("the command '{}' {}", fmt::join(*command, " "), what);
    const auto last = std::ranges::find_if(tail.rbegin(), tail.rend(), [](const auto& line) { return !line.empty(); });
    if (last != tail.rend()) message += fmt::format("; its output ends with: {}", *last);
    const auto* separator = help.empty() ? "" : "; ";
    throw Error{message, help + separator +
                             (*keep ? "to repeat it: " + repetition_
                                    : "with keep = true its files stay, and this line says how to repeat it")};
  }

  [[nodiscard]] NamedTensors read(const ExchangeFiles& files, const Texts& tail) const {
    try {
      return read_tensor_file(files.outputs());
    } catch (const Error& error) {
      fail(fmt::format("wrote outputs that cannot be read: {}", error.what()), tail);
    }
  }

  /// The results that were asked for.
  [[nodiscard]] NamedTensors taken(const NamedTensors& written, const Texts& tail) const {
    if (results->empty()) return written;
    NamedTensors taken;
    for (const auto& name : *results) {
      const auto* tensor = written.find(name);
      if (tensor == nullptr)
        fail(fmt::format("wrote no tensor '{}', but {}", name,
                         written.empty() ? "none at all" : fmt::format("{}", fmt::join(written.names(), ", "))),
             tail);
      taken.add(name, *tensor);
    }
    return taken;
  }

  std::string repetition_;
};
}  // namespace

LOCKSTEP_STEP("common.run_command", RunCommand, "runs a program that reads and writes safetensors files")
