/* A calculator in reverse Polish notation, in decimal fixed point. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef DIGITS
#define DIGITS 2
#endif

#define DEPTH 32

static long long stack[DEPTH];
static int top;
static long long one;

static void push(long long value) {
    if (top == DEPTH) {
        fprintf(stderr, "rpn: stack is full\n");
        exit(1);
    }
    stack[top++] = value;
}

static long long pop(void) {
    if (top == 0) {
        fprintf(stderr, "rpn: stack is empty\n");
        exit(1);
    }
    return stack[--top];
}

static void apply(char operator) {
    long long b = pop();
    long long a = pop();
    switch (operator) {
    case '+':
        push(a + b);
        break;
    case '-':
        push(a - b);
        break;
    case '*':
        push(a * b / one);
        break;
    case '/':
        push(b == 0 ? 0 : a * one / b);
        break;
    default:
        fprintf(stderr, "rpn: what is %c?\n", operator);
        exit(1);
    }
}

static void print(long long value) {
    if (value < 0) {
        putchar('-');
        value = -value;
    }
    printf("%lld.%0*lld\n", value / one, DIGITS, value % one);
}

int main(int argc, char **argv) {
    const char *at;
    if (argc != 2) {
        fprintf(stderr, "usage: rpn EXPRESSION\n");
        return 2;
    }
    one = 1;
    for (int i = 0; i < DIGITS; i++)
        one *= 10;
    for (at = argv[1]; *at;) {
        if (isspace((unsigned char)*at)) {
            at++;
        } else if (isdigit((unsigned char)*at)) {
            char *end;
            push(strtoll(at, &end, 10) * one);
            at = end;
        } else {
            apply(*at++);
        }
    }
    while (top > 0)
        print(pop());
    return 0;
}
