/* never.c: a program that does nothing and never allocates; see startup.c. */
int
main(void)
{
    return 0;
}
