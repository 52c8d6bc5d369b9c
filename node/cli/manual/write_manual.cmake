# Runs after a build of the program: writes its manual page and completions into the folder INTO.
function(write form name)
  execute_process(COMMAND ${PROGRAM} manual ${form} OUTPUT_FILE ${INTO}/${name}
    COMMAND_ERROR_IS_FATAL ANY)
endfunction()
file(MAKE_DIRECTORY ${INTO})
write(man ostraka.1)
write(bash ostraka.bash)
write(zsh _ostraka)
write(fish ostraka.fish)
# A packager's form: without a name and a time, equal pages are equal bytes.
execute_process(COMMAND gzip -9nf -k ${INTO}/ostraka.1 COMMAND_ERROR_IS_FATAL ANY)
