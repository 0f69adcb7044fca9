import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { makePrivateFolder, replacePrivate } from '../../../../core/base/private-files.ts';

/** Named records in a file that one engine writes, and that its threads read. */
export interface KeptRecords<T> {
  get(name: string): T | undefined;
  set(name: string, record: T): void;
}

/**
 * Opens the records in a file.
 * @param file the location; null for in memory
 * @param read converts a stored record, perhaps of an older svc, into the current form
 */
export function createKeptRecords<T, Stored>(
  file: string | null,
  read: (stored: Stored) => T,
): KeptRecords<T> {
  let records = new Map<string, T>();
  let signature = '';
  /** Reads the file again if another thread has replaced it. */
  function readRecords(): Map<string, T> {
    const now = file === null ? '' : signFile(file);
    if (file === null || now === signature) return records;
    signature = now;
    records = new Map(Object.entries(parseRecords<Stored>(file)).map(([name, each]) => [name, read(each)]));
    return records;
  }
  return {
    get: (name) => readRecords().get(name),
    set(name, record) {
      readRecords().set(name, record);
      if (file === null) return;
      makePrivateFolder(dirname(dirname(file)), dirname(file));
      replacePrivate(file, JSON.stringify(Object.fromEntries(records)));
      signature = signFile(file);
    },
  };
}

/** Changes whenever the file is written or replaced; empty without one. */
export function signFile(file: string): string {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? '' : `${found.mtimeNs}.${found.ctimeNs}.${found.size}.${found.ino}`;
}

function parseRecords<T>(file: string): Record<string, T> {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, T>;
  } catch {
    return {};
  }
}
