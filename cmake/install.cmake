# What `make install` and `cpack` install: command, headers, both libraries, and the files for pkg-config
# and find_package(consm). Components are the Debian packages of packages.cmake.
install(TARGETS consm_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
install(TARGETS consm_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
        NAMELINK_COMPONENT development)
if(TARGET consm_archive)
    install(FILES ${CMAKE_BINARY_DIR}/libconsm.a DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
endif()
install(FILES include/consm.h include/consm_ot.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(FILES README.md LICENSE CHANGELOG.md CONTRIBUTING.md SECURITY.md CITATION.cff
        DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documents)
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documents)
# The pages link to the notes, tables and figures of the studies; their records stay in the source.
install(DIRECTORY studies DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documents
        FILES_MATCHING PATTERN "*.md" PATTERN "*.csv" PATTERN "*.svg")

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
install(FILES ${man_files} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
install(FILES ${CMAKE_BINARY_DIR}/help/consm.bash RENAME consm
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT command)
install(FILES ${CMAKE_BINARY_DIR}/help/consm.zsh RENAME _consm
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT command)
install(FILES ${CMAKE_BINARY_DIR}/help/consm.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT command)

# The file finds its prefix from where it lies, so that an installed tree can be moved.
file(RELATIVE_PATH CONSM_PC_PREFIX /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
configure_file(cmake/consm.pc.in consm.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/consm.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

include(CMakePackageConfigHelpers)
if(APPLE)
    set(CONSM_SHARED_FILE libconsm.${PROJECT_VERSION}.dylib)
    set(CONSM_SHARED_NAME @rpath/libconsm.${PROJECT_VERSION_MAJOR}.dylib)
else()
    set(CONSM_SHARED_FILE libconsm.so.${PROJECT_VERSION})
    set(CONSM_SHARED_NAME libconsm.so.${PROJECT_VERSION_MAJOR})
endif()
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/consm)
configure_package_config_file(cmake/consm-config.cmake.in consm-config.cmake
    INSTALL_DESTINATION ${package_folder}
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(consm-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/consm-config.cmake ${CMAKE_BINARY_DIR}/consm-config-version.cmake
        DESTINATION ${package_folder} COMPONENT development)
