// Bytes over a socket, by send and recv and by messages.
// expect: 5 hello
// expect: 5
// expect: 5 abcde
// expect: 0
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int main(void) {
    int s[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, s)) return 1;
    char buf[32] = "";
    if (send(s[0], "hello", 5, 0) != 5) return 1;
    printf("%zd %s\n", recv(s[1], buf, 32, 0), buf);
    struct iovec out[2] = {{"ab", 2}, {"cde", 3}};
    struct msghdr m = {.msg_iov = out, .msg_iovlen = 2};
    printf("%zd\n", sendmsg(s[1], &m, 0));
    memset(buf, 0, sizeof buf);
    printf("%zd %s\n", read(s[0], buf, 32), buf);
    close(s[0]);
    printf("%zd\n", recv(s[1], buf, 32, 0));
    return 0;
}
