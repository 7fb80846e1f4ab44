// The fixed twin of cache.c: each thread does its work in one critical section.
#define FIXED
#include "cache.c"
