#pragma once

/// What the program ends with. Of several after a run the highest of 6, 5, 4 and 1 wins; before one 2 wins over 3.
namespace lockstep::exit_code {

inline constexpr int passed = 0;        ///< every required check passed
inline constexpr int failed = 1;        ///< a required check failed or was vacuous, or nothing was verified
inline constexpr int invalid = 2;       ///< the pipeline, a file that it names or the command line; nothing ran
inline constexpr int not_loadable = 3;  ///< a plugin that the pipeline uses; nothing ran
inline constexpr int error = 4;         ///< a step could not compute, or a report could not be written
inline constexpr int crashed = 5;       ///< a step ended its process; an unfinished record has it from the start
inline constexpr int interrupted = 6;

}  // namespace lockstep::exit_code
