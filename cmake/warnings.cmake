# Warnings and other flags of every C file. A warning stops the build only if CONSM_WERROR is ON: in the
# sanitizers' presets and in .ci/run. Newer compilers warn about more, and users should still get a
# program.
option(CONSM_WERROR "a compiler warning is an error" OFF)
include(CheckCCompilerFlag)

if(NOT CMAKE_SIZEOF_VOID_P EQUAL 8)
    message(FATAL_ERROR "consm needs a 64-bit machine; this compiler builds for a 32-bit one")
endif()

# Adds to the list the flags that the compiler takes without a word. clang only warns about a flag
# that does nothing, so the question is asked with -Werror.
function(add_known_flags list)
    set(CMAKE_REQUIRED_FLAGS -Werror)
    foreach(flag ${ARGN})
        string(MAKE_C_IDENTIFIER "COMPILER_HAS${flag}" known)
        check_c_compiler_flag(${flag} ${known})
        if(${known})
            list(APPEND ${list} ${flag})
        endif()
    endforeach()
    set(${list} ${${list}} PARENT_SCOPE)
endfunction()

# Same bits everywhere: the compiler must not contract or reorder floating point on its own.
set(c_flags -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wstrict-prototypes
    -Wmissing-prototypes -Wvla -ffp-contract=off)
# clang 18 and newer: constants here are enumerators, which real numbers are multiplied by.
add_known_flags(known_flags -Wenum-float-conversion)
if(known_flags)
    list(APPEND c_flags -Wno-enum-float-conversion)
endif()
if(CONSM_WERROR)
    list(APPEND c_flags -Werror)
endif()
add_compile_options("$<$<COMPILE_LANGUAGE:C>:${c_flags}>")
add_compile_definitions($<$<COMPILE_LANGUAGE:C>:_GNU_SOURCE>)
if(APPLE)
    add_compile_definitions(_REENTRANT) # whose math.h has lgamma_r for those who ask only
endif()

# Gives the target those flags that its linker knows. --version-script, -z and --as-needed are GNU's and
# lld's; macOS's linker has none of them, and hides names by visibility alone.
include(CheckLinkerFlag)
function(add_known_link_flags target)
    foreach(flag ${ARGN})
        string(REGEX REPLACE "=.*" "" known ${flag})
        string(MAKE_C_IDENTIFIER "LINKER_HAS${known}" known)
        check_linker_flag(C ${flag} ${known})
        if(${known})
            target_link_options(${target} PRIVATE ${flag})
        endif()
    endforeach()
endfunction()
