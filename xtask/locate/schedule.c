/* Jobs with three priorities: `new P T`, `run N`, `block`, `wake R`, `raise ID`, `list`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOBS 64
#define LEVELS 3

struct job {
    int id;
    int level;
    int left;
    int waited;
    struct job *next;
};

struct list {
    struct job *first;
    struct job *last;
    int length;
};

static struct list ready[LEVELS];
static struct list blocked;
static struct job pool[JOBS];
static int made = 0;
static int finished = 0;
static int clock_ticks = 0;
static int longest_wait = 0;
static int quantum[LEVELS] = {4, 2, 1};

static void append(struct list *list, struct job *job) {
    job->next = NULL;
    if (list->last)
        list->last->next = job;
    else
        list->first = job;
    list->last = job;
    list->length++;
}

static struct job *take_nth(struct list *list, int n) {
    struct job *before = NULL;
    struct job *job = list->first;
    int i = 0;
    while (job && i < n) {
        before = job;
        job = job->next;
        i++;
    }
    if (!job)
        return NULL;
    if (before)
        before->next = job->next;
    else
        list->first = job->next;
    if (list->last == job)
        list->last = before;
    list->length--;
    return job;
}

static struct job *take_id(struct list *list, int id) {
    int n = 0;
    for (struct job *job = list->first; job; job = job->next) {
        if (job->id == id)
            return take_nth(list, n);
        n++;
    }
    return NULL;
}

static void create(int level, int left) {
    if (made >= JOBS) {
        printf("full\n");
        return;
    }
    if (level < 0 || level >= LEVELS || left <= 0) {
        printf("bad job\n");
        return;
    }
    struct job *job = &pool[made];
    made++;
    job->id = made;
    job->level = level;
    job->left = left;
    job->waited = 0;
    append(&ready[level], job);
}

static int highest(void) {
    for (int level = LEVELS - 1; level >= 0; level--)
        if (ready[level].length > 0)
            return level;
    return -1;
}

static void age(int ticks) {
    for (int level = 0; level < LEVELS; level++) {
        int n = 0;
        struct job *job = ready[level].first;
        while (job) {
            struct job *next = job->next;
            job->waited += ticks;
            if (job->waited > longest_wait)
                longest_wait = job->waited;
            if (job->waited >= 12 && level < LEVELS - 1) {
                take_nth(&ready[level], n);
                job->waited = 0;
                job->level = level + 1;
                append(&ready[level + 1], job);
            } else {
                n++;
            }
            job = next;
        }
    }
}

static void step(void) {
    int level = highest();
    if (level < 0) {
        clock_ticks++;
        return;
    }
    struct job *job = take_nth(&ready[level], 0);
    int ticks = quantum[level];
    if (ticks > job->left)
        ticks = job->left;
    job->left -= ticks;
    clock_ticks += ticks;
    job->waited = 0;
    if (job->left == 0) {
        finished++;
        printf("%d done at %d\n", job->id, clock_ticks);
    } else {
        append(&ready[level], job);
    }
    age(ticks);
}

static void block(void) {
    int level = highest();
    if (level < 0)
        return;
    struct job *job = take_nth(&ready[level], 0);
    append(&blocked, job);
}

static void wake(int percent) {
    if (blocked.length == 0)
        return;
    int n = percent * blocked.length / 100;
    if (n >= blocked.length)
        n = blocked.length - 1;
    struct job *job = take_nth(&blocked, n);
    if (job)
        append(&ready[job->level], job);
}

static void raise_job(int id) {
    for (int level = 0; level < LEVELS - 1; level++) {
        struct job *job = take_id(&ready[level], id);
        if (job) {
            job->level = level + 1;
            append(&ready[level + 1], job);
            return;
        }
    }
}

static void list_all(void) {
    for (int level = LEVELS - 1; level >= 0; level--) {
        printf("%d:", level);
        for (struct job *job = ready[level].first; job; job = job->next)
            printf(" %d(%d)", job->id, job->left);
        printf("\n");
    }
}

int main(void) {
    char word[16];
    int a, b;
    while (scanf("%15s", word) == 1) {
        if (strcmp(word, "new") == 0) {
            if (scanf("%d %d", &a, &b) != 2)
                return 2;
            create(a, b);
        } else if (strcmp(word, "run") == 0) {
            if (scanf("%d", &a) != 1)
                return 2;
            for (int i = 0; i < a; i++)
                step();
        } else if (strcmp(word, "block") == 0) {
            block();
        } else if (strcmp(word, "wake") == 0) {
            if (scanf("%d", &a) != 1)
                return 2;
            wake(a);
        } else if (strcmp(word, "raise") == 0) {
            if (scanf("%d", &a) != 1)
                return 2;
            raise_job(a);
        } else if (strcmp(word, "list") == 0) {
            list_all();
        } else {
            printf("what is %s?\n", word);
        }
    }
    printf("%d made, %d finished, %d blocked, clock %d, waited %d\n", made, finished, blocked.length, clock_ticks, longest_wait);
    return 0;
}
