# The library inside the Python package: one file that needs nothing installed. jansson and zlib are
# linked from archives, their names hidden. Where an archive is missing, or holds code that no shared
# library can take (Debian's jansson on x86-64), the shared library is taken; `auditwheel repair` then
# puts that into the wheel.
include(CheckCSourceCompiles)

# Whether an archive goes into a shared library, by a function that needs most of it.
function(python_archive_fits result archive function)
    set(CMAKE_REQUIRED_FLAGS "-fPIC -shared")
    set(CMAKE_REQUIRED_LINK_OPTIONS -Wl,--exclude-libs,ALL)
    set(CMAKE_REQUIRED_LIBRARIES ${archive})
    check_c_source_compiles("void ${function}(void); int main(void) { ${function}(); return 0; }" ${result})
endfunction()

function(python_package library)
    foreach(pair jansson:json_loads z:inflate)
        string(REPLACE ":" ";" pair ${pair})
        list(GET pair 0 name)
        list(GET pair 1 function)
        find_library(archive_of_${name} lib${name}.a)
        if(archive_of_${name})
            python_archive_fits(${name}_GOES_IN ${archive_of_${name}} ${function})
        endif()
        if(${name}_GOES_IN)
            target_link_libraries(${library} PRIVATE ${archive_of_${name}})
        else()
            message(STATUS "lib${name} stays outside of the package's library")
        endif()
    endforeach()
    set_target_properties(${library} PROPERTIES NO_SONAME ON VERSION "" SOVERSION "")
    target_link_options(${library} PRIVATE -Wl,--exclude-libs,ALL -Wl,--gc-sections -s)
    install(TARGETS ${library} LIBRARY DESTINATION consm COMPONENT python)
endfunction()
