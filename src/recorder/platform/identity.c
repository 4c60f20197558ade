/* identity.c: finds the process that owns the caller's memory.
 *
 * A child made by vfork or clone(CLONE_VM) is a guest: it runs in its parent's memory. Its events
 * belong to the parent's profile, which outlives the guest. So a guest that starts recording must
 * do so for its parent, and so must a guest that joins.
 *
 * The owner's pid is on a page that the kernel wipes in a forked child (MADV_WIPEONFORK):
 *
 *     on the page         the caller is
 *     its own pid         the owner
 *     another pid         a guest of that process
 *     0, or no page       an unreported forked child, which counts as the owner
 *
 * A fork by a raw system call is not reported to the recorder. If a guest of such a child allocates
 * before the child does, the guest counts as the owner.
 */
#include "platform/process.h"

#include <errno.h>
#include <sys/mman.h>

#include "base/atomics.h"
#include "platform/mem.h"
#include "platform/sys.h"

enum { PAGE_BYTES = 4096 };

static int *owner; // Address of the word with the owner's pid, which is atomic; NULL = the kernel
                   // refused the page.

static int *
new_page(void)
{
    int *page =
        sys_mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (sys_failed(page))
        return NULL;
    if (sys_madvise(page, PAGE_BYTES, MADV_WIPEONFORK) < 0) {
        sys_munmap(page, PAGE_BYTES);
        return NULL;
    }
    mem_exclude(page, PAGE_BYTES);
    return page;
}

void
identity_own(void)
{
    int pid = sys_getpid();

    if (owner == NULL)
        owner = new_page();
    if (owner != NULL && pid > 0)
        store_relaxed(owner, pid);
}

void
identity_release(void)
{
    if (owner != NULL)
        sys_munmap(owner, PAGE_BYTES);
    owner = NULL;
}

/* Return the owner of the memory that the process PID runs in. When an owner has ended, its memory
 * passes to its guests. */
static int
identity_owner_of(int pid)
{
    int noted = owner != NULL ? load_relaxed(owner) : 0;

    if (noted == 0 || noted == pid || pid < 0)
        return pid;
    return sys_tgkill(noted, noted, 0) != -ESRCH ? noted : pid;
}

bool
identity_is_guest(void)
{
    int pid = sys_getpid();

    return identity_owner_of(pid) != pid;
}

int
identity_pid(void)
{
    return identity_owner_of(sys_getpid());
}
