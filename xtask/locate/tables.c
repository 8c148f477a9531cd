/* Statistics of tables: each begins with its number of rows and columns. */
#include <stdio.h>
#include <stdlib.h>

#define MOST 8

static long cells[MOST][MOST];
static int rows;
static int columns;
static int tables = 0;
static int skipped = 0;
static long grand_total = 0;

static long row_sum(int row) {
    long sum = 0;
    for (int i = 0; i < columns; i++)
        sum += cells[row][i];
    return sum;
}

static long column_sum(int column) {
    long sum = 0;
    for (int i = 0; i < rows; i++)
        sum += cells[i][column];
    return sum;
}

static int read_table(void) {
    int bad = 0;
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            long value;
            if (scanf("%ld", &value) != 1)
                return -1;
            if (value < -4) {
                bad++;
                value = 0;
            }
            cells[i][j] = value;
        }
    }
    return bad;
}

static void sort(long *list, int count) {
    for (int i = 1; i < count; i++) {
        long value = list[i];
        int j = i - 1;
        while (j >= 0 && list[j] > value) {
            list[j + 1] = list[j];
            j--;
        }
        list[j + 1] = value;
    }
}

static long median(void) {
    long list[MOST * MOST];
    int count = 0;
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            list[count] = cells[i][j];
            count++;
        }
    }
    sort(list, count);
    if (count % 2 == 1)
        return list[count / 2];
    return (list[count / 2 - 1] + list[count / 2]) / 2;
}

static int best_row(void) {
    int best = 0;
    long most = row_sum(0);
    for (int i = 1; i < rows; i++) {
        long sum = row_sum(i);
        if (sum > most) {
            most = sum;
            best = i;
        }
    }
    return best;
}

static int is_symmetric(void) {
    if (rows != columns)
        return 0;
    for (int i = 0; i < rows; i++)
        for (int j = i + 1; j < columns; j++)
            if (cells[i][j] != cells[j][i])
                return 0;
    return 1;
}

static long spread(void) {
    long least = cells[0][0];
    long most = cells[0][0];
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            if (cells[i][j] < least)
                least = cells[i][j];
            if (cells[i][j] > most)
                most = cells[i][j];
        }
    }
    return most - least;
}

static long deviation(long total) {
    long sum = 0;
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            long expected = 0;
            if (total != 0)
                expected = row_sum(i) * column_sum(j) / total;
            long difference = cells[i][j] - expected;
            if (difference < 0)
                difference = -difference;
            sum += difference;
        }
    }
    return sum;
}

static long longest_rise(void) {
    long longest = 0;
    for (int i = 0; i < rows; i++) {
        long length = 1;
        for (int j = 1; j < columns; j++) {
            if (cells[i][j] > cells[i][j - 1])
                length++;
            else
                length = 1;
            if (length > longest)
                longest = length;
        }
    }
    return longest;
}

static long diagonal(void) {
    long sum = 0;
    int shorter = rows < columns ? rows : columns;
    for (int i = 0; i < shorter; i++)
        sum += cells[i][i];
    return sum;
}

static void show(int bad) {
    long total = 0;
    for (int i = 0; i < rows; i++)
        total += row_sum(i);
    grand_total += total;
    printf("table %d: total %ld, mean %ld, median %ld\n", tables, total, total / (rows * columns), median());
    printf("  best row %d, spread %ld, diagonal %ld\n", best_row() + 1, spread(), diagonal());
    printf("  deviation %ld, rise %ld%s\n", deviation(total), longest_rise(), is_symmetric() ? ", symmetric" : "");
    if (bad > 0)
        printf("  %d cells ignored\n", bad);
    for (int j = 0; j < columns; j++)
        printf("%s%ld", j > 0 ? " " : "  columns ", column_sum(j));
    printf("\n");
}

int main(void) {
    while (scanf("%d %d", &rows, &columns) == 2) {
        tables++;
        if (rows < 0 || columns < 0 || rows > MOST || columns > MOST) {
            printf("table %d is too large\n", tables);
            return 1;
        }
        if (rows == 0 || columns == 0) {
            skipped++;
            continue;
        }
        int bad = read_table();
        if (bad < 0) {
            printf("table %d ends early\n", tables);
            return 1;
        }
        show(bad);
    }
    printf("%d tables, %d empty, total %ld\n", tables, skipped, grand_total);
    return 0;
}
