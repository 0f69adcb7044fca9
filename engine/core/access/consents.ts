import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { writeFileAtomically } from '../base/atomic-file.ts';

const given = { at: z.string(), actor: z.string() };

const stored = z.object({
  root: z.string(),
  projects: z.record(z.string(), z.object({ digest: z.string(), ...given })).default({}),
  files: z
    .record(
      z.string(),
      z.object({
        tree: z.record(z.string(), z.unknown()),
        how: z.enum(['written', 'trusted', 'first_use']),
        ...given,
      }),
    )
    .default({}),
  waiting: z.record(z.string(), z.object({ since: z.string() })).default({}),
  shares: z.record(z.string(), z.record(z.string(), z.object(given))).default({}),
});

type Stored = z.output<typeof stored>;

/** The content of a configuration file when a person agreed to it, without its secrets. */
export type AgreedFile = Stored['files'][string];

/**
 * A person's consents on this machine for a workspace: one file of the machine home per workspace, so that a
 * repository cannot bring its own consent.
 */
export interface ConsentStore {
  /** By project id: the consent to its setup. */
  projects: Stored['projects'];
  /** By the name of the configuration file. */
  files: Stored['files'];
  /** Configuration files, by name, that git tracked before anyone had agreed to anything. */
  waiting: Stored['waiting'];
  /** By project id and pool: the consent to send its commits to the machines of the pool. */
  shares: Stored['shares'];
  /** Why the file is ignored; null if it is valid or missing. */
  problem: string | null;
}

const digestText = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Returns the digest of a setup: the same lists in the same place have the same digest. */
export const digestSetup = (setup: {
  path: string;
  setup: readonly string[];
  teardown: readonly string[];
  envFiles: readonly string[];
  run: Readonly<Record<string, string>>;
}): string =>
  digestText(
    JSON.stringify({
      env_files: setup.envFiles,
      path: setup.path,
      // Left out if empty: a consent from before there were such commands stays valid.
      ...(Object.keys(setup.run).length === 0 ? {} : { run: setup.run }),
      setup: setup.setup,
      teardown: setup.teardown,
    }),
  );

/** Returns the consents file of a workspace; engines of other workspaces write other files. */
export const resolveConsentsFile = (home: string, root: string): string =>
  join(home, 'consents', `${digestText(realpathSync(root)).slice(0, 16)}.json`);

const NOTHING = { projects: {}, files: {}, waiting: {}, shares: {} };

/**
 * Reads the consents again at each call. A file that others can change, or that is unreadable, counts as empty and
 * gives the reason.
 */
export function readConsents(home: string, root: string): ConsentStore {
  const file = resolveConsentsFile(home, root);
  const unusableConsents = (why: string): ConsentStore => ({ ...NOTHING, problem: `${file} ${why}` });
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found === undefined) return { ...NOTHING, problem: null };
    const isOthers = process.getuid !== undefined && found.uid !== process.getuid();
    if (isOthers || (found.mode & 0o022) !== 0)
      return unusableConsents('can be changed by others, so it is ignored');
    const { root: of, ...consents } = stored.parse(JSON.parse(readFileSync(file, 'utf8')));
    return of === realpathSync(root)
      ? { ...consents, problem: null }
      : unusableConsents('belongs to another workspace');
  } catch {
    return unusableConsents('cannot be read');
  }
}

/** Changes a workspace's record and returns the file. Content that was ignored before is dropped. */
export function changeConsents(
  home: string,
  root: string,
  change: (consents: Omit<ConsentStore, 'problem'>) => void,
): string {
  const { problem: _, ...consents } = structuredClone(readConsents(home, root));
  change(consents);
  const file = resolveConsentsFile(home, root);
  mkdirSync(join(home, 'consents'), { recursive: true, mode: 0o700 });
  const text = JSON.stringify({ root: realpathSync(root), ...consents }, null, 2);
  writeFileAtomically(file, `${text}\n`);
  return file;
}

/** Lists the configuration files of workspaces that a person has used on this machine, absolute; some may no longer exist. */
export function listKnownConfigFiles(home: string): string[] {
  const folder = join(home, 'consents');
  const names = (() => {
    try {
      return readdirSync(folder).filter((name) => name.endsWith('.json'));
    } catch {
      return [];
    }
  })();
  return names.flatMap((name) => {
    try {
      const { root, files, waiting } = stored.parse(JSON.parse(readFileSync(join(folder, name), 'utf8')));
      return [...Object.keys(files), ...Object.keys(waiting)].map((file) => join(root, file));
    } catch {
      return [];
    }
  });
}

/** Records a person's consent to a project's setup, or with null withdraws it. Returns the file. */
export const writeProjectConsent = (
  home: string,
  root: string,
  id: string,
  consent: { digest: string; at: string; actor: string } | null,
): string =>
  changeConsents(home, root, ({ projects }) => {
    if (consent === null) delete projects[id];
    else projects[id] = consent;
  });
