// The twin of two_ledgers.c, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "two_ledgers.c"
