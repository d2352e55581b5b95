#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <lockstep/diagnostic.hpp>
#include <lockstep/value.hpp>

namespace lockstep {

class Step;

/// A parameter type: the path of a file that must exist before the run. "" means "not given".
struct FilePath {
  std::filesystem::path path;
};
/// A parameter type: the path of a folder that must exist before the run. "" means "not given".
struct FolderPath {
  std::filesystem::path path;
};

enum class ParamKind { boolean, integer, real, text, file, folder };

/// What `describe`, the binder, the schema and the docs know about a parameter.
struct ParamInfo {
  std::string name;
  ParamKind kind = ParamKind::text;
  bool list = false;
  bool optional = false;  ///< may stay unset; a parameter with a default is never unset
  std::string doc;
  std::string unit;
  std::optional<Value> default_value;
  std::optional<Value> min;  ///< inclusive; for lists, of each element
  std::optional<Value> max;  ///< inclusive
  std::vector<std::string> choices;
};

/// The values that a text parameter may have; a type of its own because g++ 12 cannot default a vector of text below.
struct Choices : std::vector<std::string> {
  using std::vector<std::string>::vector;
  Choices() noexcept : std::vector<std::string>() {}
};

/// Everything about a parameter that has a sensible absence.
template <class T>
struct ParamOptions {
  std::optional<T> default_value = std::nullopt;  ///< none: the parameter is required, unless optional
  std::optional<T> min = std::nullopt;
  std::optional<T> max = std::nullopt;
  std::string unit = std::string();
  Choices choices = Choices();
  bool optional = false;
};

/// The untyped half of Param<T>. `assign` belongs to the binder and to test benches.
class LOCKSTEP_API ParamBase {
 public:
  ParamBase(const ParamBase&) = delete;
  ParamBase& operator=(const ParamBase&) = delete;

  [[nodiscard]] const ParamInfo& info() const noexcept { return info_; }
  /// Where the value was written; nowhere for a default.
  [[nodiscard]] const Location& location() const noexcept { return location_; }
  /// `value` has been checked against info(): kind, range, choices. Paths are absolute or relative to the working
  /// folder.
  void assign(const Value& value, Location location);

 protected:
  ParamBase(Step& step, ParamInfo info);
  virtual ~ParamBase();
  virtual void store(const Value& value) = 0;

 private:
  ParamInfo info_;
  Location location_;
};

namespace detail {

template <class T>
struct ParamTraits;
template <>
struct ParamTraits<bool> {
  static constexpr ParamKind kind = ParamKind::boolean;
  static bool from(const Value& v) { return std::get<bool>(v.data); }
  static Value to(bool v) { return v; }
};
template <>
struct ParamTraits<std::int64_t> {
  static constexpr ParamKind kind = ParamKind::integer;
  static std::int64_t from(const Value& v) { return std::get<std::int64_t>(v.data); }
  static Value to(std::int64_t v) { return v; }
};
template <>
struct ParamTraits<double> {
  static constexpr ParamKind kind = ParamKind::real;
  static double from(const Value& v) {
    if (const auto* i = std::get_if<std::int64_t>(&v.data)) return static_cast<double>(*i);
    return std::get<double>(v.data);
  }
  static Value to(double v) { return v; }
};
template <>
struct ParamTraits<std::string> {
  static constexpr ParamKind kind = ParamKind::text;
  static std::string from(const Value& v) { return std::get<std::string>(v.data); }
  static Value to(const std::string& v) { return v; }
};
template <>
struct ParamTraits<FilePath> {
  static constexpr ParamKind kind = ParamKind::file;
  static FilePath from(const Value& v) { return {std::get<std::string>(v.data)}; }
  static Value to(const FilePath& v) { return v.path.string(); }
};
template <>
struct ParamTraits<FolderPath> {
  static constexpr ParamKind kind = ParamKind::folder;
  static FolderPath from(const Value& v) { return {std::get<std::string>(v.data)}; }
  static Value to(const FolderPath& v) { return v.path.string(); }
};
template <class T>
struct ParamTraits<std::vector<T>> {
  static constexpr ParamKind kind = ParamTraits<T>::kind;
  static std::vector<T> from(const Value& v) {
    std::vector<T> result;
    for (const auto& element : std::get<Value::Array>(v.data)) result.push_back(ParamTraits<T>::from(element));
    return result;
  }
  static Value to(const std::vector<T>& v) {
    Value::Array result;
    for (const auto& element : v) result.push_back(ParamTraits<T>::to(element));
    return result;
  }
};

template <class T>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<std::vector<T>> = true;

template <class T>
std::optional<Value> to_value(const std::optional<T>& v) {
  return v ? std::optional<Value>{ParamTraits<T>::to(*v)} : std::nullopt;
}

/// Limits of a list are limits of its elements.
template <class T>
struct LimitOf {
  using type = T;
};
template <class T>
struct LimitOf<std::vector<T>> {
  using type = T;
};

}  // namespace detail

/// A parameter of a step; declares itself to the step that it is a member of.
/// T: bool, std::int64_t, double, std::string, FilePath, FolderPath, or a std::vector of one of them.
/// ```cpp
/// Param<std::int64_t> max_seq{*this, "max_seq", "padded prompt length", {.min = 1, .unit = "tokens"}};
/// Param<std::string> dtype{*this, "dtype", "computing dtype", {.default_value = "bfloat16", .choices = {"bfloat16",
/// "float32"}}}; Param<FilePath> image{*this, "image", "picture", {.optional = true}};
/// ```
template <class T>
class Param final : public ParamBase {
 public:
  Param(Step& step, std::string name, std::string doc, ParamOptions<T> options = {})
      : ParamBase(step, ParamInfo{.name = std::move(name),
                                  .kind = detail::ParamTraits<T>::kind,
                                  .list = detail::is_list<T>,
                                  .optional = options.optional,
                                  .doc = std::move(doc),
                                  .unit = std::move(options.unit),
                                  .default_value = detail::to_value(options.default_value),
                                  .min = detail::to_value(options.min),
                                  .max = detail::to_value(options.max),
                                  .choices = std::move(options.choices)}),
        value_(std::move(options.default_value)) {}

  /// False only for an optional parameter that was not given.
  [[nodiscard]] bool has_value() const noexcept { return value_.has_value(); }
  explicit operator bool() const noexcept = delete;  // for Param<bool> this would read as its value
  /// Throws std::bad_optional_access if !has_value().
  [[nodiscard]] const T& operator*() const { return value_.value(); }
  [[nodiscard]] const T* operator->() const { return &value_.value(); }

 private:
  void store(const Value& value) override { value_ = detail::ParamTraits<T>::from(value); }

  std::optional<T> value_;
};

/// Collects what `Step::validate` finds: rules between parameters, before anything runs.
class LOCKSTEP_API Rules {
 public:
  /// The diagnostic points at `parameter`'s value, or at the step if that is a default.
  void error(const ParamBase& parameter, std::string message, std::string help = {});

  struct Finding {
    const ParamBase* parameter;
    std::string message;
    std::string help;
  };
  [[nodiscard]] const std::vector<Finding>& findings() const noexcept { return findings_; }

 private:
  std::vector<Finding> findings_;
};

}  // namespace lockstep
