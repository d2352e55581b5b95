#include "engine/worker_message.hpp"

#include <concepts>
#include <type_traits>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <lockstep/diagnostic.hpp>

namespace lockstep {
namespace {

using Message = nlohmann::ordered_json;  // tables keep their order

// One Codec for each type: a struct is a list of its members, in the order of `members`.
template <class T>
struct Codec;

template <class T>
Message encode(const T& value) {
  return Codec<T>::encode(value);
}
template <class T>
void decode(const Message& message, T& value) {
  Codec<T>::decode(message, value);
}

template <class T>
requires std::is_arithmetic_v<T> || std::is_same_v<T, std::string>
struct Codec<T> {
  static Message encode(const T& value) { return value; }
  static void decode(const Message& message, T& value) { message.get_to(value); }
};

template <class T>
requires std::is_enum_v<T>
struct Codec<T> {
  static Message encode(T value) { return static_cast<int>(value); }
  static void decode(const Message& message, T& value) { value = static_cast<T>(message.get<int>()); }
};

template <class T>
struct Codec<std::optional<T>> {
  static Message encode(const std::optional<T>& value) {
    auto list = Message::array();
    if (value) list.push_back(lockstep::encode(*value));
    return list;
  }
  static void decode(const Message& message, std::optional<T>& value) {
    value.reset();
    if (!message.empty()) lockstep::decode(message.at(0), value.emplace());
  }
};

template <class T>
struct Codec<std::vector<T>> {
  static Message encode(const std::vector<T>& values) {
    auto list = Message::array();
    for (const auto& value : values) list.push_back(lockstep::encode(value));
    return list;
  }
  static void decode(const Message& message, std::vector<T>& values) {
    values.clear();
    for (const auto& element : message) lockstep::decode(element, values.emplace_back());
  }
};

template <class A, class B>
struct Codec<std::pair<A, B>> {
  static Message encode(const std::pair<A, B>& pair) {
    return Message::array({lockstep::encode(pair.first), lockstep::encode(pair.second)});
  }
  static void decode(const Message& message, std::pair<A, B>& pair) {
    lockstep::decode(message.at(0), pair.first);
    lockstep::decode(message.at(1), pair.second);
  }
};

// The members of each struct, in the order in which they are written.
template <class T, class Struct>
concept Is = std::same_as<std::remove_const_t<T>, Struct>;

template <Is<Bound> T, class F>
void members(T& m, F&& f) {
  f(m.rtol, m.atol, m.max, m.min, m.k);
}
template <Is<CheckSettings> T, class F>
void members(T& m, F&& f) {
  f(m.bound, m.level, m.on_vacuous, m.non_finite, m.bound_source);
}
template <Is<CheckResult::Worst> T, class F>
void members(T& m, F&& f) {
  f(m.index, m.expected, m.actual);
}
template <Is<CheckResult> T, class F>
void members(T& m, F&& f) {
  f(m.name, m.subject, m.metric, m.level, m.verdict, m.on_vacuous, m.value, m.bound, m.bound_source, m.compared,
    m.mismatched, m.ladder, m.message, m.expected, m.statistics, m.worst);
}
template <Is<WorkerAnswer::Check> T, class F>
void members(T& m, F&& f) {
  f(m.settings, m.results);
}
template <Is<PlacedTensor> T, class F>
void members(T& m, F&& f) {
  f(m.offset, m.dtype, m.sizes, m.strides);
}
template <Is<WorkerStep::Wire> T, class F>
void members(T& m, F&& f) {
  f(m.input, m.given, m.step, m.output);
}
template <Is<WorkerStep> T, class F>
void members(T& m, F&& f) {
  f(m.id, m.uses, m.file, m.build_id, m.parameters, m.checks, m.wires);
}
template <Is<WorkerRequest> T, class F>
void members(T& m, F&& f) {
  f(m.seed, m.kernels, m.threads, m.automatic_threads, m.threads_set_by, m.libtorch_used, m.dump, m.steps, m.given);
}
template <Is<WorkerAnswer::Failure> T, class F>
void members(T& m, F&& f) {
  f(m.code, m.message, m.help, m.did_you_mean);
}
template <Is<WorkerAnswer::OutputTensor> T, class F>
void members(T& m, F&& f) {
  f(m.name, m.is_given, m.place);
}
template <Is<WorkerAnswer::Output> T, class F>
void members(T& m, F&& f) {
  f(m.name, m.is_sent, m.tensors);
}
template <Is<WorkerAnswer> T, class F>
void members(T& m, F&& f) {
  f(m.failure, m.interrupted, m.skip, m.summary, m.environment, m.fields, m.threads, m.peak_rss_bytes,
    m.peak_private_bytes, m.checks, m.outputs);
}

/// The number of the alternative, then its value.
template <>
struct Codec<Value> {
  static Message encode(const Value& value) {
    auto list = Message::array({value.data.index()});
    std::visit(
        [&list](const auto& held) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(held)>, std::monostate>)
            list.push_back(lockstep::encode(held));
        },
        value.data);
    return list;
  }
  static void decode(const Message& message, Value& value) { decode_as<0>(message, value); }

 private:
  template <std::size_t i>
  static void decode_as(const Message& message, Value& value) {
    if constexpr (i < std::variant_size_v<decltype(value.data)>) {
      if (message.at(0).get<std::size_t>() != i) return decode_as<i + 1>(message, value);
      auto& held = value.data.emplace<i>();
      if constexpr (i > 0) lockstep::decode(message.at(1), held);
    } else {
      throw Error{"a value is of no known kind"};
    }
  }
};

/// A struct.
template <class T>
struct Codec {
  static Message encode(const T& value) {
    auto list = Message::array();
    members(value, [&list](const auto&... member) { (list.push_back(lockstep::encode(member)), ...); });
    return list;
  }
  static void decode(const Message& message, T& value) {
    std::size_t i = 0;
    members(value, [&](auto&... member) { (lockstep::decode(message.at(i++), member), ...); });
  }
};

template <class T>
std::string bytes_of(const T& value) {
  std::string bytes;
  Message::to_cbor(encode(value), bytes);
  return bytes;
}

template <class T>
T value_from(std::string_view bytes) {
  try {
    T value;
    decode(Message::from_cbor(bytes), value);
    return value;
  } catch (const nlohmann::json::exception& error) {
    throw Error{fmt::format("a message between two processes cannot be read: {}", error.what())};
  }
}

}  // namespace

std::string to_bytes(const WorkerRequest& request) { return bytes_of(request); }
std::string to_bytes(const WorkerAnswer& answer) { return bytes_of(answer); }
WorkerRequest request_from(std::string_view bytes) { return value_from<WorkerRequest>(bytes); }
WorkerAnswer answer_from(std::string_view bytes) { return value_from<WorkerAnswer>(bytes); }

}  // namespace lockstep
