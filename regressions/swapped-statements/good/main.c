#include "editor.h"

#include <string.h>

static int run_script(struct editor *editor, FILE *script) {
    char command[256];
    int number = 0, errors = 0;

    while (fgets(command, sizeof command, script)) {
        number++;
        command[strcspn(command, "\n")] = '\0';
        if (command[0] == '\0' || command[0] == '#')
            continue;
        if (command_run(editor, command) != 0) {
            fprintf(stderr, "%d: %s\n", number, editor->error);
            errors++;
        }
    }
    return errors;
}

int main(int argc, char **argv) {
    struct editor editor;
    FILE *file, *script;
    int errors;

    if (argc != 3) {
        fprintf(stderr, "usage: edit FILE SCRIPT\n");
        return 2;
    }
    memset(&editor, 0, sizeof editor);
    editor.out = stdout;
    file = fopen(argv[1], "r");
    script = fopen(argv[2], "r");
    if (file == NULL || script == NULL || text_load(&editor.text, file) != 0) {
        fprintf(stderr, "edit: cannot read %s or %s\n", argv[1], argv[2]);
        return 2;
    }
    errors = run_script(&editor, script);
    if (errors > 0)
        fprintf(stderr, "%d errors\n", errors);
    history_free(&editor.history);
    text_free(&editor.text);
    fclose(file);
    fclose(script);
    return 0;
}
