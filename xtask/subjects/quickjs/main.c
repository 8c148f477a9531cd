/* Runs a JavaScript file: main SCRIPT ARGUMENT... */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quickjs.h"

static JSValue print(JSContext *context, JSValueConst self, int count, JSValueConst *values) {
    int i;
    (void)self;
    for (i = 0; i < count; i++) {
        const char *text = JS_ToCString(context, values[i]);
        if (text == NULL) {
            return JS_EXCEPTION;
        }
        printf("%s%s", i ? " " : "", text);
        JS_FreeCString(context, text);
    }
    printf("\n");
    return JS_UNDEFINED;
}

static char *slurp(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    char *text = malloc(1 << 20);
    if (file == NULL || text == NULL) {
        return NULL;
    }
    *size = fread(text, 1, (1 << 20) - 1, file);
    text[*size] = 0;
    fclose(file);
    return text;
}

int main(int argc, char **argv) {
    JSRuntime *runtime = JS_NewRuntime();
    JSContext *context = JS_NewContext(runtime);
    JSValue global = JS_GetGlobalObject(context), arguments, result, waiting;
    JSContext *other;
    size_t size = 0;
    char *text = argc > 1 ? slurp(argv[1], &size) : NULL;
    int i, code = 0;
    if (text == NULL) {
        return 2;
    }
    JS_SetPropertyStr(context, global, "print", JS_NewCFunction(context, print, "print", 1));
    arguments = JS_NewArray(context);
    for (i = 2; i < argc; i++) {
        JS_SetPropertyUint32(context, arguments, (uint32_t)(i - 2), JS_NewString(context, argv[i]));
    }
    JS_SetPropertyStr(context, global, "args", arguments);
    result = JS_Eval(context, text, size, argv[1], JS_EVAL_TYPE_GLOBAL);
    if (JS_IsException(result)) {
        waiting = JS_GetException(context);
        print(context, JS_UNDEFINED, 1, &waiting);
        JS_FreeValue(context, waiting);
        code = 1;
    }
    JS_FreeValue(context, result);
    while (JS_ExecutePendingJob(runtime, &other) > 0) {
    }
    JS_FreeValue(context, global);
    JS_FreeContext(context);
    JS_FreeRuntime(runtime);
    free(text);
    return code;
}
