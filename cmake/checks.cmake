# Examples, benchmarks, tests, fuzz targets and clang-tidy.

# ---- what tests and command have in them under AddressSanitizer ---------------------------------
if(CONSM_SANITIZE MATCHES "address" AND NOT CONSM_FUZZ)
    add_library(leaks OBJECT tests/leaks.c)
    target_compile_options(leaks PRIVATE -Wno-missing-prototypes -Wno-reserved-identifier)
    target_sources(consm_tool INTERFACE $<TARGET_OBJECTS:leaks>)
    add_executable(leaky tests/leaky.c)
    target_link_libraries(leaky PRIVATE consm_tool)
endif()

# ---- examples: each is a whole program that sees the installed header only ---------------------
file(GLOB example_sources CONFIGURE_DEPENDS examples/*.c)
foreach(source ${example_sources})
    get_filename_component(name ${source} NAME_WE)
    add_executable(example_${name} ${source})
    target_include_directories(example_${name} PRIVATE include)
    target_link_libraries(example_${name} PRIVATE consm_shared Threads::Threads m)
    if(TARGET leaks)
        target_sources(example_${name} PRIVATE $<TARGET_OBJECTS:leaks>)
    endif()
endforeach()

# ---- benchmarks --------------------------------------------------------------------------------
file(GLOB bench_sources CONFIGURE_DEPENDS bench/*.c)
if(bench_sources AND NOT CONSM_SANITIZE) # which no test runs there
    add_executable(consm-bench ${bench_sources})
    set_target_properties(consm-bench PROPERTIES BUILD_RPATH "$ORIGIN")
    target_link_libraries(consm-bench PRIVATE consm_tool)
endif()

# ---- tests: tests/test_NAME.c becomes the test NAME ---------------------------------------------
# A test file whose text holds the word THREADED also runs under ThreadSanitizer.
if(CONSM_TESTS)
    enable_testing()
    set(hang_seconds 7200) # ends what hangs; nothing else is judged by the clock
    pkg_check_modules(CMOCKA IMPORTED_TARGET cmocka)
    file(GLOB test_sources CONFIGURE_DEPENDS tests/test_*.c)
    # Calls of every public function, made from the headers.
    find_program(PYTHON3 python3)
    if(PYTHON3)
        add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/made/api_calls.h
            COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/made
            COMMAND ${PYTHON3} tests/api_calls.py ${CMAKE_BINARY_DIR}/made/api_calls.h
                    include/consm.h include/consm_ot.h
            DEPENDS tests/api_calls.py include/consm.h include/consm_ot.h
            WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} VERBATIM)
        add_custom_target(api_calls DEPENDS ${CMAKE_BINARY_DIR}/made/api_calls.h)
    else()
        list(FILTER test_sources EXCLUDE REGEX "test_api_calls")
        message(STATUS "no python3: test_api_calls is left out")
    endif()
    add_custom_target(threaded_tests) # what the preset tsan builds
    if(CMOCKA_FOUND)
        foreach(source ${test_sources})
            get_filename_component(name ${source} NAME_WE)
            file(STRINGS ${source} threaded REGEX "THREADED")
            file(STRINGS ${source} calls_command REGEX "CONSM_COMMAND")
            if(CONSM_SANITIZE STREQUAL "thread" AND NOT threaded) # would not be run
                continue()
            endif()
            add_executable(${name} ${source})
            set_target_properties(${name} PROPERTIES BUILD_RPATH "$ORIGIN") # plug-ins are found
            target_include_directories(${name} PRIVATE tests)
            target_compile_options(${name} PRIVATE -Wno-conversion)
            target_compile_definitions(${name} PRIVATE
                TESTS_DIR="${CMAKE_SOURCE_DIR}/tests" CONSM_COMMAND="$<TARGET_FILE:consm_command>")
            target_link_libraries(${name} PRIVATE consm_tool PkgConfig::CMOCKA)
            if(calls_command)
                add_dependencies(${name} consm_command)
            endif()
            string(REPLACE "test_" "" test_name ${name})
            add_test(NAME ${test_name} COMMAND ${name})
            set_tests_properties(${test_name} PROPERTIES TIMEOUT ${hang_seconds})
            if(threaded)
                set_tests_properties(${test_name} PROPERTIES LABELS threaded)
                add_dependencies(threaded_tests ${name})
            endif()
        endforeach()
    endif()
    if(TARGET test_api_calls)
        add_dependencies(test_api_calls api_calls)
        target_include_directories(test_api_calls PRIVATE ${CMAKE_BINARY_DIR}/made)
        target_compile_options(test_api_calls PRIVATE -Wno-float-conversion -Wno-unused-value
                               -Wno-nonnull -Wno-overflow)
    endif()
    if(TARGET test_progress) # of the command, not of the library
        target_sources(test_progress PRIVATE cli/progress.c)
        target_include_directories(test_progress PRIVATE cli)
    endif()
    if(CONSM_SANITIZE AND CONSM_TREES_BUILT AND TEST trees) # whose dlopen does not look beside the program
        set_tests_properties(trees with_trees PROPERTIES ENVIRONMENT LD_LIBRARY_PATH=${CMAKE_BINARY_DIR})
    endif()
    if(TARGET leaky)
        add_test(NAME leak_is_found COMMAND leaky)
        set_tests_properties(leak_is_found PROPERTIES PASS_REGULAR_EXPRESSION "detected memory leaks")
    endif()
    include(cmake/card.cmake)
    add_executable(mpi_models tests/mpi/models.c) # what check_mpi.sh runs on ranks
    set_target_properties(mpi_models PROPERTIES BUILD_RPATH "$ORIGIN")
    target_link_libraries(mpi_models PRIVATE consm_tool)
    if(CONSM_MPI_BUILT) # preloaded by check_mpi.sh
        add_library(mpi_count MODULE tests/mpi/count.c)
        target_link_libraries(mpi_count PRIVATE MPI::MPI_C)
        set_target_properties(mpi_count PROPERTIES C_VISIBILITY_PRESET default)
    endif()
    if(NOT CONSM_SANITIZE AND NOT APPLE) # preloaded by check_cli_answers.sh
        add_library(thread_shim MODULE tests/thread_shim.c)
        target_compile_options(thread_shim PRIVATE -Wno-missing-prototypes -Wno-attributes -Wno-pedantic -Wno-nonnull)
        target_link_libraries(thread_shim PRIVATE dl)
        set_target_properties(thread_shim PROPERTIES C_VISIBILITY_PRESET default)
    endif()
    if(NOT CONSM_SANITIZE) # preloaded by check_faults.sh
        add_library(fault_shim MODULE tests/fault_shim.c)
        target_compile_options(fault_shim PRIVATE -U_FORTIFY_SOURCE -fno-builtin -Wno-missing-prototypes
                               -Wno-attributes -Wno-pedantic)
        target_link_libraries(fault_shim PRIVATE dl)
        set_target_properties(fault_shim PROPERTIES C_VISIBILITY_PRESET default)
    endif()
    add_executable(sample_report tests/sample_report.c) # what check_report_browser.sh looks at
    target_compile_options(sample_report PRIVATE -Wno-conversion)
    target_include_directories(sample_report PRIVATE tests)
    target_link_libraries(sample_report PRIVATE consm_tool)
    add_test(NAME example_train_csv
             COMMAND example_train_csv ${CMAKE_SOURCE_DIR}/examples/friends)
    add_test(NAME example_custom_model COMMAND example_custom_model)
    file(GLOB script_tests CONFIGURE_DEPENDS tests/check_*.sh)
    if(CONSM_SANITIZE) # would see nothing new: what is installed, built anew, other programs, measured
        list(FILTER script_tests EXCLUDE REGEX
             "check_(abi|core|ctypes|cuda|faults|fraud|install|limits|python|ranks_memory|report_browser|scripts|tables|tutorial)[.]sh")
    endif()
    foreach(script ${script_tests})
        get_filename_component(name ${script} NAME_WE)
        add_test(NAME ${name} COMMAND bash ${script} $<TARGET_FILE:consm_command>
                 WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
        set_tests_properties(${name} PROPERTIES ENVIRONMENT BUILD_DIR=${CMAKE_BINARY_DIR})
        set_tests_properties(${name} PROPERTIES TIMEOUT ${hang_seconds} SKIP_RETURN_CODE 77)
    endforeach()
    # The longest begin first, so that none of them ends alone on one processor.
    foreach(name train_threads ops api_malloc backend_training clean_arm study_golden ensemble growing ops_card check_python
            check_faults check_docs check_tutorial check_cli_train check_cli_answers check_one_file check_study check_mpi)
        if(TEST ${name})
            set_tests_properties(${name} PROPERTIES COST 1000)
        endif()
    endforeach()
endif()

# ---- fuzzing: tests/fuzz/fuzz_NAME.c, seeds in tests/fuzz/corpus/NAME ----------------------------
if(CONSM_FUZZ)
    foreach(target consm_core consm_objects consm_tool)
        target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
        target_compile_definitions(${target} PRIVATE FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION)
    endforeach()
    file(GLOB fuzz_sources CONFIGURE_DEPENDS tests/fuzz/fuzz_*.c)
    foreach(source ${fuzz_sources})
        get_filename_component(name ${source} NAME_WE)
        add_executable(${name} ${source})
        target_include_directories(${name} PRIVATE tests)
        target_compile_options(${name} PRIVATE -Wno-missing-prototypes -Wno-conversion)
        target_link_libraries(${name} PRIVATE consm_tool -fsanitize=fuzzer)
    endforeach()
    # What reads the command's own files is in the command.
    set(cli_without_main ${cli_sources})
    list(FILTER cli_without_main EXCLUDE REGEX "/main\\.c$")
    target_sources(fuzz_yaml PRIVATE ${cli_without_main})
    target_include_directories(fuzz_yaml PRIVATE cli)
    target_compile_options(fuzz_yaml PRIVATE -fsanitize=fuzzer-no-link)
endif()

# ---- clang-tidy, by hand: cmake --build --preset release --target tidy ---------------------------
add_custom_target(tidy COMMAND ${CMAKE_COMMAND} -E env BUILD_DIR=${CMAKE_BINARY_DIR}
                  ${CMAKE_SOURCE_DIR}/scripts/tidy
                  WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} USES_TERMINAL VERBATIM)
