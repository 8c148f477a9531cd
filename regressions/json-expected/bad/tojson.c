/* Turns a table with tabs between its columns into JSON, a row an object. */
#include <stdio.h>
#include <string.h>

#define MAX_COLUMNS 20
#define MAX_LINE  1000

static void string(const char *text) {
    putchar('"');
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c == '\n')
            printf("\\n");
        else if (c < 0x10)
            printf("\\u%04x", c);
        else
            putchar(c);
    }
    putchar('"');
}

static int split(char *line, char **columns) {
    int count = 0;
    line[strcspn(line, "\n")] = '\0';
    while (count < MAX_COLUMNS)
    {
	char *tab = strchr(line, '\t');

	columns[count++] = line;
	if (tab == NULL)
	    break;
	*tab = '\0'; /* the column ends here */
	line = tab + 1;
    }
    return count;
}

static void row(char **heads, char **cells, int count) {
    printf("  {");
    for (int i = 0; i < count; i++)
    {
	if (i > 0)
	    printf(", ");
	string(heads[i]);
	printf(": ");
	string(cells[i]);
    }
    printf("}");
}

int main(void) {
    static char head[MAX_LINE];
    char line[MAX_LINE];
    char *heads[MAX_COLUMNS];
    char *cells[MAX_COLUMNS];
    int columns; /* of the head */
    int rows = 0;

    if (fgets(head, sizeof head, stdin) == NULL)
        return 1;
    columns = split(head, heads);
    printf("[\n");
    while (fgets(line, sizeof line, stdin)) {
        int count = split(line, cells);
        if (rows++ > 0)
            printf(",\n");
        row(heads, cells, count < columns ? count : columns);
    }
    printf("\n]\n");
    return 0;
}
