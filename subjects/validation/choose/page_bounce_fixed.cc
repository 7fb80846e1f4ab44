// The twin of page_bounce.cc, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "page_bounce.cc"
