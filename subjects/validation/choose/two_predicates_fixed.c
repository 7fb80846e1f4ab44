// The twin of two_predicates.c, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "two_predicates.c"
