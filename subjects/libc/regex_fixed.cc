// They count with the lock.
// Finds: nothing harmful
#define FIXED
#include "regex.cc"
