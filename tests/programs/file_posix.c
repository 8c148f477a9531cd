// open, write, pread, lseek, pwrite, fstat, ftruncate, unlink.
// expect: 7
// expect: 9 4,9,16,25
// expect: 33 XX1,4,9,16,25,36,49,64,81,abcdefg
// expect: 33 1
// expect: 0 5
// expect: 0
// expect: -1 1
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

int main(void) {
    int fd = open("posix.dat", O_RDWR | O_CREAT | O_TRUNC, 0600);
    char buf[64];
    for (int i = 0; i < 10; i++) {
        int n = snprintf(buf, sizeof buf, "%d,", i * i);
        if (write(fd, buf, (size_t)n) != n) return 1;
    }
    struct iovec v[2] = {{"abc", 3}, {"defg", 4}};
    printf("%zd\n", writev(fd, v, 2));
    memset(buf, 0, sizeof buf);
    printf("%zd %s\n", pread(fd, buf, 9, 4), buf);
    if (pwrite(fd, "XX", 2, 0) != 2) return 1;
    lseek(fd, 0, SEEK_SET);
    ssize_t n = read(fd, buf, sizeof buf - 1);
    buf[n] = 0;
    printf("%zd %s\n", n, buf);
    struct stat s;
    fstat(fd, &s);
    printf("%ld %d\n", (long)s.st_size, S_ISREG(s.st_mode));
    printf("%d %ld\n", ftruncate(fd, 5), (long)lseek(fd, 0, SEEK_END));
    close(fd);
    printf("%d\n", unlink("posix.dat"));
    errno = 0;
    printf("%d %d\n", open("posix.dat", O_RDONLY), errno == ENOENT);
    return 0;
}
