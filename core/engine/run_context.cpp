#include "engine/run_context.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace lockstep {

void set_field(std::vector<std::pair<std::string, Value>>& fields, std::string key, Value value) {
  const auto same = [&key](const auto& field) { return field.first == key; };
  if (const auto found = std::ranges::find_if(fields, same); found != fields.end()) {
    found->second = std::move(value);
  } else {
    fields.emplace_back(std::move(key), std::move(value));
  }
}

namespace {

/// The elements of a list of texts.
std::vector<std::string> lines_in(const Value& value) {
  std::vector<std::string> lines;
  const auto* list = std::get_if<Value::Array>(&value.data);
  const auto is_text = [](const Value& element) { return std::holds_alternative<std::string>(element.data); };
  if (list == nullptr || !std::ranges::all_of(*list, is_text))
    throw Error{fmt::format("output_tail is {}, expected a list of texts", to_text(value))};
  lines.reserve(list->size());
  for (const auto& element : *list) lines.push_back(std::get<std::string>(element.data));
  return lines;
}

}  // namespace

void RunContext::progress(std::int64_t done, std::int64_t total, std::string_view unit) {
  if (interrupted_ != nullptr && interrupted_->load()) throw Interrupted{};
  for (auto* observer : observers_) observer->step_progress(step_, done, total, unit);
}

void RunContext::set_threads(int threads) {
  if (threads < 1) throw Error{fmt::format("thread count {} given to set_threads, expected at least 1", threads)};
  if (!threads_.automatic) {
    throw Error{fmt::format("the step sets the thread count, but the pipeline fixes it at {}", *threads_.threads),
                "set [environment] threads = \"auto\""};
  }
  // The step is computed again for an isolated one.
  if (threads_.set_by == step_id() && threads_.threads == threads) return;
  if (!threads_.set_by.empty()) {
    throw Error{fmt::format("the thread count was set by step '{}' already", threads_.set_by),
                "let one step alone set it"};
  }
  if (threads_.libtorch_used) {
    throw Error{"the thread count is set after a step has used LibTorch", "move this step before the others"};
  }
  threads_.threads = threads;
  threads_.set_by = step_id();
  threads_.apply(threads);
  environment("threads", threads);
  environment("threads_set_by", threads_.set_by);
}

void RunContext::environment(std::string key, Value value) {
  set_field(run_.environment, std::move(key), std::move(value));
}

void RunContext::record(std::string key, Value value) {
  if (key == "output_tail") {
    record_of_step().output_tail = lines_in(value);
    return;
  }
  if (is_field_of_step(key))
    throw Error{fmt::format("a step's own field is called '{}', as one of the record's", key), "give it another name"};
  set_field(record_of_step().extra, std::move(key), std::move(value));
}

}  // namespace lockstep
