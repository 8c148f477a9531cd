/* Puts a host name into a URL and prints both as curl has them then. */
#include <curl/curl.h>
#include <stdio.h>

static void print_part(CURLU *url, const char *name, CURLUPart what, unsigned flags) {
    char *text = NULL;
    CURLUcode code = curl_url_get(url, what, &text, flags);
    printf("  %s: %s\n", name, code ? curl_url_strerror(code) : text);
    curl_free(text);
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        CURLU *url = curl_url();
        CURLUcode code = curl_url_set(url, CURLUPART_URL, "http://localhost:8080/index.html", 0);
        if (code == CURLUE_OK)
            code = curl_url_set(url, CURLUPART_HOST, argv[i], 0);
        printf("%s: %s\n", argv[i], curl_url_strerror(code));
        print_part(url, "host", CURLUPART_HOST, 0);
        print_part(url, "decoded", CURLUPART_HOST, CURLU_URLDECODE);
        print_part(url, "port", CURLUPART_PORT, 0);
        curl_url_cleanup(url);
    }
    return 0;
}
