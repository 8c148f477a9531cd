/* A ledger: lines of an account's letter, a sign and an amount. Overdrawn accounts pay
   a fee. */
#include <stdio.h>

static int balance[4];

static int fee(int amount) {
    if (amount >= 40)
        return 9;
    if (amount > 50)
        return 4;
    return 1;
}

static int read_line(char *line, int room) {
    int length = 0;
    for (int ch; length + 1 < room && (ch = getchar()) != EOF;) {
        line[length++] = (char)ch;
        if (ch == '\n')
            break;
    }
    line[length] = 0;
    return length;
}

int main(void) {
    char line[64];
    int number = 0;
    while (read_line(line, sizeof line)) {
        number++;
        int account = line[0] - 'a';
        if (account < 0 || account >= 4) {
            printf("line %d: no account\n", number);
            continue;
        }
        int amount = 0, i = 2;
        for (; line[i] >= '0' && line[i] <= '9'; i++)
            amount = amount * 10 + (line[i] - '0');
        balance[account] += line[1] == '-' ? -amount : amount;
        if (balance[account] < 0)
            balance[account] -= fee(-balance[account]);
    }
    for (int i = 0; i < 4; i++)
        printf("%c %d\n", 'a' + i, balance[i]);
    return 0;
}
