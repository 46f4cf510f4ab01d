/* An auditor of the dynamic linker that wants to see calls return, as tracers of calls do: whatever is called through a procedure
 * linkage table then seems to be called by the linker itself.
 */
#include <link.h>

unsigned la_version(unsigned version)
{
    return version;
}

unsigned la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie)
{
    (void)map, (void)space, (void)cookie;
    return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

ElfW(Addr)
    la_x86_64_gnu_pltenter(ElfW(Sym) * symbol, unsigned index, uintptr_t *from, uintptr_t *to,
                           La_x86_64_regs *registers, unsigned *flags, const char *name, long *framesize)
{
    (void)index, (void)from, (void)to, (void)registers, (void)flags, (void)name;
    *framesize = 256;
    return symbol->st_value;
}
