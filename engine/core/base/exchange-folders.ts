// renameat2(2) of Linux, renamex_np(2) of macOS.
const AT_FDCWD = -100;
const EXCHANGE = 2;

/**
 * Swaps two folders of one file system in one step: both names exist at all times. Returns false, without any change,
 * if the system or the file system does not support it.
 */
export async function exchangeFolders(one: string, other: string): Promise<boolean> {
  try {
    const { default: koffi } = await import('koffi');
    const library = koffi.load(null);
    if (process.platform === 'linux')
      return (
        library.func('int renameat2(int, const char *, int, const char *, unsigned int)')(
          ...[AT_FDCWD, one, AT_FDCWD, other, EXCHANGE],
        ) === 0
      );
    if (process.platform !== 'darwin') return false;
    return (
      library.func('int renamex_np(const char *, const char *, unsigned int)')(one, other, EXCHANGE) === 0
    );
  } catch {
    return false;
  }
}
