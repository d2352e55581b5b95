#pragma once

// Catch2 v2 and v3 in one include.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#define LOCKSTEP_CATCH_CONTAINS Catch::Matchers::ContainsSubstring
#else
#include <catch2/catch.hpp>
#define LOCKSTEP_CATCH_CONTAINS Catch::Matchers::Contains
#endif

/// A matcher for `CHECK_THAT(text, contains_text("…"))`; its name differs between Catch2's versions.
inline auto contains_text(const std::string& part) { return LOCKSTEP_CATCH_CONTAINS(part); }
