#include "scaffold/templates.hpp"

namespace lockstep::scaffold {

const std::string_view project_lists = R"template(cmake_minimum_required(VERSION 3.25)
project(@NAME@ LANGUAGES CXX)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
add_compile_options(-Wall -Wextra)

find_package(Lockstep @VERSION@ REQUIRED)   # COMPONENTS torch: for steps that use LibTorch
enable_testing()

# One pair of lines for each step.
lockstep_add_step(NAME @STEP@ SOURCES src/@NAME@.cpp)
lockstep_add_step_test(NAME @STEP@ SOURCES test/@NAME@_test.cpp)

add_test(NAME pipeline.@NAME@ COMMAND lockstep::program run ${PROJECT_SOURCE_DIR}/pipelines/@NAME@.toml
                                      --plugin-path ${PROJECT_BINARY_DIR}/plugins)
)template";

const std::string_view project_readme = R"template(# @STEP@

A step for Lockstep, built outside its source tree.

```
cmake -B build -DCMAKE_PREFIX_PATH=<where Lockstep is installed>
cmake --build build
ctest --test-dir build
lockstep run pipelines/@NAME@.toml --plugin-path build/plugins
```

| | |
|---|---|
| `src/@NAME@.cpp` | the step: ports, parameters, checks, `run` |
| `test/@NAME@_test.cpp` | the step on the bench, without a pipeline |
| `pipelines/@NAME@.toml` | a pipeline of this step |
| `docs/@STEP@.md` | its page: `lockstep describe @STEP@ --markdown --plugin-path build/plugins` writes it anew |
)template";

const std::string_view project_ignore = "/build/\n";

}  // namespace lockstep::scaffold
