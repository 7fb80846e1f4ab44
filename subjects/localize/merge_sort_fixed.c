// The fixed twin of merge_sort.c: each thread does its work in one critical section.
#define FIXED
#include "merge_sort.c"
