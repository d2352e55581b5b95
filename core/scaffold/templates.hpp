#pragma once

#include <string>
#include <string_view>

#include "scaffold/new_step.hpp"

namespace lockstep::scaffold {

// The texts that a new step starts from. `@STEP@` is its full name, `@NAME@` the second part of it, `@TYPE@` the
// struct.

extern const std::string_view step_source;      ///< family/name.cpp
extern const std::string_view step_test;        ///< without a test framework
extern const std::string_view sample_pipeline;  ///< runs as it is
extern const std::string_view step_page;        ///< what `lockstep describe --markdown` says about step_source
extern const std::string_view project_lists;    ///< CMakeLists.txt of a project outside; `@VERSION@` of the package
extern const std::string_view project_readme;
extern const std::string_view project_ignore;

/// `text` with every placeholder filled in.
[[nodiscard]] std::string filled_in(std::string_view text, const StepName& name, std::string_view version = "");

}  // namespace lockstep::scaffold
