/* What runs before main on a Cortex-M7 that speaks to its host by semihosting, as under QEMU. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern char data_start[], data_end[], data_load[], bss_start[], bss_end[], stack_top[];
extern int main(void);
extern void initialise_monitor_handles(void); /* of newlib's rdimon: standard output */

void _init(void) {}
void _fini(void) {}

static void start(void) {
  *(volatile uint32_t*) 0xE000ED88u |= 0xFu << 20; /* CPACR: switch the floating-point unit on */
  __asm volatile("dsb\n\tisb");
  memcpy(data_start, data_load, (size_t) (data_end - data_start));
  memset(bss_start, 0, (size_t) (bss_end - bss_start));
  initialise_monitor_handles();
  exit(main());
}

static void fault(void) {
  abort();
}

__attribute__((section(".vectors"), used)) static void* const vectors[] = {
  stack_top, (void*) start, (void*) fault, (void*) fault, (void*) fault, (void*) fault, (void*) fault,
};
