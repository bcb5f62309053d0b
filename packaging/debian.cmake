# cpack runs this before it packs: adds what Debian's policy wants in every package (a changelog in Debian's form, packed
# manual pages) and lintian's overrides (packaging/lintian, with reasons). Other archives stay as they are.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
    return()
endif()
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/../CHANGELOG.md heading REGEX "^## [0-9.]+ \\([0-9-]+\\)$" LIMIT_COUNT 1)
string(REGEX REPLACE ".*\\((.*)\\)" "\\1" day "${heading}")
execute_process(COMMAND date -uRd "${day}" OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
file(GLOB owned ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/doc/*/copyright)
foreach(file ${owned})
    get_filename_component(folder ${file} DIRECTORY)
    get_filename_component(name ${folder} NAME)
    file(WRITE ${folder}/changelog "consm (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium\n\n"
         "  * Version ${CPACK_PACKAGE_VERSION}. CHANGELOG.md in the package consm-doc says what changed.\n\n"
         " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
    execute_process(COMMAND gzip -9nf ${folder}/changelog COMMAND_ERROR_IS_FATAL ANY)
    if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/lintian/${name})
        file(COPY ${CMAKE_CURRENT_LIST_DIR}/lintian/${name} DESTINATION ${folder}/../../lintian/overrides)
    endif()
endforeach()
file(GLOB pages ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/man/man1/*.1)
execute_process(COMMAND gzip -9nf ${pages} COMMAND_ERROR_IS_FATAL ANY)
