/* Runs words one after the other; a word that begins with + in a process of its own. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Where control goes when the list is to be left. */
static jmp_buf list_end;
static int in_list;

static void leave_list(void)
{
    if (in_list)
        longjmp(list_end, 1);
    fputs("jobs: no list to leave\n", stderr);
    exit(1);
}

static void run(const char *word)
{
    if (!strcmp(word, "leave"))
        leave_list();
    printf("%s\n", word);
    fflush(stdout);
}

static int run_child(const char *word)
{
    int status = 0;
    pid_t child = fork();
    switch (child) {
    case -1:
        perror("fork");
        return 0;
    case 0:
        run(word);
        exit(0);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int run_list(char **words)
{
    volatile int done = 0;
    in_list = 1;
    if (!setjmp(list_end)) {
        for (; *words; words++) {
            if (**words == '+')
                done += run_child(*words + 1);
            else {
                run(*words);
                done++;
            }
        }
    }
    in_list = 0;
    return done;
}

int main(int argc, char **argv)
{
    int words = argc - 1, done = run_list(argv + 1);
    printf("%d of %d done\n", done, words);
    return 0;
}
