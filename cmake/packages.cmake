# `cpack`: one archive of everything that `make install` installs, and Debian packages by purpose: libconsm0, libconsm-dev,
# consm (the command), consm-doc, python3-consm, and one for each plug-in that was built. scripts/packages makes them with
# Debian's folders and tries them in fresh systems.
set(CPACK_GENERATOR "DEB;TGZ")
set(CPACK_PACKAGE_NAME consm)
set(CPACK_PACKAGE_VENDOR consm)
set(CPACK_PACKAGE_CONTACT "The consm authors <maintainers@consm.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_COMPONENTS_ALL "")
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/packaging/debian.cmake)

# The Python package over the installed library, without a library of its own. pip and networkx look for what
# is in dist-info: the version and the entry points, which pyproject.toml has.
set(python_folder lib/python3/dist-packages)
install(DIRECTORY python/consm DESTINATION ${python_folder} COMPONENT python EXCLUDE_FROM_ALL
        FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
file(READ pyproject.toml entries)
string(REGEX MATCHALL "\\[project\\.entry-points\\.\"[a-z_.]+\"\\]\n[^\n]+\n" entries "${entries}")
list(JOIN entries "" entries)
string(REGEX REPLACE "\\[project\\.entry-points\\.\"([a-z_.]+)\"\\]" "[\\1]" entries "${entries}")
string(REPLACE "\"" "" entries "${entries}")
file(CONFIGURE OUTPUT dist-info/entry_points.txt CONTENT "${entries}")
file(CONFIGURE OUTPUT dist-info/METADATA CONTENT
     "Metadata-Version: 2.1\nName: consm\nVersion: ${PROJECT_VERSION}\nSummary: ${PROJECT_DESCRIPTION}\nRequires-Dist: numpy\n")
install(FILES ${CMAKE_BINARY_DIR}/dist-info/METADATA ${CMAKE_BINARY_DIR}/dist-info/entry_points.txt
        DESTINATION ${python_folder}/consm-${PROJECT_VERSION}.dist-info COMPONENT python EXCLUDE_FROM_ALL)

# debian_package(COMPONENT NAME SECTION DESCRIPTION DEPENDS)
function(debian_package component name section description depends)
    string(TOUPPER ${component} key)
    set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${name} PARENT_SCOPE)
    set(CPACK_DEBIAN_${key}_PACKAGE_SECTION ${section} PARENT_SCOPE)
    set(CPACK_COMPONENT_${key}_DESCRIPTION "${description}" PARENT_SCOPE)
    set(CPACK_DEBIAN_${key}_PACKAGE_DEPENDS "${depends}" PARENT_SCOPE)
    set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} ${component} PARENT_SCOPE)
    install(FILES LICENSE DESTINATION share/doc/${name} RENAME copyright COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()
set(same "(= ${PROJECT_VERSION})")
debian_package(library libconsm${PROJECT_VERSION_MAJOR} libs "The shared library." "")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/packaging/triggers)
debian_package(development libconsm-dev libdevel "Headers, the static library, and what pkg-config and CMake need."
               "libconsm${PROJECT_VERSION_MAJOR} ${same}, libjansson-dev, zlib1g-dev")
debian_package(command consm science "The command, its manual pages and completions." "")
set(CPACK_DEBIAN_COMMAND_PACKAGE_SUGGESTS "consm-doc, consm-mpi, consm-trees, consm-cuda, python3-consm")
debian_package(documents consm-doc doc "The documents, examples and tables." "")
set(CPACK_DEBIAN_DOCUMENTS_PACKAGE_ARCHITECTURE all)
debian_package(python python3-consm python "The Python package."
               "libconsm${PROJECT_VERSION_MAJOR} ${same}, python3 (>= 3.9), python3-numpy")
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/packaging/prerm)
set(either "consm ${same} | libconsm${PROJECT_VERSION_MAJOR} ${same}")
if(CONSM_MPI_BUILT)
    debian_package(mpi consm-mpi science "Training on several machines: the plug-in for MPI." "${either}")
endif()
if(CONSM_TREES_BUILT)
    debian_package(trees consm-trees science "Boosted trees: the plug-in for XGBoost." "${either}")
endif()
if(CONSM_CUDA_BUILT) # whose libraries may come from another source than packages
    debian_package(cuda consm-cuda science "Training on NVIDIA cards: the plug-in for CUDA. It needs cuBLAS." "${either}")
    set(CPACK_DEBIAN_CUDA_PACKAGE_SHLIBDEPS OFF)
endif()
include(CPack)
