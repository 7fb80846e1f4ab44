// The fixed twin of ray_tracer.c: each thread does its work in one critical section.
#define FIXED
#include "ray_tracer.c"
