#include <stdio.h>
#include <windows.h>

static HANDLE console;

int console_open(void) {
    console = GetStdHandle(STD_OUTPUT_HANDLE);
    return console != INVALID_HANDLE_VALUE;
}

void console_path(const char *path, int ignored) {
    WORD colour = ignored ? FOREGROUND_RED : FOREGROUND_GREEN;
    SetConsoleTextAttribute(console, colour);
    printf("%s\n", path);
    SetConsoleTextAttribute(console, FOREGROUND_RED | FOREGROUND_GREEN | FOREGROUND_BLUE);
}

void console_close(void) {
    console = NULL;
}
