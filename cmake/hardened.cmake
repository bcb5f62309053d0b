# What release builds have beyond speed. Hostile input is what the readers are for: a fault that slips
# through should end the process, not serve somebody. Sanitizers have checks of their own.
option(CONSM_HARDENED "fortified calls, stack protector, full RELRO" ON)
if(CONSM_HARDENED AND CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT CONSM_SANITIZE)
    set(hardened -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
    add_known_flags(hardened -fstack-protector-strong -fstack-clash-protection)
    foreach(target consm_core consm_objects consm_tool consm_command)
        target_compile_options(${target} PRIVATE ${hardened})
    endforeach()
    foreach(target consm_shared consm_command)
        target_link_options(${target} PRIVATE -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
    endforeach()
    target_link_options(consm_command PRIVATE -pie)
endif()
