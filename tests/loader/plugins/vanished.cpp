#include <lockstep/export.hpp>

// Its library is not on the search path of the plugin that links it.
LOCKSTEP_API int vanished_function();
int vanished_function() { return 1; }
