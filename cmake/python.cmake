# The library inside the Python package: one file that needs nothing installed. jansson and zlib are
# linked from archives, their names hidden. Where an archive is missing the shared library is taken,
# and the package then needs it at run time.
function(python_package library)
    foreach(name jansson z)
        find_library(archive_of_${name} lib${name}.a)
        if(archive_of_${name})
            target_link_libraries(${library} PRIVATE ${archive_of_${name}})
        endif()
    endforeach()
    set_target_properties(${library} PROPERTIES NO_SONAME ON VERSION "" SOVERSION "")
    target_link_options(${library} PRIVATE -Wl,--exclude-libs,ALL -Wl,--gc-sections -s)
    install(TARGETS ${library} LIBRARY DESTINATION consm COMPONENT python)
endfunction()
