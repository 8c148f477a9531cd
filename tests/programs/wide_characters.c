// Wide strings and multibyte conversion.
// expect: 10 10
// expect: NAÏVE CAFÉ
// expect: 1 wide
// expect: 12-x 12
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>
#include <wctype.h>

int main(void) {
    setlocale(LC_ALL, "C.UTF-8");
    const char *s = "naïve café";
    wchar_t w[32];
    size_t n = mbstowcs(w, s, 32);
    printf("%zu %zu\n", n, wcslen(w));
    for (size_t i = 0; i < n; i++) w[i] = (wchar_t)towupper((wint_t)w[i]);
    char back[64];
    wcstombs(back, w, sizeof back);
    puts(back);
    printf("%d %ls\n", wcscmp(w, L"NAÏVE") > 0, L"wide");
    wchar_t num[16];
    swprintf(num, 16, L"%d-%ls", 12, L"x");
    printf("%ls %ld\n", num, wcstol(num, NULL, 10));
    return 0;
}
