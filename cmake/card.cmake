# test_ops_card: the kernels of src/cuda compiled for the host, where fibres play a card's threads
# (tests/card), and put to test_ops. No card and no nvcc is needed; a C++ compiler is. Sanitizers take
# a change of stacks for an error.
if(NOT CMOCKA_FOUND OR CONSM_SANITIZE OR CONSM_FUZZ)
    return()
endif()
include(CheckLanguage)
check_language(CXX)
if(NOT CMAKE_CXX_COMPILER)
    message(STATUS "no C++ compiler: test_ops_card is left out")
    return()
endif()
enable_language(CXX)

# A file of its own for each kernels' file, because its suffix would make it nvcc's.
file(GLOB kernel_sources CONFIGURE_DEPENDS src/cuda/*.cu)
list(FILTER kernel_sources EXCLUDE REGEX "/(backend|leaves|lanes|memory)\\.cu$")
set(card_sources tests/card/backend.cc tests/card/fibres.cc)
foreach(source ${kernel_sources})
    get_filename_component(name ${source} NAME_WE)
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/card/${name}.cc CONTENT "#include \"cuda/${name}.cu\"\n")
    list(APPEND card_sources ${CMAKE_BINARY_DIR}/card/${name}.cc)
endforeach()
add_executable(test_ops_card tests/test_ops.c ${card_sources})
target_include_directories(test_ops_card PRIVATE tests tests/card)
target_compile_options(test_ops_card PRIVATE $<$<COMPILE_LANGUAGE:C>:-Wno-conversion>
                       $<$<COMPILE_LANGUAGE:CXX>:-std=c++17;-O2;-Wno-unknown-pragmas>)
target_link_libraries(test_ops_card PRIVATE consm_tool PkgConfig::CMOCKA)
add_test(NAME ops_card COMMAND test_ops_card)
set_tests_properties(ops_card PROPERTIES TIMEOUT ${hang_seconds})
