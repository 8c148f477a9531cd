/* A run as long as one likes: tables, a matrix, sorting, lists on the heap. About 163,000
   instructions of the model a round. */
#include <stdio.h>
#include <stdlib.h>

static unsigned table[4096];
static int noise[4096];
static double matrix[64][64];

struct node {
    int key;
    struct node *next;
};
static struct node *bucket[256];

static unsigned next_number(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static int comes_before(int a, int b)
{
    return a < b;
}

static void sort(int *v, int n)
{
    for (int i = 1; i < n; i++) {
        int x = v[i], j = i;
        while (j > 0 && comes_before(x, v[j - 1])) {
            v[j] = v[j - 1];
            j--;
        }
        v[j] = x;
    }
}

static void put(int key)
{
    struct node *n = bucket[key & 255];
    while (n) {
        if (n->key == key)
            return;
        n = n->next;
    }
    n = malloc(sizeof *n);
    n->key = key;
    n->next = bucket[key & 255];
    bucket[key & 255] = n;
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 1;
    unsigned state = 1, sum = 0;
    for (long r = 0; r < rounds; r++) {
        for (int i = 0; i < 4096; i++)
            table[i] += next_number(&state) & 15;
        for (int i = 0; i < 64; i++)
            for (int j = 0; j < 64; j++)
                matrix[i][j] = matrix[i][j] * 0.5 + i * j;
        int v[64];
        for (int i = 0; i < 64; i++)
            v[i] = next_number(&state) & 1023;
        sort(v, 64);
        for (int i = 0; i < 64; i++)
            put(v[i]);
        noise[r & 4095] = v[3];
        sum += table[r & 4095];
    }
    printf("%u %d %f\n", sum, noise[1], matrix[3][4]);
    /* So that the last question is about the whole run. */
    return sum == 0;
}
