// renameat2(2) of Linux, renamex_np(2) of macOS.
const AT_FDCWD = -100;
const EXCHANGE = 2;

/**
 * Makes two folders of one file system change places in one step: whoever looks sees each name all the time. False where the
 * system or the file system cannot; nothing has changed then.
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
