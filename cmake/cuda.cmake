# libconsm_cuda.so: the CUDA backend, a plug-in that nothing of ours links against. Built where nvcc
# is, or as -DCONSM_CUDA=ON|OFF says; sanitizers of the host have no use for it.
#
# Machine code is for Hopper, and PTX of compute capability 8.0 for all later cards, which the driver
# translates once. -DCMAKE_CUDA_ARCHITECTURES=… chooses others.
set(CONSM_CUDA_BUILT OFF)
if(CONSM_CUDA STREQUAL "OFF" OR CONSM_SANITIZE OR CONSM_FUZZ)
    return()
endif()
include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
    if(CONSM_CUDA STREQUAL "ON")
        message(FATAL_ERROR "CONSM_CUDA=ON, and no nvcc that works")
    endif()
    return()
endif()
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80-virtual 90-real)
endif()
if(NOT DEFINED CMAKE_CUDA_COMPILER_LAUNCHER AND CMAKE_C_COMPILER_LAUNCHER)
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_C_COMPILER_LAUNCHER})
endif()
enable_language(CUDA)
find_package(CUDAToolkit QUIET)
if(NOT TARGET CUDA::cublas OR NOT TARGET CUDA::cudart_static)
    if(CONSM_CUDA STREQUAL "ON")
        message(FATAL_ERROR "CONSM_CUDA=ON, and no cuBLAS beside nvcc")
    endif()
    return()
endif()

file(GLOB cuda_sources CONFIGURE_DEPENDS src/cuda/*.cu)
add_library(consm_cuda MODULE ${cuda_sources})
set_target_properties(consm_cuda PROPERTIES PREFIX lib CUDA_VISIBILITY_PRESET hidden
                      CUDA_RUNTIME_LIBRARY Static)
target_include_directories(consm_cuda PRIVATE include src)
target_compile_options(consm_cuda PRIVATE -std=c++20 -O3 -Werror=all-warnings
                       -Xcompiler=-Wall,-Wextra,-Werror)
target_link_libraries(consm_cuda PRIVATE CUDA::cudart_static CUDA::cublas)
target_link_options(consm_cuda PRIVATE -Wl,--no-undefined -Wl,--as-needed)
set(CONSM_CUDA_BUILT ON)
install(TARGETS consm_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
