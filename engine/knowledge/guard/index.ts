import type { HookContributor, PlannedWrite } from '../../bus/hooks/index.ts';
import { type Caller, type OperationCall, ownWorkError } from '../../core/api/operation.ts';
import { asSvcError, EXIT, SvcError } from '../../core/base/errors.ts';
import type { CallerPaths } from '../../core/workspace/caller-paths.ts';
import type { WorkspacePaths } from '../../core/workspace/workspace-path.ts';
import type { GitAccess, Worktrees } from '../../workers/runner/worktrees/index.ts';
import { createLanguageTable, findLanguage } from '../sources/index.ts';
import { type CheckRequest, type CheckResult, checkProject } from './check-project.ts';
import { fillCopySettings } from './copies/settings.ts';
import { describeCopy, tellOfCopies } from './describe-copy.ts';
import { describeLanguage, tellOfLanguages } from './describe-language.ts';
import { isDocument, readLocale } from './language/check-language.ts';
import { chooseCopyMode, findProfile, type GuardConfig, type GuardMode } from './profiles.ts';
import { createGuardThread } from './thread/thread.ts';
import type { WantedChecks, WriteReport } from './writes/check-writes.ts';

export { findProfile } from './profiles.ts';

export interface GuardDeps {
  /** The file of fingerprints, absolute. */
  file: string;
  git: GitAccess;
  worktrees: Pick<Worktrees, 'readChangedTexts'>;
  /** Folders without project sources, absolute: the data folder, the worktrees. */
  without: readonly string[];
  settings(): GuardSettings;
  paths: Pick<WorkspacePaths, 'findSourceFolder'>;
  callerPaths: Pick<CallerPaths, 'resolveBelow' | 'isOwnFolder'>;
  /** Returns the folder of a project; null is the workspace's own. Throws `unknown_project`. */
  projectFolder(project: string | null): string;
  /** Returns the worktree of a session; null without one. Throws `not_found` for an unknown session. */
  worktreeOf(session: string): string | null;
  log: { warn(facts: object, text: string): void };
}

export interface GuardSettings {
  guard: GuardConfig;
  /** `workspace.locale` and `workspace.code_lang`. */
  locale: string;
  codeLang: string;
  /** `workspace.primary_languages`; empty for the most frequent ones. */
  primaryLanguages: readonly string[];
  /** `parsers` of svc.yaml. */
  parsers: Readonly<Record<string, string>>;
}

/** The request of `guard.check`. */
export interface CheckInput {
  paths?: readonly string[] | undefined;
  range?: string | undefined;
  project?: string | undefined;
  session?: string | undefined;
}

/** The findings in finished work, in the form of a test result. */
interface WorkCheck {
  command: string;
  exitCode: number;
  /** True if no finding is refused. */
  agrees: boolean;
  output: string;
}

export type Guard = ReturnType<typeof createGuard>;

/** Milliseconds that an agent waits for the comparison before it writes; the thread stops a little earlier. */
const DEADLINE_MS = 40;
const BUDGET_MS = 32;
/** The message for an agent about a write that was not checked. */
const PARTIAL = 'Not all of this write could be checked in time: run `svc guard check` once it is made.';
/** Limit for finished work. */
const MOST_LINES = 20;

