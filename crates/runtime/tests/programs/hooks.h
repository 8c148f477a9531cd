// Plays the part of instrumented code: the descriptors and the protocol of
// docs/runtime-interface.md, by hand. `KNOWN_x` are table numbers plus one,
// given by the test on the command line.
#include <stdint.h>
#include <stddef.h>

struct context { uint64_t key, time, sum, stack, va; };
struct module { uint32_t magic, index; uint8_t id[16]; uint32_t symbols, pad; const uint64_t *addresses; const uint16_t *known; };
struct function { struct module *module; uint32_t function, arg_slots; const char *name; uint32_t flags, pad; };
struct site { struct module *module; uint32_t site, extra; };
struct call { struct module *module; uint32_t site; uint16_t known, args, ret_slots, flags; const uint8_t *kinds; };

extern _Thread_local struct { uint64_t call; struct context *ctx; } __relapse_tls
    __attribute__((tls_model("initial-exec")));

void __relapse_register(struct module *);
void __relapse_miss(struct context *, struct module *, uint64_t, uint64_t, void *, uint64_t)
    __attribute__((preserve_most));
void __relapse_copy(struct context *, struct site *, uint64_t, void *, const void *, uint64_t);
void __relapse_set(struct context *, struct site *, uint64_t, void *, uint64_t, uint64_t);
void __relapse_enter(struct function *, uint64_t *);
void __relapse_leave(struct function *);
void __relapse_before(struct context *, struct call *, const void *, uint64_t *);
void __relapse_external(struct context *, struct call *, const void *, uint64_t *, uint64_t *);

static const uint8_t words[16];
static struct module module = { 0x6d6c7231, 0, "0123456789abcdef", 0, 0, NULL, NULL };
__attribute__((constructor(101))) static void start(void) { __relapse_register(&module); }

#define CTX (__relapse_tls.ctx)
#define SHADOW(p) ((__typeof__(&*(p)))((uint64_t)(p) ^ CTX->key))

static inline void store(uint64_t *at, uint64_t value) { *at = value; *SHADOW(at) = value; CTX->sum += value; }

static inline uint64_t load(uint32_t site, volatile uint64_t *at) {
    uint64_t value = *at;
    if (value != *SHADOW(at))
        __relapse_miss(CTX, &module, 8ull << 32 | site, CTX->time, (void *)SHADOW(at), value);
    return value;
}

static inline void tick(void) { CTX->time++; }

// EXTERNAL(site, function, number of arguments, type of result, arguments...):
// a call that leaves instrumented code.
#define EXTERNAL_(site_, f, n, flags_, known_, ret, before, ...) ({                              \
    static struct call desc = { &module, site_, known_, n, 1, flags_, words };                     \
    uint64_t args[] = { __VA_ARGS__ }, result;                                                     \
    if (before) __relapse_before(CTX, &desc, (void *)f, args);                                     \
    __relapse_tls.call = (uint64_t)f;                                                              \
    result = (uint64_t)(ret);                                                                      \
    if (__relapse_tls.call) __relapse_external(CTX, &desc, (void *)f, args, &result);              \
    CTX->time++;                                                                                   \
    result; })
#define W(x) ((uint64_t)(x))
