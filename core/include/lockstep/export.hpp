#pragma once

/// Marks a symbol that other libraries may use. Everything else is hidden.
#define LOCKSTEP_API __attribute__((visibility("default")))
