import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { readdir, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Storage } from '../../storage/index.ts';
import { defineRetentionKind, type RetentionKind } from './kind.ts';
import { IS_SETTLED } from './settled.ts';

const AT_ONCE = 100;
const FOLDER = /^s-([1-9]\d{0,14})$/;

/** Work that a removal or a sandbox has left: kept until a person has checked it. */
const isWork = (name: string): boolean =>
  name === 'ignored' || name === 'git' || name.startsWith('git.kept-');

/** The folders of sessions: their logs, prompts, and files of their agents. */
export function logRetention({
  storage: { db },
  agentsDir,
}: {
  storage: Pick<Storage, 'db'>;
  agentsDir: string;
}): RetentionKind {
  const findSession = db.prepare<unknown[], { is_over: number }>(
    `SELECT (${IS_SETTLED} AND s.ended_at < ?) AS is_over FROM session s WHERE s.id = ?`,
  );

  /** A folder of an unknown session is as old as its last change. */
  function isExpiredLog(name: string, cutoff: number): boolean {
    const row = findSession.get(cutoff, Number(FOLDER.exec(name)?.[1]));
    if (row !== undefined) return row.is_over === 1;
    const found = lstatSync(join(agentsDir, name), { throwIfNoEntry: false });
    return found?.isDirectory() === true && found.mtimeMs < cutoff;
  }

  return defineRetentionKind<string>({
    key: 'logs',
    label: 'folders of sessions, with their logs',
    async *find(cutoff) {
      const names = readFolder(agentsDir).filter((each) => each.isDirectory() && FOLDER.test(each.name));
      for (let at = 0; at < names.length; at += AT_ONCE) {
        const found = names.slice(at, at + AT_ONCE).filter(({ name }) => isExpiredLog(name, cutoff));
        const sizes = await Promise.all(found.map(({ name }) => measureFolder(join(agentsDir, name))));
        yield found.flatMap(({ name }, index) => {
          const { bytes, entries } = sizes[index]!;
          return entries === 0 ? [] : [{ item: name, bytes }];
        });
      }
    },
    async remove(part, cutoff, writer) {
      const gone: typeof part = [];
      for (const each of part) {
        const begun = performance.now();
        if (!isExpiredLog(each.item, cutoff)) continue;
        const folder = join(agentsDir, each.item);
        for (const { name } of readFolder(folder))
          if (!isWork(name)) await rm(join(folder, name), { recursive: true, force: true, maxRetries: 3 });
        // With work in it, it stays.
        await rmdir(folder).catch(() => undefined);
        gone.push(each);
        // Another thread does it, and this one is free for other work.
        await writer.rest((performance.now() - begun) / 4);
      }
      return gone;
    },
  });
}

function readFolder(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Counts the bytes and entries of a folder to remove; links are not followed. */
async function measureFolder(folder: string): Promise<{ bytes: number; entries: number }> {
  const entries = readFolder(folder).filter(({ name }) => !isWork(name));
  let bytes = 0;
  const queue = entries.map((entry) => ({ path: join(folder, entry.name), entry }));
  for (let at = 0; at < queue.length; at += 1) {
    const { path, entry } = queue[at]!;
    if (entry.isFile()) bytes += (await stat(path).catch(() => null))?.size ?? 0;
    if (!entry.isDirectory()) continue;
    const inner = await readdir(path, { withFileTypes: true }).catch(() => []);
    queue.push(...inner.map((each) => ({ path: join(path, each.name), entry: each })));
  }
  return { bytes, entries: Math.max(entries.length, readFolder(folder).length === 0 ? 1 : 0) };
}
