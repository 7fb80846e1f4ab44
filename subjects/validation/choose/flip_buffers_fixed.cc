// The twin of flip_buffers.cc, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "flip_buffers.cc"
