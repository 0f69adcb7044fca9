import type { Call, Caller } from '../../api/operation.ts';
import { SvcError } from '../../base/errors.ts';
import type { Contributor, PlannedWrite } from '../../hooks/index.ts';
import type { WorkspacePaths } from '../../workspace/workspace-path.ts';
import { createLanguageTable } from '../sources/index.ts';
import { checkProject } from './check-project.ts';
import { fillCopySettings } from './copies/settings.ts';
import { tellOfCopies } from './describe-copy.ts';
import { chooseCopyMode, type GuardConfig } from './profiles.ts';
import { createGuardThread } from './thread/thread.ts';
import type { CopyReport } from './writes/check-writes.ts';

export { findProfile } from './profiles.ts';

export interface GuardDeps {
  /** The file of fingerprints, absolute. */
  file: string;
  env: NodeJS.ProcessEnv;
  /** Folders that hold no sources of a project, absolute: the data folder, the worktrees. */
  without: readonly string[];
  settings(): GuardSettings;
  paths: Pick<WorkspacePaths, 'findSourceFolder' | 'resolveInside'>;
  /** The folder of a project; null is the workspace's own. Throws `unknown_project`. */
  projectFolder(project: string | null): string;
  /** The worktree of a session; null without one. Throws `not_found` for an unknown session. */
  worktreeOf(session: string): string | null;
  log: { warn(facts: object, text: string): void };
}

export interface GuardSettings {
  guard: GuardConfig;
  /** `parsers` of svc.yaml. */
  parsers: Readonly<Record<string, string>>;
}

/** What `guard.check` is asked. */
export interface CheckInput {
  paths?: readonly string[] | undefined;
  range?: string | undefined;
  project?: string | undefined;
  session?: string | undefined;
}

export type Guard = ReturnType<typeof createGuard>;

/** How long an agent waits for the comparison before it writes, ms; the thread stops by itself a little earlier. */
const DEADLINE_MS = 40;
const BUDGET_MS = 32;

/** Owns what is compared with the project's own code before an agent writes it. */
export function createGuard({
  file,
  env,
  without,
  settings,
  paths,
  projectFolder,
  worktreeOf,
  log,
}: GuardDeps) {
  const thread = createGuardThread(() => {
    const { guard, parsers } = settings();
    return {
      file,
      copies: fillCopySettings(guard.dup),
      env: Object.fromEntries(
        Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
      ),
      without: [...without],
      parsers: { ...parsers },
    };
  });

  /** The writes by the folder of sources that they belong to. */
  function groupWrites(writes: readonly PlannedWrite[]): Map<string, PlannedWrite[]> {
    const byFolder = new Map<string, PlannedWrite[]>();
    for (const write of writes) {
      const found = paths.findSourceFolder(write.path);
      if (found === null) continue;
      const group = byFolder.get(found.folder) ?? [];
      group.push({ ...write, path: found.absolute });
      byFolder.set(found.folder, group);
    }
    return byFolder;
  }

  async function compareInTime(writes: readonly PlannedWrite[]): Promise<CopyReport> {
    const reports = [...groupWrites(writes)].map(([root, group]) =>
      thread.call('check', { root, writes: group, budgetMs: BUDGET_MS }),
    );
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<CopyReport[]>((resolve) => {
      timer = setTimeout(() => resolve([{ copies: [], isPartial: true, files: 0 }]), DEADLINE_MS);
    });
    // What comes too late is nobody's business any more.
    for (const report of reports)
      report.catch((error: unknown) => log.warn({ error }, 'code was not compared'));
    const done = await Promise.race([Promise.all(reports), late]).finally(() => clearTimeout(timer));
    return {
      copies: done.flatMap(({ copies }) => copies),
      isPartial: done.some(({ isPartial }) => isPartial),
      files: done.reduce((sum, { files }) => sum + files, 0),
    };
  }

  /** Has the files read that a tool may have changed, and those of a folder that somebody works in for the first time. */
  function readAhead(cwd: string, touched: readonly string[]): void {
    const writes = [...groupWrites(touched.map((path) => ({ path })))];
    const here = paths.findSourceFolder(cwd)?.folder;
    const asked = writes.length > 0 || here === undefined ? writes : [[here, []] as const];
    for (const [root, group] of asked)
      thread
        .call('touch', { root, paths: group.map(({ path }) => path) })
        .catch((error: unknown) => log.warn({ error }, 'code was not read'));
  }

  return {
    close: thread.close,
    /** Checks files, a range, or what is not committed, of a project or in the worktree of a session. */
    async check(
      { paths: named, range, project, session }: CheckInput,
      caller: Caller,
      { signal, progress }: Pick<Call, 'signal' | 'progress'>,
    ) {
      if (named !== undefined && range !== undefined)
        throw new SvcError('usage', 'either paths or a range, not both');
      const whose = session ?? (project === undefined ? caller.sessionId : null);
      const worktree = whose === null ? null : worktreeOf(whose);
      if (session !== undefined && worktree === null)
        throw new SvcError('not_found', `${session} has no worktree`, {
          hint: 'leave the session out to check the project itself',
        });
      const root = worktree ?? projectFolder(project ?? caller.project);
      const keys = named?.map((path) => paths.resolveInside(root, path).key) ?? null;
      const languageOf = createLanguageTable(settings().parsers);
      const result = await checkProject(
        thread,
        { root, paths: keys, range: range ?? null, signal, progress },
        { env, isSource: (path) => languageOf(path) !== null },
      );
      const mode = chooseCopyMode(settings().guard);
      const refused = mode === 'block' && result.copies.some(({ type }) => type < 3);
      return { root, mode, refused, ...result };
    },
    /** Tells an agent of code that exists already, before it writes it again. */
    findCopiesBeforeWrite: (): Contributor => ({
      name: 'copies',
      async look({ event, writes = [], paths: touched, cwd }) {
        const mode = chooseCopyMode(settings().guard);
        if (mode === 'off') return null;
        if (event === 'post-tool' || event === 'session-start') readAhead(cwd, touched);
        if (event !== 'pre-write' || writes.length === 0) return null;
        const { copies } = await compareInTime(writes);
        const refused = mode === 'block' ? copies.filter(({ type }) => type < 3) : [];
        if (refused.length > 0) return { deny: tellOfCopies(refused, true) };
        return copies.length === 0 ? null : { context: [tellOfCopies(copies, false)] };
      },
    }),
  };
}
