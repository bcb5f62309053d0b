# What release builds have beyond speed. Hostile input is what the readers are for: a fault that slips
# through should end the process, not serve somebody. Sanitizers have checks of their own.
option(CONSM_HARDENED "fortified calls, stack protector, full RELRO" ON)
if(CONSM_HARDENED AND CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT CONSM_SANITIZE)
    # Level 3 needs a compiler as new as the C library: gcc 11 beside glibc 2.36 warns in every file.
    include(CheckCSourceCompiles)
    set(CMAKE_REQUIRED_FLAGS "-Werror -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
    check_c_source_compiles("#include <stdio.h>\nint main(void) { return 0; }" FORTIFY_SOURCE_3)
    unset(CMAKE_REQUIRED_FLAGS)
    set(hardened -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$<IF:$<BOOL:${FORTIFY_SOURCE_3}>,3,2>)
    add_known_flags(hardened -fstack-protector-strong -fstack-clash-protection)
    foreach(target consm_core consm_objects consm_tool consm_command)
        target_compile_options(${target} PRIVATE ${hardened})
    endforeach()
    foreach(target consm_shared consm_command)
        target_link_options(${target} PRIVATE -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
    endforeach()
    target_link_options(consm_command PRIVATE -pie)
endif()
