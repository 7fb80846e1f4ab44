// The twin of flusher_stop.cc, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "flusher_stop.cc"
