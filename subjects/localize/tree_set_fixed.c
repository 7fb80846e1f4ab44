// The fixed twin of tree_set.c: each thread does its work in one critical section.
#define FIXED
#include "tree_set.c"
