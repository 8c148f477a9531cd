// The string.h family.
// expect: alpha,beta,gamma 16
// expect: ,beta,gamma ,gamma eta,gamma
// expect: 1 0 0
// expect: 4 5 beta,gamma
// expect: [alpha][beta][gamma]
// expect: Alpha,beta,gamma alph alpha,beta,gamma
// expect: 0 0
// expect: rt
// expect: k=v.l=w.
// expect: No such file or directory
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int main(void) {
    char buf[100] = "alpha";
    strcat(buf, ",beta");
    strncat(buf, ",gamma-rest", 6);
    printf("%s %zu\n", buf, strlen(buf));
    printf("%s %s %s\n", strchr(buf, ','), strrchr(buf, ','), strstr(buf, "eta"));
    printf("%d %d %d\n", strcmp("a", "b") < 0, strncmp("abc", "abd", 2), strcasecmp("HeLLo", "hello"));
    printf("%zu %zu %s\n", strspn("aabbc", "ab"), strcspn("hello,x", ","), strpbrk(buf, "gb"));
    char *save, copy[100];
    strcpy(copy, buf);
    for (char *t = strtok_r(copy, ",", &save); t; t = strtok_r(NULL, ",", &save)) printf("[%s]", t);
    putchar('\n');
    char *d = strdup(buf), *e = strndup(buf, 4);
    d[0] = 'A';
    printf("%s %s %s\n", d, e, buf);
    free(d);
    free(e);
    char n[8];
    strncpy(n, "xy", sizeof n);
    printf("%d %d\n", n[2], n[7]);
    printf("%s\n", stpcpy(buf, "short") - 2);
    char list[] = "k=v;l=w", *p = list, *f;
    while ((f = strsep(&p, ";"))) printf("%s.", f);
    printf("\n%s\n", strerror(2));
    return 0;
}
