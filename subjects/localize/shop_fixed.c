// The fixed twin of shop.c: each thread does its work in one critical section.
#define FIXED
#include "shop.c"
