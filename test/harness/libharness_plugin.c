/* libharness_plugin.c: a library that the harness loads and unloads while it runs. */

void plugin(void (*call)(void *), void *argument);

void
plugin(void (*call)(void *), void *argument)
{
    call(argument);
    __asm__ volatile("");
}
