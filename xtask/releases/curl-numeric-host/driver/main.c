/* Splits a URL into its parts. */
#include <curl/curl.h>
#include <stdio.h>

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        CURLUPart what;
    } parts[] = {
        {"scheme", CURLUPART_SCHEME}, {"host", CURLUPART_HOST},   {"port", CURLUPART_PORT},
        {"path", CURLUPART_PATH},     {"query", CURLUPART_QUERY}, {"fragment", CURLUPART_FRAGMENT},
    };
    for (int i = 1; i < argc; i++) {
        CURLU *url = curl_url();
        CURLUcode code = curl_url_set(url, CURLUPART_URL, argv[i], 0);
        printf("%s\n", argv[i]);
        if (code)
            printf("  error: %s\n", curl_url_strerror(code));
        for (unsigned p = 0; !code && p < sizeof parts / sizeof *parts; p++) {
            char *text = NULL;
            if (curl_url_get(url, parts[p].what, &text, 0) == CURLUE_OK)
                printf("  %s: %s\n", parts[p].name, text);
            curl_free(text);
        }
        curl_url_cleanup(url);
    }
    return 0;
}
