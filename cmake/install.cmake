# A package that may be moved after installation: every path in it is relative to its own files.
include(CMakePackageConfigHelpers)

set(holdfast_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/holdfast)

set_target_properties(holdfast_asio PROPERTIES EXPORT_NAME asio)
install(TARGETS holdfast EXPORT holdfast-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS holdfast_asio EXPORT holdfast-asio-targets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/holdfast DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN *.hpp)
foreach(set holdfast-targets holdfast-asio-targets)
  install(EXPORT ${set} NAMESPACE holdfast:: DESTINATION ${holdfast_package_dir})
endforeach()

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/holdfast-config.cmake.in ${PROJECT_BINARY_DIR}/holdfast-config.cmake
  INSTALL_DESTINATION ${holdfast_package_dir})
# Before 1.0 a minor version may break its users.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/holdfast-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/holdfast-config.cmake
              ${PROJECT_BINARY_DIR}/holdfast-config-version.cmake
        DESTINATION ${holdfast_package_dir})

# From <prefix>/lib/pkgconfig, or deeper with a multi-architecture libdir, back to <prefix>.
file(RELATIVE_PATH holdfast_prefix_from_pc
  /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" holdfast_prefix_from_pc ${holdfast_prefix_from_pc})
configure_file(${PROJECT_SOURCE_DIR}/cmake/holdfast.pc.in ${PROJECT_BINARY_DIR}/holdfast.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/holdfast.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(TARGET holdfast-tool)
  install(TARGETS holdfast-tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(TARGETS holdfast-lab-program RUNTIME DESTINATION libexec/holdfast)
endif()

# As in the sources, so that the links from one to the other lead somewhere.
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
              ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md ${PROJECT_SOURCE_DIR}/LICENSE
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/doc DESTINATION ${CMAKE_INSTALL_DOCDIR}
        FILES_MATCHING PATTERN *.md PATTERN *.svg PATTERN man EXCLUDE)
# To read and to copy from; how they are built here is no use elsewhere.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/example DESTINATION ${CMAKE_INSTALL_DOCDIR}
        FILES_MATCHING PATTERN *.cpp)

# doc/man/NAME.SECTION.scd -> share/man/manSECTION/NAME.SECTION
file(GLOB holdfast_manuals CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/doc/man/*.scd)
find_program(SCDOC scdoc)
if(holdfast_manuals AND SCDOC)
  foreach(source ${holdfast_manuals})
    get_filename_component(page ${source} NAME_WLE)
    string(REGEX MATCH "[0-9]$" section ${page})
    set(output ${PROJECT_BINARY_DIR}/man/man${section}/${page})
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/man/man${section})
    add_custom_command(OUTPUT ${output} COMMAND ${SCDOC} < ${source} > ${output}
      DEPENDS ${source} VERBATIM)
    list(APPEND holdfast_pages ${output})
  endforeach()
  add_custom_target(holdfast-man ALL DEPENDS ${holdfast_pages})
  install(DIRECTORY ${PROJECT_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR})
elseif(holdfast_manuals)
  message(WARNING "scdoc not found: the manual pages are not built")
endif()

if(HOLDFAST_TOOL)
  set(completions ${PROJECT_SOURCE_DIR}/tools/holdfast/completions)
  install(FILES ${completions}/holdfast.bash RENAME holdfast
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${completions}/_holdfast
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${completions}/holdfast.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
