// A signal that reaches a child as soon as it exists: its handler must not run before the child
// records for itself.
// opaque:
// expect: 200 children, none lost
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t caught;
static void on_term(int s) { caught = s; }

int main(void) {
    signal(SIGTERM, on_term);
    int ended = 0;
    for (int i = 0; i < 200; i++) {
        pid_t child = fork();
        if (child == 0) {
            while (!caught)
                ;
            _exit(caught == SIGTERM ? 0 : 1);
        }
        kill(child, SIGTERM);
        int status;
        waitpid(child, &status, 0);
        ended += status == 0;
        if (caught)
            return 1;
    }
    printf("%d children, none lost\n", ended);
    return 0;
}
