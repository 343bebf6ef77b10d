// SPDX-License-Identifier: BSL-1.0
// The only macros of onto: where a function may run, how cold it is, what must outlive what, and whether it is compiled
// in every program.
#pragma once

// With a backend of the program's own, session/backends.hpp, kernels have other entry points, and so other names.
#if defined(ONTO_BACKEND)
#define ONTO_ABI_OF(backends) backends##_and_own
#else
#define ONTO_ABI_OF(backends) backends
#endif

#if defined(__CUDACC__)
#define ONTO_HD __host__ __device__
#define ONTO_CUDA 1
#define ONTO_ABI ONTO_ABI_OF(abi_with_cuda)
// Before a template for host and device that calls what its arguments bring, which may be for the host alone.
#define ONTO_HOST_DEVICE_EITHER _Pragma("nv_exec_check_disable")
#elif defined(ONTO_CUDA_EMULATION)
// The CUDA backend as the tests run it without a GPU: compiled for the host, over a CUDA runtime of the tests' own.
#define ONTO_HD
#define ONTO_CUDA 1
#define ONTO_ABI ONTO_ABI_OF(abi_with_emulated_cuda)
#define ONTO_HOST_DEVICE_EITHER
#else
#define ONTO_HD
#define ONTO_CUDA 0
#define ONTO_ABI ONTO_ABI_OF(abi_host)
#define ONTO_HOST_DEVICE_EITHER
#endif

// Before a loop whose body is to stand in device code once; or once for each of its turns, whose number is known, so
// that arrays it goes over are registers.
#if defined(__CUDA_ARCH__)
#define ONTO_NO_UNROLL _Pragma("unroll 1")
#define ONTO_UNROLL _Pragma("unroll")
#else
#define ONTO_NO_UNROLL
#define ONTO_UNROLL
#endif

// Code that runs once per program, not once per element: compiled for size, which also halves the time it takes to
// compile.
#if defined(__GNUC__)
#define ONTO_COLD __attribute__((cold))
#define ONTO_INLINE inline __attribute__((always_inline))
#define ONTO_NOINLINE __attribute__((noinline))
#else
#define ONTO_COLD
#define ONTO_INLINE inline
#define ONTO_NOINLINE
#endif

// Where AddressSanitizer is to see each use of memory behind its end, and after it was given back.
#if defined(__SANITIZE_ADDRESS__)
#define ONTO_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ONTO_ADDRESS_SANITIZER 1
#endif
#endif

// Where clang++ checks each access of what it does not optimize, checks that are inlined over and over are a quarter of
// the time to compile.
#if defined(__clang__) && defined(__has_feature) && !defined(__OPTIMIZE__) && !defined(__CUDACC__)
#if defined(ONTO_ADDRESS_SANITIZER) || __has_feature(thread_sanitizer)
#undef ONTO_INLINE
#define ONTO_INLINE inline
#endif
#endif

// Behind a parameter, or the parentheses of a member function, whose object must live as long as what is made of it.
#if defined(__clang__) && !defined(__CUDACC__)
#define ONTO_LIFETIMEBOUND [[clang::lifetimebound]]
#else
#define ONTO_LIFETIMEBOUND
#endif

// A function that knows no type of the program's is ONTO_RUNTIME: inline like everything else, but with ONTO_COMPILED a
// program has its declaration only, and the one file that includes <onto/compiled.hpp> its definition, which stands
// where ONTO_DEFINITIONS. nvcc reads a file once more for device code, which calls nothing of the runtime.
#if defined(__CUDA_ARCH__)
#define ONTO_DEFINITIONS 0
#define ONTO_RUNTIME
#elif !defined(ONTO_COMPILED)
#define ONTO_DEFINITIONS 1
#define ONTO_RUNTIME inline
#elif defined(ONTO_COMPILED_HERE)
#define ONTO_DEFINITIONS 1
#define ONTO_RUNTIME
#else
#define ONTO_DEFINITIONS 0
#define ONTO_RUNTIME
#endif