/** Owns the comparison of an agent's writes with the project's own code. */
export function createGuard({
  file,
  git,
  worktrees,
  without,
  settings,
  paths,
  callerPaths,
  projectFolder,
  worktreeOf,
  log,
}: GuardDeps) {
  const thread = createGuardThread(() => {
    const { guard, parsers, primaryLanguages } = settings();
    return {
      file,
      copies: fillCopySettings(guard.dup),
      git,
      without: [...without],
      parsers: { ...parsers },
      primary: primaryLanguages.map(findLanguage).filter((language) => language !== null),
    };
  });

  /** Returns the source folder of a caller's path; null if it does not belong to the caller. */
  function findOwnFolder(path: string, caller: Caller | null) {
    const found = paths.findSourceFolder(path);
    return found === null || caller === null || callerPaths.isOwnFolder(found.folder, caller) ? found : null;
  }

  /** Groups the writes by source folder; a null caller is the engine itself. */
  function groupWrites(writes: readonly PlannedWrite[], caller: Caller | null): Map<string, PlannedWrite[]> {
    const byFolder = new Map<string, PlannedWrite[]>();
    for (const write of writes) {
      const found = findOwnFolder(write.path, caller);
      if (found === null) continue;
      const group = byFolder.get(found.folder) ?? [];
      group.push({ ...write, path: found.absolute });
      byFolder.set(found.folder, group);
    }
    return byFolder;
  }

  /** Returns the enabled checks, with the way of reporting. */
  function chooseChecks(): { copies: GuardMode; languages: GuardMode; wanted: WantedChecks } {
    const { guard, locale, codeLang } = settings();
    const copies = chooseCopyMode(guard);
    const { languages } = findProfile(guard);
    const isOn = languages !== 'off';
    const gates = { prose: isOn ? readLocale(locale) : null, code: isOn ? readLocale(codeLang) : null };
    return { copies, languages, wanted: { copies: copies !== 'off', languages: gates } };
  }

  /** Reports whether a path can be code or a document of a project; others need no thread. */
  function isLookedAt(path: string): boolean {
    return createLanguageTable(settings().parsers)(path) !== null || isDocument(path);
  }

  async function checkInTime(
    writes: readonly PlannedWrite[],
    wanted: WantedChecks,
    caller: Caller,
  ): Promise<WriteReport> {
    const reports = await Promise.all(
      [
        ...groupWrites(
          writes.filter(({ path }) => isLookedAt(path)),
          caller,
        ),
      ].map(([root, group]) =>
        thread.callInTime('check', { root, writes: group, wanted, budgetMs: BUDGET_MS }, DEADLINE_MS),
      ),
    );
    return {
      copies: reports.flatMap((report) => report?.copies ?? []),
      languages: reports.flatMap((report) => report?.languages ?? []),
      isPartial: reports.some((report) => report?.isPartial ?? true),
      files: reports.reduce((sum, report) => sum + (report?.files ?? 0), 0),
    };
  }

  function checkRange(request: CheckRequest): Promise<CheckResult> {
    return checkProject(thread, request, { ...worktrees, isWanted: isLookedAt });
  }

  /** Reads files that a tool may have changed, and the files of a folder in which a session starts to work. */
  function readTouched(cwd: string, touched: readonly string[], caller: Caller | null): void {
    const writes = [
      ...groupWrites(
        touched.map((path) => ({ path })),
        caller,
      ),
    ];
    const here = findOwnFolder(cwd, caller)?.folder;
    const asked = writes.length > 0 || here === undefined ? writes : [[here, []] as const];
    for (const [root, group] of asked)
      thread
        .call('touch', { root, paths: group.map(({ path }) => path) })
        .catch((error: unknown) => log.warn({ error }, 'code was not read'));
  }

  return {
    close: thread.close,
    /** Reads the files of the folder in which a run starts, so that its first write finds them indexed. */
    readAhead(cwd: string): void {
      if (chooseChecks().wanted.copies) readTouched(cwd, [], null);
    },
    /**
     * Checks the commits of a range in a clean checkout, as one of the tests of its work; null if nothing is found,
     * or the profile checks nothing. If findings would be refused, so is work that could not be checked.
     */
    async checkWork(root: string, range: string): Promise<WorkCheck | null> {
      const { copies: mode, languages: languageMode, wanted } = chooseChecks();
      const { prose, code } = wanted.languages;
      if (mode !== 'block' && prose === null && code === null) return null;
      const request = {
        root,
        range,
        paths: null,
        wanted,
        signal: AbortSignal.any([]),
        progress: () => undefined,
      };
      const command = `svc guard check --range ${range}`;
      const blocks = mode === 'block' || languageMode === 'block';
      let found: Awaited<ReturnType<typeof checkRange>>;
      try {
        found = await checkRange(request);
      } catch (error) {
        log.warn({ error }, 'work was not checked');
        const output = `it could not be checked: ${asSvcError(error).message}`;
        return blocks ? { command, exitCode: EXIT.failure, agrees: false, output } : null;
      }
      const { copies, languages } = found;
      const refused = mode === 'block' ? copies.filter(({ type }) => type < 3) : [];
      if (refused.length === 0 && languages.length === 0) return null;
      const isRefused = refused.length > 0 || languageMode === 'block';
      const lines = [...refused.map(describeCopy), ...languages.map(describeLanguage)];
      return {
        command,
        exitCode: isRefused ? EXIT.denied : 0,
        agrees: !isRefused,
        output: lines.slice(0, MOST_LINES).join('\n'),
      };
    },
    /** Checks files, a range, or uncommitted changes, of a project or in the worktree of a session. */
    async check(
      { paths: named, range, project, session }: CheckInput,
      caller: Caller,
      { signal, progress }: Pick<OperationCall, 'signal' | 'progress'>,
    ) {
      if (named !== undefined && range !== undefined)
        throw new SvcError('usage', 'either paths or a range, not both');
      if (session !== undefined && caller.ownWork != null && session !== caller.ownWork.sessionId)
        throw ownWorkError(`the code of ${session}`, caller);
      if (caller.seat === 'worker' && project !== undefined && project !== caller.project)
        throw new SvcError('path_outside', `${project} is not the project of this worker`);
      const whose = session ?? (project === undefined ? caller.sessionId : null);
      const worktree = whose === null ? null : worktreeOf(whose);
      if (session !== undefined && worktree === null)
        throw new SvcError('not_found', `${session} has no worktree`, {
          hint: 'omit the session to check the project itself',
        });
      const root = worktree ?? projectFolder(project ?? caller.project);
      const keys = named?.map((path) => callerPaths.resolveBelow(root, path, caller).key) ?? null;
      const { copies: mode, languages, wanted } = chooseChecks();
      const result = await checkRange({
        root,
        paths: keys,
        range: range ?? null,
        wanted: { ...wanted, copies: true },
        signal,
        progress,
      });
      const refused =
        (mode === 'block' && result.copies.some(({ type }) => type < 3)) ||
        (languages === 'block' && result.languages.length > 0);
      return { root, mode, languageMode: languages, refused, ...result };
    },
    /** Reports existing code and texts in another language to an agent before it writes them. */
    lookBeforeWrite: (): HookContributor => ({
      name: 'guard',
      async look({ event, writes = [], paths: touched, cwd, caller }) {
        const { copies: mode, languages: languageMode, wanted } = chooseChecks();
        if (wanted.copies && (event === 'post-tool' || event === 'session-start'))
          readTouched(cwd, touched, caller);
        const { prose, code } = wanted.languages;
        const isAny = wanted.copies || prose !== null || code !== null;
        if (event !== 'pre-write' || writes.length === 0 || !isAny) return null;
        const { copies, languages, isPartial } = await checkInTime(writes, wanted, caller);
        const refused = mode === 'block' ? copies.filter(({ type }) => type < 3) : [];
        const deny = [
          ...(refused.length > 0 ? [tellOfCopies(refused, true)] : []),
          ...(languageMode === 'block' && languages.length > 0 ? [tellOfLanguages(languages, true)] : []),
        ];
        if (deny.length > 0) return { deny: deny.join('\n\n') };
        return {
          context: [
            ...(copies.length > 0 ? [tellOfCopies(copies, false)] : []),
            ...(languages.length > 0 ? [tellOfLanguages(languages, false)] : []),
            ...(isPartial ? [PARTIAL] : []),
          ],
        };
      },
    }),
  };
}
