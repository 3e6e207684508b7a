// Verbs: what the words on the command line do.
//
// The only room that knows everybody, and the only one that prints, installs signal handlers and
// chooses exit codes. It must do no arithmetic on results and submit no I/O itself.
#pragma once

namespace uringbench::command {

/// The whole program: arguments in, exit code out. Catches everything.
int main(int argc, char** argv);

}  // namespace uringbench::command
