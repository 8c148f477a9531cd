/* Expressions over one variable: letters stand for themselves, `$` for the
   variable, `=TEXT.` assigns to it and is its new text, `+` puts two texts
   together, from the left to the right. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cell {
  char *text;
  int is_temporary;
};

static struct cell variable;
static const char *input;

static char *copy_of(const char *text, size_t length) {
  char *copy = malloc(length + 1);
  if (copy == NULL)
    exit(3);
  memcpy(copy, text, length);
  copy[length] = '\0';
  return copy;
}

static void assign(struct cell *cell, const char *text, size_t length) {
  char *old = cell->text;
  cell->text = copy_of(text, length);
  free(old);
}

static struct cell *temporary(char *text) {
  struct cell *cell = malloc(sizeof *cell);
  if (cell == NULL)
    exit(3);
  cell->text = text;
  cell->is_temporary = 1;
  return cell;
}

static void release(struct cell *cell) {
  if (cell->is_temporary) {
    free(cell->text);
    free(cell);
  }
}

/* At least so many bytes, in steps: most texts are put together from many. */
static void make_room(char **buffer, size_t *size, size_t needed) {
  if (needed > *size) {
    size_t rest = needed % 64;
    char *larger;
    if (rest != 0)
      needed += 64 - rest;
    larger = realloc(*buffer, needed);
    if (larger == NULL)
      exit(3);
    *buffer = larger;
    *size = needed;
  }
}

static struct cell *operand(void) {
  const char *start = input;
  if (*input == '$') {
    input++;
    return &variable;
  }
  if (*input == '=') {
    const char *end = strchr(input, '.');
    if (end == NULL)
      exit(2);
    assign(&variable, start + 1, (size_t)(end - start - 1));
    input = end + 1;
    return &variable;
  }
  while (*input != '\0' && *input != '+')
    input++;
  return temporary(copy_of(start, (size_t)(input - start)));
}

static struct cell *joined(struct cell *left) {
  char *buffer = NULL;
  size_t size = 0, right_length;
  struct cell *right;
  size_t left_length = strlen(left->text);
  make_room(&buffer, &size, left_length + 1);
  memcpy(buffer, left->text, left_length);

  right = operand();
  right_length = strlen(right->text);
  make_room(&buffer, &size, left_length + right_length + 1);
  memcpy(buffer + left_length, right->text, right_length);
  buffer[left_length + right_length] = '\0';

  release(left);
  release(right);
  return temporary(buffer);
}

int main(int argc, char **argv) {
  struct cell *value;
  if (argc != 2)
    return 2;
  assign(&variable, "", 0);
  input = argv[1];
  value = operand();
  while (*input == '+') {
    input++;
    value = joined(value);
  }
  puts(value->text);
  release(value);
  return 0;
}
