// The twin of conditional_read.c: two threads search values that are larger than a limit.
// The first thread finds none, so it never reads the best value.
// Finds: nothing harmful
// Flags: -O2
#define FIXED
#include "conditional_read.c"
