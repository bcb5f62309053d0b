# The library inside the Python package: one file that needs nothing installed. OpenBLAS (the serial
# build: importing must start no thread), jansson and zlib are linked from archives, their names hidden.
# Where an archive is missing the shared library is taken, and the package then needs it at run time.
find_library(CONSM_BLAS_ARCHIVE libopenblas.a PATH_SUFFIXES openblas-serial)
if(CONSM_BLAS_ARCHIVE MATCHES "serial" OR CONSM_BLAS_SERIAL)
    find_path(CONSM_BLAS_HEADERS cblas.h PATH_SUFFIXES openblas-serial openblas-pthread openblas)
    add_library(PkgConfig::BLAS INTERFACE IMPORTED)
    target_include_directories(PkgConfig::BLAS INTERFACE ${CONSM_BLAS_HEADERS})
    target_link_libraries(PkgConfig::BLAS INTERFACE ${CONSM_BLAS_ARCHIVE})
    message(STATUS "OpenBLAS goes into the package: ${CONSM_BLAS_ARCHIVE}")
else()
    message(WARNING "no serial libopenblas.a (Debian: libopenblas-serial-dev; else "
                    "-DCONSM_BLAS_ARCHIVE=FILE -DCONSM_BLAS_SERIAL=ON): the package will need OpenBLAS "
                    "installed")
    pkg_check_modules(BLAS REQUIRED IMPORTED_TARGET openblas)
endif()

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
