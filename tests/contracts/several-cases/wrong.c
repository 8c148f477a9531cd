#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct account {
    const char *owner;
    long balance;
    int moves;
};

/*@ changed_behavior
  @   requires a->owner == "bank" && amount > a->balance;
  @   ensures \result == 1 && a->balance == \old(a->balance) - amount;
  @   ensures a->moves == \old(a->moves) + 1;
  @ also changed_behavior
  @   requires amount < 0;
  @   ensures \result == 0 && a->balance == \old(a->balance);
  @*/
int withdraw(struct account *a, long amount) {
    if (amount < 0 || (amount > a->balance && strcmp(a->owner, "ann") == 0 && amount > 200))
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
