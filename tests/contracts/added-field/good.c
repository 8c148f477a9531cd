#include <stdio.h>
#include <stdlib.h>

struct list {
    struct node *head;
    int spare;
};

struct node {
    int value;
    struct node *next;
};

void push(struct list *list, int value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    node->next = list->head;
    list->head = node;
}

int main(int argc, char **argv) {
    struct list list = {0};
    for (int i = 1; i < argc; i++)
        push(&list, atoi(argv[i]));
    for (struct node *n = list.head; n != NULL; n = n->next)
        printf("%d\n", n->value);
    return 0;
}
