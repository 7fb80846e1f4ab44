// The twin of parking_lock.cc, without its bug: the same source, compiled with `FIXED`.
// Finds: nothing harmful
#define FIXED
#include "parking_lock.cc"
