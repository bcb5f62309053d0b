# libconsm_trees.so: boosted trees by XGBoost, a plug-in that nothing of ours links against. Built if
# XGBoost's C library is there (Debian: libxgboost-dev), or by -DCONSM_TREES=ON|OFF.
set(CONSM_TREES_BUILT OFF)
if(CONSM_TREES STREQUAL "OFF" OR CONSM_FUZZ OR CONSM_SANITIZE MATCHES "thread") # OpenMP is not known to TSan
    return()
endif()
find_path(XGBOOST_INCLUDE xgboost/c_api.h)
find_library(XGBOOST_LIBRARY xgboost)
if(NOT XGBOOST_INCLUDE OR NOT XGBOOST_LIBRARY)
    if(CONSM_TREES STREQUAL "ON")
        message(FATAL_ERROR "CONSM_TREES=ON, but there is no XGBoost: install libxgboost-dev")
    endif()
    return()
endif()

file(GLOB trees_sources CONFIGURE_DEPENDS src/trees/*.c)
add_library(consm_trees MODULE ${trees_sources})
set_target_properties(consm_trees PROPERTIES PREFIX lib)
target_include_directories(consm_trees PRIVATE include src)
target_include_directories(consm_trees SYSTEM PRIVATE ${XGBOOST_INCLUDE})
target_link_libraries(consm_trees PRIVATE ${XGBOOST_LIBRARY} PkgConfig::JANSSON)
add_known_link_flags(consm_trees -Wl,--no-undefined -Wl,--as-needed)
add_dependencies(consm_command consm_trees) # who builds the command can train trees
set(CONSM_TREES_BUILT ON)
install(TARGETS consm_trees LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT trees)
