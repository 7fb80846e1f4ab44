// The fixed twin of hash_set.c: each thread does its work in one critical section.
#define FIXED
#include "hash_set.c"
