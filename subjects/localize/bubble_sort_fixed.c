// The fixed twin of bubble_sort.c: each thread does its work in one critical section.
#define FIXED
#include "bubble_sort.c"
