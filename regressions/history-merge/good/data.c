#include "data.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

static const char *at;
static const char *failure;

static void skip(void) {
    while (isspace((unsigned char)*at))
        at++;
}

static struct data *fail(const char *message) {
    if (failure == NULL)
        failure = message;
    return NULL;
}

static struct data *make(enum data_kind kind) {
    struct data *data = calloc(1, sizeof *data);
    data->kind = kind;
    return data;
}

static void append(struct data *data, char *key, struct data *item) {
    data->items = realloc(data->items, (size_t)(data->count + 1) * sizeof *data->items);
    data->items[data->count] = item;
    if (data->kind == DATA_OBJECT) {
        data->keys = realloc(data->keys, (size_t)(data->count + 1) * sizeof *data->keys);
        data->keys[data->count] = key;
    }
    data->count++;
}

static char *quoted(void) {
    struct text text = {NULL, 0, 0};
    text_add(&text, "", 0);
    at++;
    while (*at && *at != '"') {
        if (*at == '\\' && at[1]) {
            at++;
            text_add(&text, *at == 'n' ? "\n" : *at == 't' ? "\t" : at, 1);
        } else {
            text_add(&text, at, 1);
        }
        at++;
    }
    if (*at != '"') {
        fail("a string without an end");
        text_free(&text);
        return NULL;
    }
    at++;
    return text.bytes;
}

static struct data *value(void);

static struct data *list(void) {
    struct data *data = make(DATA_LIST);
    at++;
    skip();
    if (*at == ']') {
        at++;
        return data;
    }
    for (;;) {
        struct data *item = value();
        if (item == NULL)
            break;
        append(data, NULL, item);
        skip();
        if (*at == ']') {
            at++;
            return data;
        }
        if (*at++ != ',') {
            fail("a list without an end");
            break;
        }
    }
    data_free(data);
    return NULL;
}

static struct data *object(void) {
    struct data *data = make(DATA_OBJECT);
    at++;
    skip();
    if (*at == '}') {
        at++;
        return data;
    }
    for (;;) {
        char *key;
        struct data *item;
        skip();
        if (*at != '"' || (key = quoted()) == NULL) {
            fail("a key is missing");
            break;
        }
        skip();
        if (*at++ != ':') {
            free(key);
            fail("a colon is missing");
            break;
        }
        item = value();
        if (item == NULL) {
            free(key);
            break;
        }
        append(data, key, item);
        skip();
        if (*at == '}') {
            at++;
            return data;
        }
        if (*at++ != ',') {
            fail("an object without an end");
            break;
        }
    }
    data_free(data);
    return NULL;
}

static struct data *word(void) {
    const char *start = at;
    struct data *data;
    while (isalnum((unsigned char)*at) || *at == '-' || *at == '.')
        at++;
    if (at == start)
        return fail("a value is missing");
    if (strncmp(start, "null", 4) == 0 || strncmp(start, "false", 5) == 0)
        return make(DATA_NOTHING);
    data = make(DATA_STRING);
    data->string = copy_string(start, (size_t)(at - start));
    return data;
}

static struct data *value(void) {
    skip();
    if (*at == '{')
        return object();
    if (*at == '[')
        return list();
    if (*at == '"') {
        struct data *data = make(DATA_STRING);
        data->string = quoted();
        if (data->string)
            return data;
        data_free(data);
        return NULL;
    }
    return word();
}

struct data *data_parse(const char *text, const char **problem) {
    struct data *data;
    at = text;
    failure = NULL;
    data = value();
    skip();
    if (data && *at != '\0') {
        data_free(data);
        data = fail("something follows the data");
    }
    *problem = failure;
    return data;
}

struct data *data_member(const struct data *data, const char *key) {
    if (data->kind == DATA_OBJECT)
        for (int i = 0; i < data->count; i++)
            if (strcmp(data->keys[i], key) == 0)
                return data->items[i];
    return NULL;
}

int data_is_true(const struct data *data) {
    if (data == NULL || data->kind == DATA_NOTHING)
        return 0;
    if (data->kind == DATA_STRING)
        return data->string[0] != '\0';
    return data->kind == DATA_OBJECT || data->count > 0;
}

void data_free(struct data *data) {
    if (data == NULL)
        return;
    for (int i = 0; i < data->count; i++) {
        if (data->keys)
            free(data->keys[i]);
        data_free(data->items[i]);
    }
    free(data->keys);
    free(data->items);
    free(data->string);
    free(data);
}
