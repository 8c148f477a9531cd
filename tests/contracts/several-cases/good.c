#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct account {
    const char *owner;
    long balance;
    int moves;
};

int withdraw(struct account *a, long amount) {
    if (amount > a->balance)
        return 0;
    a->balance -= amount;
    a->moves++;
    return 1;
}

int main(int argc, char **argv) {
    struct account accounts[] = {{"ann", 100, 0}, {"bank", 0, 0}};
    for (int i = 1; i < argc; i++) {
        struct account *a = &accounts[argv[i][0] == 'b'];
        int done = withdraw(a, atol(argv[i] + 1));
        printf("%s %ld %d\n", a->owner, a->balance, done);
    }
    return 0;
}
