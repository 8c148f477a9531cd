/* Day, month and year: is it a date, and which day of the year? */
#include <stdio.h>

int main(void) {
    int day = getchar(), month = getchar(), year = getchar();
    static const int before[12] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    int leap = year % 4 == 0;
    int days = 31;
    int warm = 0;
    if (month == 4 || month == 6 || month == 9 || month == 11)
        days = 30;
    if (month == 2) {
        days = 28;
        if (leap)
            days = 29;
    }
    if (month > 5 && month < 9)
        warm = 1;
    if (day > 20)
        warm = !warm;
    if (month < 1 || month > 12 || day < 1 || day > days) {
        printf("no date\n");
        return 1;
    }
    int number = before[month - 1] + day;
    if (leap && month > 2)
        number++;
    printf("%d\n", number);
    return 0;
}
