// The twin of handoff_slot.c, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "handoff_slot.c"
