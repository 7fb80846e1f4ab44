// The fixed twin of vector.c: each thread does its work in one critical section.
#define FIXED
#include "vector.c"
