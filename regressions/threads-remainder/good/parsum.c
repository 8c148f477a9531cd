/* Adds up squares with several threads. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_THREADS 16

struct part {
    const int *values;
    long from;
    long to;
    long long sum;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long long total;
static int finished;

static void *work(void *argument) {
    struct part *part = argument;
    long long sum = 0;
    for (long i = part->from; i < part->to; i++)
        sum += (long long)part->values[i] * part->values[i];
    part->sum = sum;
    pthread_mutex_lock(&lock);
    total += sum;
    finished++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void divide(struct part *parts, int threads, const int *values, long count) {
    long each = count / threads;
    for (int i = 0; i < threads; i++) {
        parts[i].values = values;
        parts[i].from = i * each;
        parts[i].to = (i + 1) * each;
        if (i == threads - 1)
            parts[i].to = count;
    }
}

int main(int argc, char **argv) {
    pthread_t handles[MAX_THREADS];
    struct part parts[MAX_THREADS];
    long count;
    int threads;
    int *values;

    if (argc != 3) {
        fprintf(stderr, "usage: parsum COUNT THREADS\n");
        return 2;
    }
    count = atol(argv[1]);
    threads = atoi(argv[2]);
    if (threads < 1 || threads > MAX_THREADS)
        return 2;
    values = malloc((size_t)count * sizeof *values);
    for (long i = 0; i < count; i++)
        values[i] = (int)(i * 37 % 101);
    divide(parts, threads, values, count);
    for (int i = 0; i < threads; i++)
        pthread_create(&handles[i], NULL, work, &parts[i]);
    for (int i = 0; i < threads; i++)
        pthread_join(handles[i], NULL);
    printf("%d threads, sum of squares %lld\n", finished, total);
    free(values);
    return 0;
}
