// inkling: trains small language models, writes text with them, and checks its own gradients.
#include "cli/program.h"

int main(int argc, char** argv) { return inkling::cli::run_program(argc, argv, argv); }
