// The fixed twin of array_list.c: each thread does its work in one critical section.
#define FIXED
#include "array_list.c"
