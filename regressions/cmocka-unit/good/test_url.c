#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "url.h"

static int set_up(void **state) {
    struct url *base = calloc(1, sizeof *base);
    *state = base;
    return url_parse(base, "http://a/b/c/d;p?q") ? 0 : -1;
}

static int tear_down(void **state) {
    url_free(*state);
    free(*state);
    return 0;
}

static void parts(void **state) {
    struct url url;
    (void)state;
    assert_true(url_parse(&url, "https://me@example.org:8080/a/b?x=1#top"));
    assert_string_equal(url.scheme, "https");
    assert_string_equal(url.user, "me");
    assert_string_equal(url.host, "example.org");
    assert_int_equal(url.port, 8080);
    assert_string_equal(url.path, "/a/b");
    assert_string_equal(url.query, "x=1");
    assert_string_equal(url.fragment, "top");
    url_free(&url);
}

static void broken(void **state) {
    struct url url;
    (void)state;
    assert_false(url_parse(&url, "http://host:port/"));
    assert_false(url_parse(&url, "http://host:70000/"));
    assert_false(url_parse(&url, "http://[::1/"));
}

static void normal_form(void **state) {
    static const char *const pairs[][2] = {
        {"HTTP://Example.ORG:80", "http://example.org/"},
        {"http://h/%7euser/%2f", "http://h/~user/%2F"},
        {"https://h:443/a/./b/../c", "https://h/a/c"},
        {"https://h:80/", "https://h:80/"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        struct url url;
        char *text;
        assert_true(url_parse(&url, pairs[i][0]));
        url_normalise(&url);
        text = url_text(&url);
        assert_string_equal(text, pairs[i][1]);
        free(text);
        url_free(&url);
    }
}

/* As in section 5.4 of RFC 3986. */
static void references(void **state) {
    static const char *const pairs[][2] = {
        {"g", "http://a/b/c/g"},      {"./g", "http://a/b/c/g"},     {"g/", "http://a/b/c/g/"},
        {"/g", "http://a/g"},         {"//g", "http://g"},           {"?y", "http://a/b/c/d;p?y"},
        {"g?y", "http://a/b/c/g?y"},  {"#s", "http://a/b/c/d;p?q#s"}, {"", "http://a/b/c/d;p?q"},
        {"..", "http://a/b/"},        {"../g", "http://a/b/g"},      {"../..", "http://a/"},
        {"../../../g", "http://a/g"}, {"g:h", "g:h"},                {".", "http://a/b/c/"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        struct url reference, result;
        char *text;
        assert_true(url_parse(&reference, pairs[i][0]));
        url_resolve(&result, *state, &reference);
        text = url_text(&result);
        assert_string_equal(text, pairs[i][1]);
        free(text);
        url_free(&result);
        url_free(&reference);
    }
}

static void parameters(void **state) {
    struct url url;
    char *value;
    (void)state;
    assert_true(url_parse(&url, "/search?q=a+b%26c&page=2&&all"));
    value = url_parameter(&url, "q");
    assert_string_equal(value, "a b&c");
    free(value);
    value = url_parameter(&url, "all");
    assert_string_equal(value, "");
    free(value);
    assert_null(url_parameter(&url, "none"));
    assert_int_equal(url_parameter_count(&url), 3);
    url_free(&url);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts),
        cmocka_unit_test(broken),
        cmocka_unit_test(normal_form),
        cmocka_unit_test_setup_teardown(references, set_up, tear_down),
        cmocka_unit_test(parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
