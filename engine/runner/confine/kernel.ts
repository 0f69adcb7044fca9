import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const PROC = '/proc';
/** Of `/proc`: links to what belongs to the process that looks. */
const OF_READER = new Set(['self', 'thread-self', 'net', 'mounts']);

/**
 * bubblewrap's words that make the switches of the kernel read-only. `/proc` of a sandbox is a new one, and what it shows of
 * the kernel may be written by whoever is root outside, whatever user that is inside: `kernel.core_pattern` names a program
 * that the kernel runs as root. `/sys` is read-only with the file system around it. Read anew for each run: a module that is
 * loaded may add some.
 */
export function buildKernelArgs(): string[] {
  const words: string[] = [];
  for (const { name, isFolder, mode } of listProcEntries()) {
    const path = join(PROC, name);
    if (isFolder || (mode & 0o222) !== 0) words.push('--ro-bind', path, path);
    // For root's eyes only, such as the machine's memory.
    else if ((mode & 0o077) === 0) words.push('--ro-bind', '/dev/null', path);
  }
  return words;
}

function listProcEntries(): { name: string; isFolder: boolean; mode: number }[] {
  return readdirSync(PROC).flatMap((name) => {
    if (/^\d+$/.test(name) || OF_READER.has(name)) return [];
    try {
      const stat = statSync(join(PROC, name));
      return [{ name, isFolder: stat.isDirectory(), mode: stat.mode }];
    } catch {
      return []; // of a module that is being unloaded
    }
  });
}
