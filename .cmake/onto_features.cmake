# SPDX-License-Identifier: BSL-1.0
# What onto uses where it is installed: threads, Boost headers, zlib, MPI, the CUDA toolkit, cuDNN, NCCL, a library for matmul. Read by onto's own
# build and by find_package(onto), so that a program gets what its machine has, not what the packager's had.
include_guard(GLOBAL)

set(ONTO_MATMUL "auto" CACHE STRING "Who multiplies matrices on the CPU: auto, builtin, cblas or onednn")
set_property(CACHE ONTO_MATMUL PROPERTY STRINGS auto builtin cblas onednn)
option(ONTO_WITH_ZLIB "Define onto::zlib where zlib is found" ON)
option(ONTO_WITH_CUDA "Define onto::cuda where the CUDA toolkit is found" ON)
option(ONTO_WITH_CUDNN "Define onto::cudnn where cuDNN 9 is found beside it" ON)
option(ONTO_WITH_NCCL "Define onto::nccl where NCCL is found beside it" ON)
option(ONTO_WITH_MPI "Define onto::cluster where MPI is found" ON)

# onto_find_matmul(cblas|onednn VARIABLE): a target with that library and the definition that makes onto use it, or nothing.
function(onto_find_matmul which variable)
  set(${variable} "" PARENT_SCOPE)
  if(which STREQUAL "cblas")
    find_path(ONTO_CBLAS_INCLUDE_DIR NAMES cblas.h PATH_SUFFIXES openblas openblas-pthread)
    find_library(ONTO_CBLAS_LIBRARY NAMES openblas mkl_rt blis cblas)
    set(include "${ONTO_CBLAS_INCLUDE_DIR}")
    set(library "${ONTO_CBLAS_LIBRARY}")
    set(definition ONTO_HAS_CBLAS=1)
  else()
    find_path(ONTO_ONEDNN_INCLUDE_DIR NAMES dnnl.h)
    find_library(ONTO_ONEDNN_LIBRARY NAMES dnnl)
    # Its threads are OpenMP's as a rule, and onto has to tell OpenMP how many.
    find_package(OpenMP QUIET COMPONENTS CXX)
    set(include "${ONTO_ONEDNN_INCLUDE_DIR}")
    set(library "${ONTO_ONEDNN_LIBRARY}")
    set(definition ONTO_HAS_ONEDNN=1)
  endif()
  mark_as_advanced(ONTO_CBLAS_INCLUDE_DIR ONTO_CBLAS_LIBRARY ONTO_ONEDNN_INCLUDE_DIR ONTO_ONEDNN_LIBRARY)
  if(NOT include OR NOT library OR (which STREQUAL "onednn" AND NOT TARGET OpenMP::OpenMP_CXX))
    return()
  endif()
  if(NOT TARGET onto_matmul_${which})
    add_library(onto_matmul_${which} INTERFACE IMPORTED GLOBAL)
    target_include_directories(onto_matmul_${which} SYSTEM INTERFACE "${include}")
    target_link_libraries(onto_matmul_${which} INTERFACE "${library}")
    target_compile_definitions(onto_matmul_${which} INTERFACE ${definition})
    if(which STREQUAL "onednn")
      target_link_libraries(onto_matmul_${which} INTERFACE "$<LINK_ONLY:OpenMP::OpenMP_CXX>") # not its pragmas
    endif()
  endif()
  set(${variable} onto_matmul_${which} PARENT_SCOPE)
endfunction()

