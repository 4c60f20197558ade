/* lisp_host.c: a C program with ECL embedded, used in unusual ways.
 *
 *     lisp_host damage     allocate while ECL's list of frames is damaged in all ways
 *     lisp_host again      boot, shut down, boot again
 *     lisp_host threads    two threads of C and two of Lisp
 *     lisp_host fork       a child continues to use Lisp
 *
 * The allocating Lisp function is called WORK, or WORK-A and WORK-B; it returns the number of
 * objects. */
#include <ecl/ecl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 100, PAGE = 4096 };

static volatile cl_object kept;

static void
eval(const char *text)
{
    cl_safe_eval(c_string_to_object(text), ECL_NIL, ECL_NIL);
}

/* --- Damage ----------------------------------------------------------------------------------- */

static void
allocate(struct ecl_ihs_frame *top)
{
    cl_env_ptr env = ecl_process_env();
    struct ecl_ihs_frame *before = env->ihs_top;

    env->ihs_top = top;
    for (int i = 0; i < COUNT; i++)
        kept = ecl_cons(ECL_NIL, ECL_NIL);
    env->ihs_top = before;
}

/* ECL calls this as its function SI::DAMAGE. */
static cl_object
damage(void)
{
    cl_env_ptr env = ecl_process_env();
    struct ecl_ihs_frame f[3], *top = env->ihs_top;
    char *hole = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct ecl_symbol symbol = {.t = t_symbol};
    struct ecl_base_string string = {.t = t_base_string};

    munmap(hole + PAGE, PAGE);
    memset(f, 0, sizeof f);
    // The list of frames is replaced by another list, or by an unmapped address.
    allocate(NULL);
    allocate((void *)1);
    allocate((void *)(hole + PAGE));
    allocate((void *)((char *)__builtin_frame_address(0) + ((size_t)1 << 30)));
    allocate((void *)-(size_t)8);
    // The list of frames is misaligned, or reaches beyond the end of memory.
    allocate((void *)((char *)top + 1));
    allocate((void *)(hole + PAGE - 8));
    // The list of frames is a circle of one frame, or of two frames without a function.
    f[0] = (struct ecl_ihs_frame){.next = &f[0], .function = ECL_NIL};
    allocate(&f[0]);
    f[0].next = &f[1];
    f[1].next = &f[0];
    allocate(&f[0]);
    f[0].function = f[1].function = top->function;
    allocate(&f[0]);
    // The next frame is unmapped.
    f[0].next = (void *)((char *)&f[0] + ((size_t)1 << 31));
    allocate(&f[0]);
    // The frame's function is another kind of object, is at an unmapped address, or has an unmapped
    // name.
    f[0] = (struct ecl_ihs_frame){.next = top, .function = (cl_object)0x123456780};
    allocate(&f[0]);
    f[0].function = (cl_object)(hole + PAGE - 4);
    allocate(&f[0]);
    f[0].function = (cl_object)&symbol;
    symbol.name = (cl_object)(hole + PAGE);
    symbol.hpack = (cl_object)(hole + PAGE);
    allocate(&f[0]);
    symbol.name = (cl_object)&string;
    string.self = (void *)(hole + PAGE - 4);
    string.fillp = (cl_index)1 << 40;
    symbol.hpack = ECL_NIL;
    f[0].index = 1; // The frame's function is replaced by another function, at another address.
    f[0].function = (cl_object)(memcpy(hole, &symbol, sizeof symbol));
    allocate(&f[0]);
    munmap(hole, PAGE);
    ecl_return1(env, ecl_make_fixnum(16 * COUNT));
}

/* --- Threads ---------------------------------------------------------------------------------- */

static void *
thread(void *form)
{
    ecl_import_current_thread(ECL_NIL, ECL_NIL);
    eval(form);
    ecl_release_current_thread();
    return NULL;
}

static void
threads(void)
{
    pthread_t a, b;

    eval("(let ((a (mp:process-run-function 'a #'work-a))"
         "      (b (mp:process-run-function 'b #'work-b)))"
         "  (mp:process-join a) (mp:process-join b))");
    pthread_create(&a, NULL, thread, "(work-a)");
    pthread_create(&b, NULL, thread, "(work-b)");
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

static void
define(void)
{
    ecl_def_c_function(ecl_make_symbol("DAMAGE", "SI"), (cl_objectfn_fixed)damage, 0);
    eval("(defun work () (loop repeat 1000 collect (make-array 3 :element-type 'bit)))");
    eval("(defun work-a () (loop repeat 1000 collect (make-array 3 :element-type 'bit)))");
    eval("(defun work-b () (loop repeat 2000 collect (make-array 3 :element-type 'bit)))");
}

int
main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int status = 0;

    cl_boot(1, argv);
    define();
    if (strcmp(what, "damage") == 0)
        eval("(defun work () (format t \"~D conses~%\" (si::damage)))");
    if (strcmp(what, "threads") == 0)
        threads();
    else
        eval("(work)");
    if (strcmp(what, "fork") == 0 && fork() == 0) {
        eval("(work-b)");
        eval("(format t \"~A~%\" (nth-value 1 (ext:run-program \"/bin/false\" nil)))");
        fflush(stdout);
        _exit(3);
    }
    if (strcmp(what, "fork") == 0)
        wait(&status);
    if (strcmp(what, "again") == 0) {
        cl_shutdown();
        cl_boot(1, argv);
        eval("(work)");
    }
    eval("(finish-output)");
    printf("done %d\n", WEXITSTATUS(status));
    cl_shutdown();
    return 0;
}
