# Finds norn, and adds tests that hunt for concurrency bugs.
#
#   list(APPEND CMAKE_MODULE_PATH <this folder>)
#   find_package(Norn)
#   enable_testing()
#   add_executable(server server.cc)
#   norn_add_test(NAME server_threads COMMAND server --port 0 BUDGET 100)
#
# Configure the build by `norn build cmake -S . -B build`, so that the compilers are norn's wrappers of them.
#
# norn_add_test(NAME <name> COMMAND <target or program> [<argument>...]
#               [BUDGET <executions>] [TIME <time>] [BASELINE <file>] [OPTIONS <option of norn hunt>...])
#
# The test fails if something harmful is confirmed. The trace, the clips and the report are in
# <name>.norn in the build folder, and the page in <name>.html. A program that was not built with norn is
# skipped.

find_program(NORN_EXECUTABLE norn DOC "norn, which finds concurrency bugs")

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Norn REQUIRED_VARS NORN_EXECUTABLE)
mark_as_advanced(NORN_EXECUTABLE)

function(norn_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 norn "" "NAME;BUDGET;TIME;BASELINE" "COMMAND;OPTIONS")
  if(NOT norn_NAME OR NOT norn_COMMAND)
    message(FATAL_ERROR "norn_add_test needs NAME and COMMAND")
  endif()
  if(norn_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "norn_add_test does not know: ${norn_UNPARSED_ARGUMENTS}")
  endif()

  set(options ${norn_OPTIONS})
  if(norn_BUDGET)
    list(APPEND options --budget ${norn_BUDGET})
  endif()
  if(norn_TIME)
    list(APPEND options --time ${norn_TIME})
  endif()
  if(norn_BASELINE)
    get_filename_component(baseline "${norn_BASELINE}" ABSOLUTE)
    list(APPEND options --baseline "${baseline}")
  endif()

  # A target is replaced by the file that it makes.
  list(POP_FRONT norn_COMMAND program)
  if(TARGET ${program})
    set(program "$<TARGET_FILE:${program}>")
  endif()

  set(output "${CMAKE_CURRENT_BINARY_DIR}/${norn_NAME}")
  add_test(
    NAME ${norn_NAME}
    COMMAND "${NORN_EXECUTABLE}" hunt -o "${output}.norn" --html "${output}.html" ${options}
            -- ${program} ${norn_COMMAND})
  # Norn runs several executions at the same time by itself.
  set_tests_properties(${norn_NAME} PROPERTIES RUN_SERIAL TRUE SKIP_RETURN_CODE 3)
endfunction()
