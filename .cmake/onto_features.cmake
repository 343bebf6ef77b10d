# SPDX-License-Identifier: BSL-1.0
# What onto uses where it is installed: threads, Boost headers, a CBLAS, OpenMP, xsimd, the CUDA toolkit. Read by onto's own
# build and by find_package(onto), so that a program gets what its machine has, not what the packager's had.
include_guard(GLOBAL)

option(ONTO_WITH_CBLAS "Use a CBLAS for matmul where one is found" ON)
option(ONTO_WITH_OPENMP "Link OpenMP where it is found" ON)
option(ONTO_WITH_XSIMD "Use xsimd where it is found" ON)
option(ONTO_WITH_CUDA "Define onto::cuda where the CUDA toolkit is found" ON)

# Each part is for the machine that builds, so none of it is written into the exported target.
macro(onto_link_features target)
  find_package(Threads REQUIRED)
  target_link_libraries(${target} INTERFACE "$<BUILD_INTERFACE:Threads::Threads>")

  # Options that keep every value: without the first, no loop over sqrt is vectorized.
  target_compile_options(
    ${target}
    INTERFACE "$<BUILD_INTERFACE:$<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>:-fno-math-errno;-fopenmp-simd>>")

  find_path(ONTO_BOOST_INCLUDE_DIR NAMES boost/hana/version.hpp HINTS "${Boost_INCLUDE_DIR}" ENV BOOST_ROOT
            PATH_SUFFIXES include)
  mark_as_advanced(ONTO_BOOST_INCLUDE_DIR)
  if(NOT ONTO_BOOST_INCLUDE_DIR)
    message(WARNING "onto: the Boost headers were not found; install libboost-dev or set ONTO_BOOST_INCLUDE_DIR")
  else()
    target_include_directories(${target} SYSTEM INTERFACE "$<BUILD_INTERFACE:${ONTO_BOOST_INCLUDE_DIR}>")
  endif()

  if(ONTO_WITH_CBLAS)
    find_path(ONTO_CBLAS_INCLUDE_DIR NAMES cblas.h PATH_SUFFIXES openblas openblas-pthread)
    find_library(ONTO_CBLAS_LIBRARY NAMES openblas mkl_rt blis cblas)
    mark_as_advanced(ONTO_CBLAS_INCLUDE_DIR ONTO_CBLAS_LIBRARY)
    if(ONTO_CBLAS_INCLUDE_DIR AND ONTO_CBLAS_LIBRARY)
      set(ONTO_CBLAS_VENDOR "CBLAS")
      if(ONTO_CBLAS_LIBRARY MATCHES "openblas")
        set(ONTO_CBLAS_VENDOR "OpenBLAS")
      elseif(ONTO_CBLAS_LIBRARY MATCHES "mkl")
        set(ONTO_CBLAS_VENDOR "MKL")
      elseif(ONTO_CBLAS_LIBRARY MATCHES "blis")
        set(ONTO_CBLAS_VENDOR "BLIS")
      endif()
      string(TOUPPER "${ONTO_CBLAS_VENDOR}" ONTO_CBLAS_VENDOR_UPPER)
      target_include_directories(${target} SYSTEM INTERFACE "$<BUILD_INTERFACE:${ONTO_CBLAS_INCLUDE_DIR}>")
      target_link_libraries(${target} INTERFACE "$<BUILD_INTERFACE:${ONTO_CBLAS_LIBRARY}>")
      target_compile_definitions(
        ${target} INTERFACE "$<BUILD_INTERFACE:ONTO_HAS_CBLAS=1>"
                            "$<BUILD_INTERFACE:ONTO_CBLAS_${ONTO_CBLAS_VENDOR_UPPER}=1>"
                            "$<BUILD_INTERFACE:ONTO_CBLAS_VENDOR=\"${ONTO_CBLAS_VENDOR}\">")
    endif()
  endif()

  if(ONTO_WITH_OPENMP)
    find_package(OpenMP QUIET COMPONENTS CXX)
    if(TARGET OpenMP::OpenMP_CXX)
      target_link_libraries(${target} INTERFACE "$<BUILD_INTERFACE:OpenMP::OpenMP_CXX>")
    endif()
  endif()

  find_path(ONTO_XSIMD_INCLUDE_DIR NAMES xsimd/xsimd.hpp)
  mark_as_advanced(ONTO_XSIMD_INCLUDE_DIR)
  if(NOT ONTO_WITH_XSIMD)
    target_compile_definitions(${target} INTERFACE "$<BUILD_INTERFACE:ONTO_HAS_XSIMD=0>")
  elseif(ONTO_XSIMD_INCLUDE_DIR)
    target_include_directories(${target} SYSTEM INTERFACE "$<BUILD_INTERFACE:${ONTO_XSIMD_INCLUDE_DIR}>")
    target_compile_definitions(${target} INTERFACE "$<BUILD_INTERFACE:ONTO_HAS_XSIMD=1>")
  endif()

  if(ONTO_WITH_CUDA AND NOT TARGET onto::cuda)
    find_package(CUDAToolkit QUIET)
    if(TARGET CUDA::cudart AND TARGET CUDA::cublas AND TARGET CUDA::cublasLt)
      add_library(onto::cuda INTERFACE IMPORTED GLOBAL)
      target_link_libraries(onto::cuda INTERFACE onto::onto CUDA::cudart CUDA::cublas CUDA::cublasLt)
      # As an option: CMake 3.25 does not know the feature cuda_std_20.
      target_compile_options(onto::cuda
                             INTERFACE "$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:-std=c++20;--expt-relaxed-constexpr>")
    endif()
  endif()
endmacro()
