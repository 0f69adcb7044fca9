import { realpathSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { type ConsentStore, digestSetup, readConsents } from '../../../core/access/index.ts';
import { SvcError } from '../../../core/base/errors.ts';
import { isInsideFolder } from '../../../core/base/paths.ts';
import { sentence } from '../../../core/base/sentence.ts';

/** The parts of the configuration about projects and their setup. */
export interface SetupConfig {
  project: { name: string; root: string };
  projects: readonly {
    id: string;
    path: string;
    setup: readonly string[];
    teardown: readonly string[];
    env_files: readonly string[];
    run: Readonly<Record<string, string>>;
  }[];
}

/** `changed`: a consent exists, but for commands that differ from the current ones. */
export type ConsentState = 'not_needed' | 'given' | 'changed' | 'none';

/** A command of a project that a person starts in a worktree. */
export interface RunCommand {
  name: string;
  command: string;
}

/** A project with its setup and whether that may be used on this machine. */
export interface ProjectSetup {
  id: string;
  /** Absolute. */
  folder: string;
  /** The workspace's own project, or an entry for its folder. */
  own: boolean;
  setup: readonly string[];
  teardown: readonly string[];
  /** Relative to the folder. */
  envFiles: readonly string[];
  run: readonly RunCommand[];
  consent: ConsentState;
  /** Digest of exactly this content; consents refer to it. */
  digest: string;
  /** True if the folder is outside the workspace, and no one on this machine has agreed to it. */
  folderWaits: boolean;
  /** The reason why a recorded consent is invalid; null if the record is fine. */
  problem: string | null;
}

export interface ProjectScope {
  root: string;
  config: SetupConfig;
  /** The machine home. */
  home: string;
}

const NOTHING = { setup: [], teardown: [], env_files: [], run: {} };

/** Reports whether the folder is outside the workspace, links included. */
function isOutside(root: string, folder: string): boolean {
  try {
    return !isInsideFolder(realpathSync(root), realpathSync(folder));
  } catch {
    // It does not exist, so its name decides.
    return !isInsideFolder(root, folder);
  }
}

/** Reports whether someone agreed to a configuration file with this entry and path. */
const hasAgreedTo = ({ files }: ConsentStore, { id, path }: { id: string; path: string }): boolean =>
  Object.values(files).some(
    ({ tree: { projects } }) =>
      Array.isArray(projects) && projects.some((entry) => entry?.id === id && entry?.path === path),
  );

type Entry = SetupConfig['projects'][number] & { folder: string };

function listProjectEntries({ root, config }: Pick<ProjectScope, 'root' | 'config'>): {
  ownFolder: string;
  all: Entry[];
} {
  const ownFolder = resolve(root, config.project.root);
  const entries = config.projects.map((entry) => ({ ...entry, folder: resolve(root, entry.path) }));
  // The own project has no entry unless one names its folder.
  const all = entries.some(({ folder }) => folder === ownFolder)
    ? entries
    : [{ id: config.project.name, path: config.project.root, folder: ownFolder, ...NOTHING }, ...entries];
  return { ownFolder, all };
}

const digestEntry = (root: string, { folder, setup, teardown, env_files: envFiles, run }: Entry): string =>
  digestSetup({ path: relative(root, folder), setup, teardown, envFiles, run });

/** Reports whether an entry has neither commands nor files. */
const isBareEntry = ({ setup, teardown, env_files: envFiles, run }: Entry): boolean =>
  setup.length + teardown.length + envFiles.length + Object.keys(run).length === 0;

const unknownProjectError = (project: string | null): SvcError =>
  new SvcError('unknown_project', `no project ${JSON.stringify(project)} in projects`, {
    hint: sentence`{project.list}`,
  });

/** The digest of a project's setup, without checking consent. Throws `unknown_project`. */
export function digestProjectSetup(
  where: Pick<ProjectScope, 'root' | 'config'>,
  project: string | null,
): string {
  const { ownFolder, all } = listProjectEntries(where);
  const isOwn = project === null || project === where.config.project.name;
  const found = all.find(({ id, folder }) => (isOwn ? folder === ownFolder : id === project));
  if (found === undefined) throw unknownProjectError(project);
  return digestEntry(where.root, found);
}

/** Reads every project's setup, the workspace's own first. The record of consents is read again at each call. */
export function readProjectSetups({ root, config, home }: ProjectScope): ProjectSetup[] {
  const { ownFolder, all } = listProjectEntries({ root, config });
  const needsConsent = (entry: Entry): boolean => !isBareEntry(entry) || isOutside(root, entry.folder);
  const consents = all.some(needsConsent) ? readConsents(home, root) : null;
  const found = all.map((entry): ProjectSetup => {
    const { id, folder, setup, teardown, env_files: envFiles, run } = entry;
    const digest = digestEntry(root, entry);
    const agreed = consents?.projects[id]?.digest;
    const isBare = isBareEntry(entry);
    const folderWaits =
      folder !== ownFolder &&
      isOutside(root, folder) &&
      agreed !== digest &&
      !(consents !== null && hasAgreedTo(consents, entry));
    return {
      id,
      folder,
      own: folder === ownFolder,
      setup,
      teardown,
      envFiles,
      run: Object.entries(run).map(([name, command]) => ({ name, command })),
      consent:
        isBare && !folderWaits
          ? 'not_needed'
          : agreed === digest
            ? 'given'
            : agreed === undefined
              ? 'none'
              : 'changed',
      digest,
      folderWaits,
      problem: isBare && !folderWaits ? null : (consents?.problem ?? null),
    };
  });
  return found.sort((one, other) => Number(other.own) - Number(one.own));
}

/** Reads the setup of a project; null, and the own project's name, mean the own one. Throws `unknown_project`. */
export function readProjectSetup(where: ProjectScope, project: string | null): ProjectSetup {
  const all = readProjectSetups(where);
  const isOwn = project === null || project === where.config.project.name;
  const found = isOwn ? all[0] : all.find(({ id }) => id === project);
  if (found !== undefined) return found;
  throw unknownProjectError(project);
}

/** Throws `consent_missing` if a project's setup may not be used. */
export const requireConsentedSetup = (where: ProjectScope, project: string | null): void =>
  requireConsent(readProjectSetup(where, project));

/** Throws `consent_missing` if a project's setup may not be used. */
export function requireConsent(setup: ProjectSetup): void {
  const { consent } = setup;
  if (consent !== 'given' && consent !== 'not_needed') throw consentMissingError(setup);
}

/** Checks that work in the project's own folder is allowed, without a setup. Throws `consent_missing`. */
export function checkProjectFolder(where: ProjectScope, project: string | null): void {
  const found = readProjectSetup(where, project);
  if (found.folderWaits) throw consentMissingError(found);
}

function consentMissingError({ id, folder, consent, folderWaits, problem }: ProjectSetup): SvcError {
  const why = folderWaits
    ? `the project ${id} is the folder ${folder}, outside the workspace, and no one on this machine has agreed to it`
    : consent === 'changed'
      ? `the commands or files that project ${id} uses in its worktrees have changed since a person on this machine agreed to them`
      : `the project ${id} has commands or files for its worktrees that no one on this machine has agreed to`;
  return new SvcError('consent_missing', problem === null ? why : `${why}: ${problem}`, {
    hint: sentence`{project.trust ${id}} shows them and asks for consent`,
    data: { project: id, consent },
  });
}