# onto::compiled, the runtime that knows no type of a program's, compiled once with the flags of the project that uses it:
# what a program and its runtime disagree about cannot be. Nothing is built where nothing links it.
function(onto_define_compiled)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(TARGET onto::compiled OR NOT "CXX" IN_LIST languages)
    return()
  endif()
  add_library(onto_compiled STATIC EXCLUDE_FROM_ALL "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/compiled.cpp")
  add_library(onto::compiled ALIAS onto_compiled)
  target_link_libraries(onto_compiled PUBLIC onto::onto)
  target_compile_definitions(onto_compiled PUBLIC ONTO_COMPILED)
  # In a debug build too: it holds the kernels. A shared library may link it.
  set_target_properties(onto_compiled PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_options(
    onto_compiled PRIVATE "$<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>:-O2;-fno-semantic-interposition>")
endfunction()

# Each part is for the machine that builds, so none of it is written into the exported target.
macro(onto_link_features target)
  # Plans are computed while compiling, those of some hundred operations beyond the number of steps compilers allow.
  target_compile_options(
    ${target} INTERFACE
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fconstexpr-ops-limit=2000000000;-fconstexpr-loop-limit=1000000>"
    "$<$<COMPILE_LANG_AND_ID:CXX,Clang,AppleClang>:-fconstexpr-steps=1000000000>")
  find_package(Threads REQUIRED)
  target_link_libraries(${target} INTERFACE "$<BUILD_INTERFACE:Threads::Threads>")

  find_path(ONTO_BOOST_INCLUDE_DIR NAMES boost/hana/version.hpp HINTS "${Boost_INCLUDE_DIR}" ENV BOOST_ROOT
            PATH_SUFFIXES include)
  mark_as_advanced(ONTO_BOOST_INCLUDE_DIR)
  if(NOT ONTO_BOOST_INCLUDE_DIR)
    message(WARNING "onto: the Boost headers were not found; install libboost-dev or set ONTO_BOOST_INCLUDE_DIR")
  else()
    target_include_directories(${target} SYSTEM INTERFACE "$<BUILD_INTERFACE:${ONTO_BOOST_INCLUDE_DIR}>")
  endif()

  # oneDNN is the fastest there is for large products, and knows the processor by what it can do
  # (docs/measurements/matmul.md); without it the built-in product multiplies, which always does the small ones.
  if(NOT ONTO_MATMUL MATCHES "^(auto|builtin|cblas|onednn)$")
    message(FATAL_ERROR "onto: ONTO_MATMUL is ${ONTO_MATMUL}; give auto, builtin, cblas or onednn")
  elseif(NOT ONTO_MATMUL STREQUAL "builtin")
    set(ONTO_MATMUL_LIBRARY "${ONTO_MATMUL}")
    if(ONTO_MATMUL STREQUAL "auto")
      set(ONTO_MATMUL_LIBRARY onednn)
    endif()
    onto_find_matmul(${ONTO_MATMUL_LIBRARY} ONTO_MATMUL_TARGET)
    if(ONTO_MATMUL_TARGET)
      target_link_libraries(${target} INTERFACE "$<BUILD_INTERFACE:${ONTO_MATMUL_TARGET}>")
    elseif(NOT ONTO_MATMUL STREQUAL "auto")
      message(FATAL_ERROR "onto: ONTO_MATMUL is ${ONTO_MATMUL}, and that was not found; install it (Debian: libopenblas-dev, "
                          "libdnnl-dev) or leave ONTO_MATMUL at auto")
    endif()
  endif()

  # For programs that read compressed .npz archives; nothing else needs it.
  if(ONTO_WITH_ZLIB AND NOT TARGET onto::zlib)
    find_package(ZLIB QUIET)
    if(TARGET ZLIB::ZLIB)
      add_library(onto::zlib INTERFACE IMPORTED GLOBAL)
      target_link_libraries(onto::zlib INTERFACE onto::onto ZLIB::ZLIB)
      target_compile_definitions(onto::zlib INTERFACE ONTO_HAS_ZLIB=1)
    endif()
  endif()

  # For programs over several processes; nothing else needs it.
  if(ONTO_WITH_MPI AND NOT TARGET onto::cluster)
    find_package(MPI QUIET COMPONENTS CXX)
    if(TARGET MPI::MPI_CXX)
      add_library(onto::cluster INTERFACE IMPORTED GLOBAL)
      target_link_libraries(onto::cluster INTERFACE onto::onto MPI::MPI_CXX)
    endif()
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

  # For programs with convolutions on GPUs; nothing else needs it. One of its libraries is all that is called, and loads
  # the others; where only the one that stands for all is there, that does.
  if(ONTO_WITH_CUDNN AND TARGET onto::cuda AND NOT TARGET onto::cudnn)
    find_path(ONTO_CUDNN_INCLUDE_DIR NAMES cudnn_graph.h HINTS ENV CUDNN_PATH "${CUDAToolkit_INCLUDE_DIRS}"
              PATH_SUFFIXES include)
    find_library(ONTO_CUDNN_LIBRARY NAMES cudnn_graph libcudnn_graph.so.9 cudnn libcudnn.so.9
                 HINTS ENV CUDNN_PATH "${CUDAToolkit_LIBRARY_DIR}" PATH_SUFFIXES lib64 lib)
    mark_as_advanced(ONTO_CUDNN_INCLUDE_DIR ONTO_CUDNN_LIBRARY)
    if(ONTO_CUDNN_INCLUDE_DIR AND ONTO_CUDNN_LIBRARY)
      add_library(onto::cudnn INTERFACE IMPORTED GLOBAL)
      target_include_directories(onto::cudnn SYSTEM INTERFACE "${ONTO_CUDNN_INCLUDE_DIR}")
      target_link_libraries(onto::cudnn INTERFACE onto::cuda "${ONTO_CUDNN_LIBRARY}")
      target_compile_definitions(onto::cudnn INTERFACE ONTO_HAS_CUDNN=1)
    endif()
  endif()

  # For programs of several tasks that have GPUs.
  if(ONTO_WITH_NCCL AND TARGET onto::cuda AND NOT TARGET onto::nccl)
    find_path(ONTO_NCCL_INCLUDE_DIR NAMES nccl.h HINTS ENV NCCL_PATH "${CUDAToolkit_INCLUDE_DIRS}" PATH_SUFFIXES include)
    find_library(ONTO_NCCL_LIBRARY NAMES nccl libnccl.so.2 HINTS ENV NCCL_PATH "${CUDAToolkit_LIBRARY_DIR}"
                 PATH_SUFFIXES lib64 lib)
    mark_as_advanced(ONTO_NCCL_INCLUDE_DIR ONTO_NCCL_LIBRARY)
    if(ONTO_NCCL_INCLUDE_DIR AND ONTO_NCCL_LIBRARY)
      add_library(onto::nccl INTERFACE IMPORTED GLOBAL)
      target_include_directories(onto::nccl SYSTEM INTERFACE "${ONTO_NCCL_INCLUDE_DIR}")
      target_link_libraries(onto::nccl INTERFACE onto::cuda "${ONTO_NCCL_LIBRARY}")
      target_compile_definitions(onto::nccl INTERFACE ONTO_HAS_NCCL=1)
    endif()
  endif()
endmacro()
