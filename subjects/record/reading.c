// Variables of all kinds of type.
// Events: writes of -1 to `number`, 4000000000 to `count`, 'n' to `letter`, -2 to `tiny`, 1.5 to
// `half`, 2.25 to `quarter`, true to `flag`, CLOSED to `door`, 7 to `door` and the address of
// `number` to `pointer`.
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum door { OPEN, CLOSED };

static int number;
static uint32_t count;
static char letter;
static int8_t tiny;
static float half;
static double quarter;
static bool flag;
static enum door door;
static int *pointer;

int main(void) {
    number = -1;
    count = 4000000000u;
    letter = 'n';
    tiny = -2;
    half = 1.5f;
    quarter = 2.25;
    flag = true;
    door = CLOSED;
    door = (enum door)7;
    pointer = &number;
    printf("%d %u %c %d %g %g %d %d %d\n", number, count, letter, tiny, (double)half, quarter, flag,
           (int)door, pointer == &number);
    return 0;
}
