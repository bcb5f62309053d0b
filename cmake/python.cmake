# The library inside the Python package: one self-contained file. jansson and zlib are linked from
# archives, with hidden names. If an archive is missing, or cannot be linked into a shared library
# (Debian's jansson on x86-64), the shared library is used; `auditwheel repair` then adds it to the
# wheel. The wheel also has a software bill of materials (PEP 770, CycloneDX) that lists what was linked.
include(CheckCSourceCompiles)

# Whether an archive goes into a shared library, by a function that needs most of it.
function(python_archive_fits result archive function)
    set(CMAKE_REQUIRED_FLAGS "-fPIC -shared")
    set(CMAKE_REQUIRED_LIBRARIES ${archive})
    check_c_source_compiles("void ${function}(void); int main(void) { ${function}(); return 0; }" ${result})
endfunction()

# Appends to the list the entry of one component of the bill of materials.
function(python_component list name version licence)
    list(APPEND ${list} "    {\"type\": \"library\", \"name\": \"${name}\", \"version\": \"${version}\", \
\"bom-ref\": \"${name}\", \"purl\": \"pkg:generic/${name}@${version}\", \"licenses\": [{\"license\": {\"id\": \"${licence}\"}}]}")
    set(${list} ${${list}} PARENT_SCOPE)
endfunction()

function(python_package library)
    set(components "")
    foreach(part jansson:json_loads:MIT:${JANSSON_VERSION} z:inflate:Zlib:${ZLIB_VERSION_STRING})
        string(REPLACE ":" ";" part ${part})
        list(GET part 0 name)
        list(GET part 1 function)
        list(GET part 2 licence)
        list(GET part 3 version)
        find_library(archive_of_${name} lib${name}.a)
        if(archive_of_${name})
            python_archive_fits(${name}_GOES_IN ${archive_of_${name}} ${function})
        endif()
        if(${name}_GOES_IN)
            target_link_libraries(${library} PRIVATE ${archive_of_${name}})
            string(REGEX REPLACE "^z$" "zlib" name ${name})
            python_component(components ${name} ${version} ${licence})
        else()
            message(STATUS "lib${name}: its archive cannot be linked in; the package uses the shared library")
        endif()
    endforeach()
    set_target_properties(${library} PROPERTIES NO_SONAME ON VERSION "" SOVERSION "")
    add_known_link_flags(${library} -Wl,--exclude-libs,ALL -Wl,--gc-sections)
    target_link_options(${library} PRIVATE $<$<PLATFORM_ID:Darwin>:-Wl,-dead_strip> -s)
    install(TARGETS ${library} LIBRARY DESTINATION consm COMPONENT python)

    if(SKBUILD_METADATA_DIR)
        list(JOIN components ",\n" components)
        configure_file(cmake/sbom.cdx.json.in consm.cdx.json @ONLY)
        install(FILES ${CMAKE_BINARY_DIR}/consm.cdx.json DESTINATION ${SKBUILD_METADATA_DIR}/sboms COMPONENT python)
        install(FILES ${CONSM_LICENCES} DESTINATION ${SKBUILD_METADATA_DIR}/licenses COMPONENT python)
    endif()
endfunction()
