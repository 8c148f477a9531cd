#include <stdio.h>
#include <stdlib.h>

struct list {
    struct node *head;
    int count;
};

struct node {
    int value;
    struct node *next;
};

/*@ changed_behavior
  @   ensures \latest(list->count) && \deprecated(list->spare);
  @   ensures list->count == \old(list->count) + 1;
  @   ensures list->head == \prev(list->head);
  @*/
void push(struct list *list, int value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    node->next = NULL;
    struct node **at = &list->head;
    while (*at != NULL)
        at = &(*at)->next;
    *at = node;
    list->count++;
}

int main(int argc, char **argv) {
    struct list list = {0};
    for (int i = 1; i < argc; i++)
        push(&list, atoi(argv[i]));
    for (struct node *n = list.head; n != NULL; n = n->next)
        printf("%d\n", n->value);
    return 0;
}
