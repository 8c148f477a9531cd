/* A calculator: one statement a line, `name = expression` or an expression. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VARIABLES 26
#define DEPTH 40

static char line[256];
static int at;
static int failed;
static int depth = 0;
static long variables[VARIABLES];
static int assigned[VARIABLES];
static int errors = 0;
static long total = 0;

static long expression(void);

static void skip(void) {
    while (line[at] == ' ')
        at++;
}

static int take(char c) {
    skip();
    if (line[at] != c)
        return 0;
    at++;
    return 1;
}

static long number(void) {
    long value = 0;
    int base = 10;
    if (line[at] == '0' && line[at + 1] == 'x') {
        base = 16;
        at = at + 2;
    }
    while (isxdigit((unsigned char)line[at])) {
        int digit;
        if (isdigit((unsigned char)line[at]))
            digit = line[at] - '0';
        else
            digit = tolower(line[at]) - 'a' + 10;
        if (digit >= base)
            break;
        value = value * base + digit;
        at++;
    }
    return value;
}

static long primary(void) {
    skip();
    if (take('(')) {
        depth++;
        if (depth > DEPTH) {
            failed = 1;
            return 0;
        }
        long value = expression();
        depth--;
        if (!take(')'))
            failed = 2;
        return value;
    }
    if (take('-'))
        return -primary();
    if (take('|')) {
        long value = expression();
        if (!take('|'))
            failed = 2;
        if (value < 0)
            value = -value;
        return value;
    }
    if (isdigit((unsigned char)line[at]))
        return number();
    if (islower((unsigned char)line[at])) {
        int name = line[at] - 'a';
        at++;
        if (!assigned[name])
            failed = 3;
        return variables[name];
    }
    failed = 4;
    return 0;
}

static long power(void) {
    long base = primary();
    if (take('^')) {
        long exponent = power();
        long result = 1;
        if (exponent < 0 || exponent > 62) {
            failed = 5;
            return 0;
        }
        for (long i = 0; i < exponent; i++)
            result = result * base;
        return result;
    }
    return base;
}

static long product(void) {
    long value = power();
    for (;;) {
        if (take('*')) {
            value = value * power();
        } else if (take('/')) {
            long divisor = power();
            if (divisor == 0) {
                failed = 6;
                return 0;
            }
            value = value / divisor;
        } else if (take('%')) {
            long divisor = power();
            if (divisor == 0) {
                failed = 6;
                return 0;
            }
            value = value % divisor;
            if (value < 0)
                value = value + (divisor < 0 ? -divisor : divisor);
        } else {
            return value;
        }
    }
}

static long sum(void) {
    long value = product();
    for (;;) {
        if (take('+'))
            value = value + product();
        else if (take('-'))
            value = value - product();
        else
            return value;
    }
}

static long expression(void) {
    long left = sum();
    if (take('<')) {
        long right = sum();
        return left < right;
    }
    if (take('>')) {
        long right = sum();
        return left > right;
    }
    if (take('?')) {
        long yes = expression();
        if (!take(':'))
            failed = 2;
        long no = expression();
        return left != 0 ? yes : no;
    }
    return left;
}

static void statement(int count) {
    int target = -1;
    at = 0;
    failed = 0;
    depth = 0;
    skip();
    if (islower((unsigned char)line[at])) {
        int back = at;
        int name = line[at] - 'a';
        at++;
        if (take('='))
            target = name;
        else
            at = back;
    }
    long value = expression();
    skip();
    if (line[at] != '\0' && failed == 0)
        failed = 7;
    if (failed != 0) {
        errors++;
        printf("%d: error %d\n", count, failed);
        return;
    }
    if (target >= 0) {
        variables[target] = value;
        assigned[target] = 1;
    } else {
        total = total + value;
        printf("%d: %ld\n", count, value);
    }
}

int main(void) {
    int count = 0;
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        count++;
        if (line[0] == '#' || line[0] == '\0')
            continue;
        statement(count);
    }
    printf("total %ld, %d errors\n", total, errors);
    return 0;
}
