// The twin of log_position.c, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "log_position.c"
