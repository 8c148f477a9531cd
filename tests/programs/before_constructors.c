// Code that runs before all constructors: in `.preinit_array` and in `.init`.
// args: one two
// expect: 1 3 4 2 3
// expect: 5
#include <stdio.h>

static int order[8], count, sum;

static void note(int what)
{
    order[count++] = what;
    for (int i = 0; i < what; i++)
        sum += i & 1 ? 2 : 1;
}

static void first(int argc, char **argv, char **environment)
{
    note(1);
    note(argv[argc - 1] && environment ? argc : 0);
}
__attribute__((section(".preinit_array"), used)) static void (*const before)(int, char **, char **) = first;

void second(void)
{
    note(count > 1 ? 4 : 0);
}
__asm__(".pushsection .init,\"ax\",@progbits\n\tcall second\n\t.popsection");

__attribute__((constructor(101))) static void third(void)
{
    note(2);
}

int main(int argc, char **argv)
{
    (void)argv;
    note(argc);
    for (int i = 0; i < count; i++)
        printf("%d%s", order[i], i + 1 < count ? " " : "\n");
    printf("%d\n", sum % 13);
    return 0;
}
