/* Packets of four bytes: sequence number, length, flag, line end. */
#include <stdio.h>

static int have_flow, first;

static void create(int sequence) {
    have_flow = 1;
    first = sequence;
}

static void packet(int sequence, int length, int flag) {
    if (length == 0) {
        if (flag == 'S' && !have_flow)
            create(sequence);
        return;
    }
    if (!have_flow)
        create(sequence);
    if (first != sequence && flag != 'A')
        return;
    int offset = sequence - first;
    if (offset > 0)
        puts("hole");
    puts("data");
}

int main(void) {
    char b[4];
    while (fread(b, 1, 4, stdin) == 4)
        packet(b[0] - '0', b[1] - '0', b[2]);
    return 0;
}
