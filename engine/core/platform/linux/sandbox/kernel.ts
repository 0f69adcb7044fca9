import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const PROC = '/proc';
/** Entries of `/proc` that link to the reading process's own. */
const OF_READER = new Set(['self', 'thread-self', 'net', 'mounts']);

/**
 * Builds bubblewrap's arguments that make kernel settings read-only. A sandbox has a new `/proc`, whose kernel
 * settings root outside may write, regardless of the user inside: `kernel.core_pattern` names a program that the
 * kernel runs as root. `/sys` is read-only with the rest of the file system. Read again for each run, since a loaded
 * module may add entries.
 */
export function buildKernelArgs(): string[] {
  const words: string[] = [];
  for (const { name, isFolder, mode } of listProcEntries()) {
    const path = join(PROC, name);
    if (isFolder || (mode & 0o222) !== 0) words.push('--ro-bind', path, path);
    // Only root may read it, such as the machine's memory.
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
