// The twin of wake_pipe.c, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "wake_pipe.c"
