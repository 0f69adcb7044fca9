/**
 * Gives memory that the C library keeps for later allocations back to the system: freed buffers of a load lie between some that
 * are still used, and are kept for ever otherwise. Only glibc has a call for that; elsewhere nothing is done.
 */
export async function trimAllocator(): Promise<void> {
  if (process.platform !== 'linux') return;
  try {
    const { default: koffi } = await import('koffi');
    koffi.load(null).func('int malloc_trim(size_t)')(0);
  } catch {
    // Another C library, or a system for which koffi is not built.
  }
}
