/* Fills a template with data. */
#include <stdio.h>
#include <string.h>

#include "data.h"
#include "render.h"
#include "template.h"
#include "text.h"

static int fail(const char *path, const char *problem) {
    fprintf(stderr, "render: %s: %s\n", path, problem);
    return 1;
}

static void levels(const struct node *node, int depth) {
    for (; node; node = node->next) {
        if (node->kind != NODE_TEXT)
            fprintf(stderr, "%*s%s: %d out\n", depth * 2, "", node->text, node->level);
        levels(node->children, depth + 1);
    }
}

int main(int argc, char **argv) {
    struct text source, json, output = {NULL, 0, 0};
    const char *problem;
    struct node *node;
    struct data *data;
    int verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
    argv += verbose;
    argc -= verbose;
    if (argc != 3) {
        fprintf(stderr, "usage: render [-v] TEMPLATE DATA\n");
        return 2;
    }
    source = text_of_file(argv[1]);
    json = text_of_file(argv[2]);
    if (source.bytes == NULL)
        return fail(argv[1], "cannot be read");
    if (json.bytes == NULL)
        return fail(argv[2], "cannot be read");
    node = template_parse(source.bytes, &problem);
    if (problem)
        return fail(argv[1], problem);
    data = data_parse(json.bytes, &problem);
    if (data == NULL)
        return fail(argv[2], problem);
    render(node, data, &output);
    fwrite(output.bytes, 1, output.length, stdout);
    if (verbose)
        levels(node, 0);
    template_free(node);
    data_free(data);
    text_free(&source);
    text_free(&json);
    text_free(&output);
    return 0;
}
