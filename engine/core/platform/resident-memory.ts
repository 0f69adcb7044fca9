/** Returns the resident memory of this process, bytes; 0 on a Linux without `/proc`, where Node cannot read it. */
export function readResidentBytes(): number {
  try {
    return process.memoryUsage.rss();
  } catch {
    return 0;
  }
}
