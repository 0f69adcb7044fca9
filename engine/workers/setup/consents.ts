import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, realpathSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';

/**
 * What a person on this machine has agreed to run for a workspace: one file of the machine home per workspace, so that
 * a repository cannot bring its own consent along.
 */
export interface Consents {
  /** By project id: the digest of what was agreed to. */
  digests: ReadonlyMap<string, string>;
  /** Why the file does not count; null when it does, or is not there. */
  problem: string | null;
}

const stored = z.object({
  root: z.string(),
  projects: z.record(z.string(), z.object({ digest: z.string(), at: z.string(), actor: z.string() })),
});
type Stored = z.output<typeof stored>;

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The same lists in the same place have the same digest. */
export const digestOfSetup = (setup: {
  path: string;
  setup: readonly string[];
  teardown: readonly string[];
  envFiles: readonly string[];
}): string =>
  digestOf(
    JSON.stringify({
      env_files: setup.envFiles,
      path: setup.path,
      setup: setup.setup,
      teardown: setup.teardown,
    }),
  );

/** The file of a workspace; other workspaces' engines write other files. */
export const consentsFile = (home: string, root: string): string =>
  join(home, 'consents', `${digestOf(realpathSync(root)).slice(0, 16)}.json`);

function read(home: string, root: string): { stored: Stored; problem: string | null } {
  const nothing: Stored = { root: realpathSync(root), projects: {} };
  const file = consentsFile(home, root);
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return { stored: nothing, problem: null };
  const isOthers = process.getuid !== undefined && found.uid !== process.getuid();
  if (isOthers || (found.mode & 0o022) !== 0)
    return { stored: nothing, problem: `${file} can be changed by others, so it does not count` };
  try {
    const parsed = stored.parse(JSON.parse(readFileSync(file, 'utf8')));
    return parsed.root === nothing.root
      ? { stored: parsed, problem: null }
      : { stored: nothing, problem: `${file} is of another workspace` };
  } catch {
    return { stored: nothing, problem: `${file} cannot be read` };
  }
}

export function readConsents(home: string, root: string): Consents {
  const { stored, problem } = read(home, root);
  return {
    digests: new Map(Object.entries(stored.projects).map(([id, { digest }]) => [id, digest])),
    problem,
  };
}

/** Records a person's consent for a project, or with null takes it back. Returns the file. */
export function writeConsent(
  home: string,
  root: string,
  id: string,
  consent: { digest: string; at: string; actor: string } | null,
): string {
  const { root: real, projects } = read(home, root).stored;
  const { [id]: _, ...others } = projects;
  const text = JSON.stringify(
    { root: real, projects: consent ? { ...others, [id]: consent } : others },
    null,
    2,
  );
  const file = consentsFile(home, root);
  mkdirSync(join(home, 'consents'), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  writeFileSync(draft, `${text}\n`, { flag: 'wx', mode: 0o600 });
  renameSync(draft, file);
  return file;
}
