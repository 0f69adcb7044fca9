/**
 * Returns memory that the C library keeps for later allocations to the system: freed buffers of a load are between
 * buffers still in use, and would be kept forever. Only glibc has a call for it; elsewhere nothing is done.
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
