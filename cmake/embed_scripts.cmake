# Turns every Lua file into a constant with its name, text and SHA-1 in a generated source file. Headers
# below src/scripts declare one `holdfast::scripts::script` for each: enlist.lua -> enlist, and of a
# kind's folder exclusive/acquire.lua -> exclusive::acquire.
function(embed_scripts out_var)
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/embedded_scripts.cpp)
  set(text "#include \"scripts/script.hpp\"\n\n")
  foreach(file ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    get_filename_component(name ${file} NAME_WE)
    get_filename_component(folder ${file} DIRECTORY)
    get_filename_component(folder ${folder} NAME)
    if(folder STREQUAL "scripts")
      set(space holdfast::scripts)
      set(kind "")
    else()
      set(space holdfast::scripts::${folder})
      set(kind ${folder})
    endif()
    file(READ ${file} body)
    file(SHA1 ${file} digest)
    string(APPEND text "namespace ${space} {\nextern const script ${name};\n"
      "const script ${name}{\"${name}\", \"${digest}\", R\"LUA(${body})LUA\", \"${kind}\"};\n"
      "}  // namespace ${space}\n")
  endforeach()
  file(GENERATE OUTPUT ${generated} CONTENT "${text}")
  set(${out_var} ${generated} PARENT_SCOPE)
endfunction()
