#pragma once

#include <string>

namespace lockstep::cli {

/// How a run of several rows tells the process of a row the id that the row's record is to have.
inline constexpr const char* run_id_variable = "LOCKSTEP_RUN_ID";

/// The id that this process was given; "" if none. It is taken out of the environment, so that no program that a step
/// starts takes it for its own.
[[nodiscard]] const std::string& given_run_id();

}  // namespace lockstep::cli
