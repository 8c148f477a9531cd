/* Prints lists as JSON, or nearly so: each argument is a section, each of its letters an element. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct buffer {
  char *data;
  size_t used, size;
};

struct writer {
  void (*letter)(char c, size_t times, struct buffer *to);
  void (*text)(const char *text, size_t length, struct buffer *to);
};

static void reserve(struct buffer *to, size_t more) {
  if (to->size - to->used <= more) {
    to->size = to->size + more + 1;
    to->data = realloc(to->data, to->size);
    if (to->data == NULL)
      exit(3);
  }
}

static void put_letter(char c, size_t times, struct buffer *to) {
  reserve(to, times);
  memset(to->data + to->used, c, times);
  to->used += times;
}

static void put_text(const char *text, size_t length, struct buffer *to) {
  reserve(to, length);
  memcpy(to->data + to->used, text, length);
  to->used += length;
}

static const struct writer writer = { put_letter, put_text };

static void indent(int depth, bool compact, struct buffer *to) {
  if (!compact)
    writer.letter(' ', (size_t)depth * 4, to);
}

static void section(const char *letters, bool first, bool compact, struct buffer *to) {
  if (!first)
    writer.text(",\n", 2, to);
  indent(1, compact, to);
  writer.text("[", 1, to);
  for (const char *c = letters; *c != '\0'; c++) {
    if (c > letters)
      writer.text(", ", 2, to);
    writer.letter(*c, 1, to);
  }
  writer.text("]", 1, to);
}

static char *document(char **sections, int count) {
  struct buffer buffer = { malloc(16), 0, 16 };
  writer.text("{\n", 2, &buffer);
  for (int i = 0; i < count; i++) {
    if (i > 0)
      writer.text(",\n", 2, &buffer);
    section(sections[i], i == 0, false, &buffer);
  }
  writer.text("\n}", 3, &buffer);
  return buffer.data;
}

int main(int argc, char **argv) {
  char *text = document(argv + 1, argc - 1);
  puts(text);
  free(text);
  return 0;
}
