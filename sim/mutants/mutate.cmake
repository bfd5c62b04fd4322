# Builds the mutants of what ships: copies of sources and headers in which a rule can be switched off.
#
#   cmake -D SOURCE=<src> -D TARGET=<directory> -D FILES=<paths below SOURCE, with commas> -P mutate.cmake
#
# `mutate(name file old new)` replaces `old`, which must occur exactly once, so that a mutant cannot
# rot unnoticed when the source changes. In `new`, `broken(name)` tells whether the mutant is active;
# with none active the copies behave as the originals do.

string(REPLACE "," ";" files "${FILES}")
foreach(file ${files})
  file(READ ${SOURCE}/${file} text)
  set_property(GLOBAL PROPERTY text_of_${file} "${text}")
endforeach()

function(mutate name file old new)
  get_property(text GLOBAL PROPERTY text_of_${file})
  string(FIND "${text}" "${old}" first)
  string(FIND "${text}" "${old}" last REVERSE)
  if(first EQUAL -1 OR NOT first EQUAL last)
    message(FATAL_ERROR "mutant ${name}: its text does not occur exactly once in ${file}:\n${old}")
  endif()
  string(REPLACE "broken(${name})" "::holdfast::sim::broken(::holdfast::sim::breakage::${name})"
         switched "${new}")
  string(REPLACE "${old}" "${switched}" text "${text}")
  set_property(GLOBAL PROPERTY text_of_${file} "${text}")
  set_property(GLOBAL PROPERTY is_broken_${file} TRUE)
endfunction()

include(${CMAKE_CURRENT_LIST_DIR}/core.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/kinds.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/net.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/runtime.cmake)

# What has not changed is not written again: nothing has to be compiled for it.
foreach(file ${files})
  get_property(text GLOBAL PROPERTY text_of_${file})
  get_property(is_broken GLOBAL PROPERTY is_broken_${file})
  if(is_broken)
    set(text "#include \"sim/mutants/breakage.hpp\"\n${text}")
  endif()
  set(before "")
  if(EXISTS ${TARGET}/${file})
    file(READ ${TARGET}/${file} before)
  endif()
  if(NOT "${before}" STREQUAL "${text}")
    file(WRITE ${TARGET}/${file} "${text}")
  endif()
endforeach()
