// One variable for each shape that a path can take, all of them kept by the optimisers.
#define USED __attribute__((used))

struct point { int x; int y; };
struct account { long id; int balance; struct point where; char name[16]; };
struct node { int key; struct node *next; };
union word { unsigned whole; unsigned short half[2]; unsigned char byte[4]; };
union cell { struct { int lo; int hi; }; long both; };
struct flags { unsigned ready : 1; unsigned mode : 3; unsigned level : 12; int after; };
struct outer { int a; struct { int b; int c; }; union { int d; float e; }; };
struct padded { char tag; long value; };
struct message { int length; char text[]; };
struct wide { int a, b, c, d, e, f; };
typedef struct point point_t;
typedef const volatile point_t cv_point_t;

int counter USED;
int buf[8] USED;
int grid[2][3] USED;
double *pointer USED;
struct account account USED;
struct node table[4] USED;
union word word USED;
union cell cell USED;
struct flags flags USED;
struct outer outer USED;
struct padded padded USED;
struct message message USED = {3, "abcdefg"};
struct wide wide USED;
volatile point_t origin USED;
cv_point_t fixed USED = {1, 2};
_Atomic int hits USED;
void (*handlers[2])(void) USED;
static struct point hidden USED;
__thread int depth USED = 1;
__thread struct point here USED;

int next_id(void) {
    static int id USED;
    static struct point last[2] USED;
    last[id & 1].x = id;
    return ++id + last[0].x;
}

int main(void) {
    return next_id() + depth + here.y;
}