// What is compiled in every program but runs once per program, rarely, or only to say what is wrong: everything but the
// elements' loops and what a run on the CPU passes through. Left unoptimized it costs such a run by g++ at most 0.08 us
// and saves every program seconds with g++ -O2 and with clang++ -O2. Constant evaluation is not concerned. The compiled
// runtime is optimized, with all that is left in its programs.
#if defined(ONTO_COMPILED)
#define ONTO_BEGIN_RUNS_ONCE
#define ONTO_END_RUNS_ONCE
#elif defined(__CUDACC__) && !defined(__CUDA_ARCH__) && defined(__GNUC__) && !defined(__clang__)
// nvcc hands the pragma on to g++, but not without saying that it does not know it.
#define ONTO_BEGIN_RUNS_ONCE                                                                 \
  _Pragma("nv_diagnostic push") _Pragma("nv_diag_suppress 1675") _Pragma("GCC push_options") \
      _Pragma("GCC optimize(\"O0\")") _Pragma("nv_diagnostic pop")
#define ONTO_END_RUNS_ONCE _Pragma("GCC pop_options")
#elif defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define ONTO_BEGIN_RUNS_ONCE _Pragma("GCC push_options") _Pragma("GCC optimize(\"O0\")")
#define ONTO_END_RUNS_ONCE _Pragma("GCC pop_options")
#elif defined(__clang__) && !defined(__CUDACC__)
// Not a stack: an `optimize off` of the includer's ends here.
#define ONTO_BEGIN_RUNS_ONCE _Pragma("clang optimize off")
#define ONTO_END_RUNS_ONCE _Pragma("clang optimize on")
#else
#define ONTO_BEGIN_RUNS_ONCE
#define ONTO_END_RUNS_ONCE
#endif

// Around what a program includes: its own globals are called x, n or first, and g++ warns where a local of ours has
// such a name. Some flags we do not keep to: of signs in sizes and offsets, of casts in macros of intrinsics or that
// other element types need. Who compiles with them wants to hear of his own code.
#if defined(__GNUC__)
#define ONTO_IGNORE_WARNINGS                                                                                         \
  _Pragma("GCC diagnostic ignored \"-Wshadow\"") _Pragma("GCC diagnostic ignored \"-Wsign-conversion\"")             \
      _Pragma("GCC diagnostic ignored \"-Wold-style-cast\"") _Pragma("GCC diagnostic ignored \"-Wfloat-equal\"")     \
          _Pragma("GCC diagnostic ignored \"-Wswitch-enum\"") _Pragma("GCC diagnostic ignored \"-Wswitch-default\"") \
              _Pragma("GCC diagnostic ignored \"-Wzero-as-null-pointer-constant\"")
#if defined(__clang__)
#define ONTO_IGNORE_OTHERS _Pragma("GCC diagnostic ignored \"-Wdouble-promotion\"")
#else
#define ONTO_IGNORE_OTHERS \
  _Pragma("GCC diagnostic ignored \"-Wuseless-cast\"") _Pragma("GCC diagnostic ignored \"-Weffc++\"")
#endif
// With -ffast-math compilers cancel against each other what functions of numbers are exact by, and take it that there
// is neither NaN nor infinity: log1p was 7 % off, and 1 / infinity NaN. nvcc's g++ does not see these lines as g++
// does.
#if defined(__CUDACC__) || !(defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__))
#define ONTO_BEGIN_PRECISE
#define ONTO_END_PRECISE
#elif defined(__clang__)
#define ONTO_BEGIN_PRECISE _Pragma("float_control(push)") _Pragma("float_control(precise, on)")
#define ONTO_END_PRECISE _Pragma("float_control(pop)")
#else
#define ONTO_BEGIN_PRECISE \
  _Pragma("GCC push_options") _Pragma("GCC optimize(\"no-fast-math\", \"no-finite-math-only\")")
#define ONTO_END_PRECISE _Pragma("GCC pop_options")
#endif
#define ONTO_BEGIN_HEADER _Pragma("GCC diagnostic push") ONTO_IGNORE_WARNINGS ONTO_IGNORE_OTHERS ONTO_BEGIN_PRECISE
#define ONTO_END_HEADER ONTO_END_PRECISE _Pragma("GCC diagnostic pop")
#else
#define ONTO_BEGIN_HEADER
#define ONTO_END_HEADER
#endif

#define ONTO_VERSION_MAJOR 0
#define ONTO_VERSION_MINOR 1
#define ONTO_VERSION_PATCH 0
