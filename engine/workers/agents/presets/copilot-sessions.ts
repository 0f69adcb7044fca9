import { lstatSync, readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { readPrivate } from '../../../core/base/private-files.ts';
import type { RunLeft } from './preset.ts';

const SESSION_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const MOST_BYTES = 64 * 1024;

/**
 * Finds copilot's own session of a killed run: it prints the id only at its end, but has a folder with that name from
 * the start. Verified with version 1.0.102. Uncertain matches are ignored, and so are links.
 */
export async function findCopilotSession(run: RunLeft): Promise<string | null> {
  const { top, home, env, continued, since } = run;
  const folder = join(env.COPILOT_HOME || join(home, '.copilot'), 'session-state');
  if (!isFolderBelow(top, folder)) return null;
  if (continued !== null) {
    const isWritten =
      SESSION_ID.test(continued) &&
      isFolderBelow(folder, join(folder, continued)) &&
      readWriteTime(join(folder, continued, 'events.jsonl')) >= since;
    return isWritten ? continued : null;
  }
  const { parse } = await import('yaml');
  const found = readdirSync(folder).flatMap((id): { id: string; createdAt: number }[] => {
    const file = join(folder, id, 'workspace.yaml');
    if (!SESSION_ID.test(id) || !isFolderBelow(folder, join(folder, id)) || readWriteTime(file) < since)
      return [];
    const createdAt = readCreationTime(run, () => parse(readPrivate(file, MOST_BYTES) ?? ''));
    return createdAt === null ? [] : [{ id, createdAt }];
  });
  return found.sort((one, other) => other.createdAt - one.createdAt)[0]?.id ?? null;
}

/** Reads the creation time of the session that a file describes, Unix ms; null if it is not the run's, or cannot be read. */
function readCreationTime({ cwd, name, since }: RunLeft, read: () => unknown): number | null {
  let told: unknown;
  try {
    told = read();
  } catch {
    return null;
  }
  const { cwd: itsCwd, name: itsName, user_named: isNamed, created_at: at } = Object(told);
  if (itsCwd !== cwd || itsName !== name || isNamed !== true) return null;
  const createdAt = Date.parse(String(at));
  return createdAt >= since ? createdAt : null;
}

/** Returns the modification time of a file, Unix ms; before every time for anything else. */
function readWriteTime(file: string): number {
  const found = lstatSync(file, { throwIfNoEntry: false });
  return found?.isFile() ? found.mtimeMs : Number.NEGATIVE_INFINITY;
}

/** Reports whether every step from `top` down to `folder` is a folder and not a link. */
function isFolderBelow(top: string, folder: string): boolean {
  const steps = relative(top, folder).split(sep);
  return steps.every((_, at) =>
    lstatSync(join(top, ...steps.slice(0, at + 1)), { throwIfNoEntry: false })?.isDirectory(),
  );
}
