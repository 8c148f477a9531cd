/* What is filled in: objects, lists and strings, written as in JSON. */
#ifndef DATA_H
#define DATA_H

enum data_kind { DATA_NOTHING, DATA_STRING, DATA_LIST, DATA_OBJECT };

struct data {
    enum data_kind kind;
    char *string;
    int count;
    char **keys; /* of an object */
    struct data **items;
};

/* NULL and a message if the text is not data. */
struct data *data_parse(const char *text, const char **problem);
struct data *data_member(const struct data *data, const char *key);
/* Empty lists and strings, null and false are not. */
int data_is_true(const struct data *data);
void data_free(struct data *data);

#endif
