// Directory entries: structures that the C library fills in its own buffers.
// expect: 5 250
// expect: file0 file1 file2 file3 file4 0
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int visible(const struct dirent *d) { return d->d_name[0] != '.'; }

int main(void) {
    mkdir("walk", 0700);
    for (int i = 0; i < 5; i++) {
        char name[32];
        snprintf(name, sizeof name, "walk/file%d", i);
        close(open(name, O_CREAT | O_WRONLY, 0600));
    }
    DIR *d = opendir("walk");
    int n = 0;
    unsigned h = 0;
    for (struct dirent *e; (e = readdir(d));) {
        if (e->d_name[0] == '.') continue;
        n++;
        h += (unsigned)e->d_name[4];
    }
    closedir(d);
    printf("%d %u\n", n, h);
    struct dirent **list;
    n = scandir("walk", &list, visible, alphasort);
    for (int i = 0; i < n; i++) {
        char name[300];
        snprintf(name, sizeof name, "walk/%s", list[i]->d_name);
        printf("%s ", list[i]->d_name);
        unlink(name);
        free(list[i]);
    }
    free(list);
    printf("%d\n", rmdir("walk"));
    return 0;
}
