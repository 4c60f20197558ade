/* order.c: 100 orders of 48 bytes; 90 are delivered. */
#include <stdlib.h>

struct order {
    char what[48];
};

static struct order *open_orders[100];

__attribute__((noinline)) static struct order *
take_order(void)
{
    return malloc(sizeof(struct order));
}

int
main(void)
{
    for (int i = 0; i < 100; i++)
        open_orders[i] = take_order();
    for (int i = 0; i < 90; i++)
        free(open_orders[i]);
    return 0;
}
