// The twin of session.c, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "session.c"
