// The fixed twin of last_item.c: each thread does its work in one critical section.
#define FIXED
#include "last_item.c"
