// The twin of swap_buffer.cc, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "swap_buffer.cc"
