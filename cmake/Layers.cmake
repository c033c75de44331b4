# SPDX-License-Identifier: MIT
# paceline_compile_together(TARGET MOST): up to MOST of its sources are one compilation, of like numbers of files: headers and templates
# cost more than code. In tests the code costs more.
function(paceline_compile_together target most)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cc$")
  list(LENGTH sources count)
  math(EXPR units "(${count} + ${most} - 1) / ${most}")
  math(EXPR size "(${count} + ${units} - 1) / ${units}")
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${PACELINE_UNITY} UNITY_BUILD_MODE BATCH UNITY_BUILD_BATCH_SIZE ${size})
endfunction()

# Layers with loops that are timed or work on many numbers. All else is read, decided and written once a run: it is optimised less,
# and compiles in two thirds of the time.
set(PACELINE_HOT_LAYERS base stats host onnx measure workload)

function(paceline_optimise_less target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# paceline_add_layer(stats DEPENDS base LIBRARIES fmt::fmt): one folder, one target, its only allowed links. What lies in the folder
# or below it is compiled, except the main.cc of an executable, and GENERATED files. A build looks for new files by itself.
# tools/checks/layering.py checks the includes of each folder against the same DEPENDS lists.
function(paceline_add_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 layer "" "" "GENERATED;DEPENDS;LIBRARIES")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.cc *.c *.S)
  list(FILTER sources EXCLUDE REGEX "^main\\.cc$")
  list(TRANSFORM layer_DEPENDS PREPEND paceline::)
  add_library(paceline_${name} STATIC ${sources} ${layer_GENERATED})
  add_library(paceline::${name} ALIAS paceline_${name})
  target_include_directories(paceline_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(paceline_${name} PUBLIC ${layer_DEPENDS} ${layer_LIBRARIES} PRIVATE paceline::warnings)
  paceline_compile_together(paceline_${name} 40)
  if(NOT name IN_LIST PACELINE_HOT_LAYERS)
    paceline_optimise_less(paceline_${name})
  endif()
endfunction()

# paceline_add_test(unit_stats SOURCES a_test.cc DEPENDS stats LABELS unit): a GoogleTest executable and its ctest entry; with PER_CASE one
# entry per case, for suites whose cases are skipped one by one. SLOTS: the share of a core that it computes, in quarters (4 unless said):
# `make test` has ten, for two cores. Those that may take longest (TIMEOUT) are started first.
function(paceline_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "PER_CASE" "TIMEOUT;FIXTURE;SLOTS" "SOURCES;DEPENDS;LIBRARIES;LABELS;ENVIRONMENT")
  set(cost 0)
  if(test_TIMEOUT)
    set(cost ${test_TIMEOUT})
  else()
    set(test_TIMEOUT 120)
  endif()
  if(NOT test_SLOTS)
    set(test_SLOTS 4)
  endif()
  list(TRANSFORM test_DEPENDS PREPEND paceline::)
  add_executable(${name} ${test_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${test_DEPENDS} ${test_LIBRARIES} GTest::gtest_main paceline::warnings)
  paceline_compile_together(${name} 20)
  paceline_optimise_less(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  set(scratch ${CMAKE_BINARY_DIR}/tests/scratch/${name})  # its own, for tests that give their files fixed names
  file(MAKE_DIRECTORY ${scratch})
  list(APPEND test_ENVIRONMENT TMPDIR=${scratch})
  set(properties TIMEOUT ${test_TIMEOUT} COST ${cost} PROCESSORS ${test_SLOTS})
  if(test_FIXTURE)
    list(APPEND properties FIXTURES_REQUIRED ${test_FIXTURE})
  endif()
  if(test_PER_CASE)
    include(GoogleTest)
    gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60 NO_PRETTY_VALUES
                         PROPERTIES ${properties} LABELS "${test_LABELS}" ENVIRONMENT "${test_ENVIRONMENT}")
  else()
    add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
    set_tests_properties(${name} PROPERTIES ${properties} LABELS "${test_LABELS}" ENVIRONMENT "${test_ENVIRONMENT}")
  endif()
endfunction()
