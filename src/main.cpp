#include "command/command.hpp"

int main(int argc, char** argv) { return uringbench::command::main(argc, argv); }
