// The fixed twin of buf_writer.c: each thread does its work in one critical section.
#define FIXED
#include "buf_writer.c"
