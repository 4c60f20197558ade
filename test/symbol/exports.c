/* exports.c: a library with one exported and one hidden function. After strip, only the exported
 * one has a name. */
__attribute__((visibility("hidden"), noinline)) int hidden_work(int x);
__attribute__((noinline)) int exported_work(int x);

int
hidden_work(int x)
{
    __asm__ volatile(".globl mark_hidden\n.hidden mark_hidden\nmark_hidden: nop" : "+r"(x));
    return x * 3;
}

int
exported_work(int x)
{
    __asm__ volatile(".globl mark_exported\n.hidden mark_exported\nmark_exported: nop" : "+r"(x));
    return hidden_work(x) + 1;
}
