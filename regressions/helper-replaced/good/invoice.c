/* Adds up an invoice: quantity, price and name on each line. */
#include <stdio.h>

#include "money.h"

#define TAX 0.19

int main(void) {
    int quantity;
    double price;
    char name[40];
    long sum = 0;
    long tax;

    while (scanf("%d %lf %39s", &quantity, &price, name) == 3) {
        long cents = money_round(quantity * price);
        money_print(name, cents);
        sum += cents;
    }
    tax = sum * 19 / 100;
    money_print("net", sum);
    money_print("tax", tax);
    money_print("total", sum + tax);
    return 0;
}
