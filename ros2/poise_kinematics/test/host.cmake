# The Panda's hand is led from where it is at home to where it is: cmake -DHOST=... -DPANDA=... -P host.cmake
file(WRITE "${PANDA}.questions" "\
root world
joint panda_joint1
joint panda_joint2
joint panda_joint3
joint panda_joint4
joint panda_joint5
joint panda_joint6
joint panda_joint7
parameter poise_file ${PANDA}
initialize panda_link0 panda_link8
search 7 0.4 0.1 0.5 1 0 0 0 0 0 0 -1.5 0 1.8 0
")
execute_process(COMMAND "${HOST}" INPUT_FILE "${PANDA}.questions" OUTPUT_VARIABLE said RESULT_VARIABLE code)
string(REGEX REPLACE "\n+" ";" answers "${said}")
list(FILTER answers EXCLUDE REGEX "^$")
list(GET answers 0 started)
list(GET answers 1 found)
if(NOT code EQUAL 0 OR NOT started STREQUAL "1" OR NOT found MATCHES "^1 [^ ]+( [^ ]+)*$")
  message(FATAL_ERROR "the host said: ${said}")
endif()
