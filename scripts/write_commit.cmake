# Writes the commit this tree is at ("unknown" outside of git, "-dirty" with changes) for version.cpp.
execute_process(COMMAND git -C ${SOURCE_DIR} describe --always --dirty --abbrev=12 --match=NONE
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
                RESULT_VARIABLE failed)
if(failed OR commit STREQUAL "")
  set(commit "unknown")
endif()
set(text "\"${commit}\"\n")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} old)
endif()
if(NOT "${old}" STREQUAL "${text}")
  file(WRITE ${OUTPUT} "${text}")
endif()
