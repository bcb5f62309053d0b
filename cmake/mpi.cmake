# libconsm_mpi.so: programs divided among the processes that mpirun starts, a plug-in that nothing of
# ours links against. Built if there is an MPI compiler, or by -DCONSM_MPI=ON|OFF.
set(CONSM_MPI_BUILT OFF)
if(CONSM_MPI STREQUAL "OFF" OR CONSM_FUZZ OR CONSM_SANITIZE MATCHES "thread") # MPI's own threads are not known to TSan
    return()
endif()
find_package(MPI QUIET COMPONENTS C)
if(NOT MPI_C_FOUND)
    if(CONSM_MPI STREQUAL "ON")
        message(FATAL_ERROR "CONSM_MPI=ON, but there is no MPI: run scripts/bootstrap mpi")
    endif()
    return()
endif()

file(GLOB mpi_sources CONFIGURE_DEPENDS src/mpi/*.c)
add_library(consm_mpi MODULE ${mpi_sources} src/graph/cut.c)
set_target_properties(consm_mpi PROPERTIES PREFIX lib)
target_include_directories(consm_mpi PRIVATE include src)
target_link_libraries(consm_mpi PRIVATE MPI::MPI_C)
add_known_link_flags(consm_mpi -Wl,--no-undefined -Wl,--as-needed)
add_dependencies(consm_command consm_mpi) # who builds the command can start it with mpirun
find_path(METIS_INCLUDE metis.h)
find_library(METIS_LIBRARY metis)
if(METIS_INCLUDE AND METIS_LIBRARY) # for consm partition
    target_compile_definitions(consm_mpi PRIVATE CONSM_METIS)
    target_include_directories(consm_mpi SYSTEM PRIVATE ${METIS_INCLUDE})
    target_link_libraries(consm_mpi PRIVATE ${METIS_LIBRARY})
endif()
set(CONSM_MPI_BUILT ON)
install(TARGETS consm_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT mpi)
