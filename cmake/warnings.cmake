# One target carries the flags of every target of ours.
add_library(holdfast_flags INTERFACE)
target_compile_options(holdfast_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  -Woverloaded-virtual -Wold-style-cast -Wcast-align -Wextra-semi)
# GCC 12 sees overlapping copies inside std::string's operator+ where there are none (its bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(holdfast_flags INTERFACE -Wno-restrict)
endif()
# Nobody replaces one of our functions by another of its name: they may be inlined, also in code
# that can be loaded anywhere. Clang takes that for granted.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(holdfast_flags INTERFACE -fno-semantic-interposition)
endif()
# Where several sources are compiled as one, each sees the others' names.
if(CMAKE_UNITY_BUILD)
  target_compile_options(holdfast_flags INTERFACE -Wno-shadow -Wno-subobject-linkage)
endif()
if(HOLDFAST_WERROR)
  target_compile_options(holdfast_flags INTERFACE -Werror)
endif()
if(HOLDFAST_SANITIZE)
  # Instrumented code misleads the warnings that follow values through it, as GCC's manual says; the
  # other builds have them. Asio's fences are beside its mutexes, which the thread sanitizer knows.
  target_compile_options(holdfast_flags INTERFACE -Wno-maybe-uninitialized)
  if(HOLDFAST_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(holdfast_flags INTERFACE -Wno-tsan)
  endif()
  # Without the second flag undefined behaviour is only printed, and the test passes.
  add_compile_options(-fsanitize=${HOLDFAST_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${HOLDFAST_SANITIZE})
endif()
