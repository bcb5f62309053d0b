# What `make install` and `cpack` put where: command, headers, both libraries, and what pkg-config and
# find_package(consm) need to find them.
install(TARGETS consm_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS consm_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(NOT CONSM_SANITIZE)
    install(FILES ${CMAKE_BINARY_DIR}/libconsm.a DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(FILES include/consm.h include/consm_ot.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES README.md LICENSE CHANGELOG.md CONTRIBUTING.md SECURITY.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
# The pages link to the notes, tables and figures of the studies; their records stay in the source.
install(DIRECTORY studies DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md" PATTERN "*.csv" PATTERN "*.svg")

# Manual pages and completion come from the command's own tables.
file(GLOB verb_sources RELATIVE ${CMAKE_SOURCE_DIR}/cli ${CMAKE_SOURCE_DIR}/cli/cmd_*.c)
set(man_files ${CMAKE_BINARY_DIR}/help/consm.1)
set(help_commands COMMAND $<TARGET_FILE:consm_command> help --man > help/consm.1)
foreach(source ${verb_sources})
    string(REGEX REPLACE "cmd_(.*)\\.c" "\\1" verb ${source})
    file(STRINGS cli/commands.h known REGEX "cmd_${verb};")
    if(known)
        list(APPEND man_files ${CMAKE_BINARY_DIR}/help/consm-${verb}.1)
        list(APPEND help_commands COMMAND $<TARGET_FILE:consm_command> help --man ${verb}
                                  > help/consm-${verb}.1)
    endif()
endforeach()
foreach(shell bash zsh fish)
    list(APPEND help_commands COMMAND $<TARGET_FILE:consm_command> help --completion ${shell}
                              > help/consm.${shell})
endforeach()
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/help/done
    COMMAND ${CMAKE_COMMAND} -E make_directory help ${help_commands}
    COMMAND ${CMAKE_COMMAND} -E touch help/done
    DEPENDS consm_command WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
add_custom_target(consm_help ALL DEPENDS ${CMAKE_BINARY_DIR}/help/done)
install(FILES ${man_files} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${CMAKE_BINARY_DIR}/help/consm.bash RENAME consm
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${CMAKE_BINARY_DIR}/help/consm.zsh RENAME _consm
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${CMAKE_BINARY_DIR}/help/consm.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# The file finds its prefix from where it lies, so that an installed tree can be moved.
file(RELATIVE_PATH CONSM_PC_PREFIX /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
configure_file(cmake/consm.pc.in consm.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/consm.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/consm)
configure_package_config_file(cmake/consm-config.cmake.in consm-config.cmake
    INSTALL_DESTINATION ${package_folder}
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(consm-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/consm-config.cmake ${CMAKE_BINARY_DIR}/consm-config-version.cmake
        DESTINATION ${package_folder})

set(CPACK_GENERATOR "DEB;TGZ")
set(CPACK_PACKAGE_NAME consm)
set(CPACK_PACKAGE_VENDOR consm)
set(CPACK_PACKAGE_CONTACT "the consm authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_VERBATIM_VARIABLES ON)
include(CPack)
