import type { HookContributor } from '../../bus/hooks/index.ts';
import { type Caller, type OperationCall, ownWorkError } from '../../core/api/operation.ts';
import { SvcError } from '../../core/base/errors.ts';
import type { CallerPaths } from '../../core/workspace/caller-paths.ts';
import type { WorkspacePaths } from '../../core/workspace/workspace-path.ts';
import type { GitAccess, Worktrees } from '../../workers/runner/worktrees/index.ts';
import { findLanguage } from '../sources/index.ts';
import { type CheckRequest, type CheckResult, checkProject } from './check-project.ts';
import { createWorkCheck } from './check-work.ts';
import { createCheckChooser, selectRefused } from './choose-checks.ts';
import { fillCopySettings } from './copies/settings.ts';
import { describeLost, tellOfCopies } from './describe-copy.ts';
import { tellOfLanguages } from './describe-language.ts';
import { createWriteLook } from './look-at-writes.ts';
import type { GuardConfig } from './profiles.ts';
import { createGuardThread } from './thread/thread.ts';

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

export type Guard = ReturnType<typeof createGuard>;

/** The message for an agent about a write that was not checked. */
const PARTIAL = 'Not all of this write could be checked in time: run `svc guard check` once it is made.';

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

  const chooseChecks = createCheckChooser(settings);
  const { isLookedAt, checkInTime, readTouched } = createWriteLook({
    thread,
    parsers: () => settings().parsers,
    paths,
    callerPaths,
    log,
  });

  function checkRange(request: CheckRequest): Promise<CheckResult> {
    return checkProject(thread, request, { ...worktrees, isWanted: isLookedAt });
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
    checkWork: createWorkCheck({ chooseChecks, checkRange, log }),
    /** Checks files, a range, or uncommitted changes, of a project or in the worktree of a session. */
    async check(
      input: CheckInput,
      caller: Caller,
      { signal, progress }: Pick<OperationCall, 'signal' | 'progress'>,
    ) {
      const { root, keys } = placeCheck(input, caller, { callerPaths, projectFolder, worktreeOf });
      const { copies: mode, languages, wanted } = chooseChecks();
      const result = await checkRange({
        root,
        paths: keys,
        range: input.range ?? null,
        wanted: { ...wanted, copies: true },
        signal,
        progress,
      });
      const found = selectRefused(result, { copies: mode, languages });
      const refused = found.copies.length > 0 || found.languages.length > 0;
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
        const { copies, languages, isPartial, lost } = await checkInTime(writes, wanted, caller);
        const refused = selectRefused({ copies, languages }, { copies: mode, languages: languageMode });
        const deny = [
          ...(refused.copies.length > 0 ? [tellOfCopies(refused.copies, true)] : []),
          ...(refused.languages.length > 0 ? [tellOfLanguages(refused.languages, true)] : []),
        ];
        if (deny.length > 0) return { deny: deny.join('\n\n') };
        return {
          context: [
            ...(copies.length > 0 ? [tellOfCopies(copies, false)] : []),
            ...(languages.length > 0 ? [tellOfLanguages(languages, false)] : []),
            ...(isPartial ? [PARTIAL] : []),
            ...lost.map(describeLost),
          ],
        };
      },
    }),
  };
}

/** Returns the folder and the paths that a caller wants checked. Throws `usage`, `path_outside`, `not_found`, `chair_only`. */
function placeCheck(
  { paths: named, range, project, session }: CheckInput,
  caller: Caller,
  { callerPaths, projectFolder, worktreeOf }: Pick<GuardDeps, 'callerPaths' | 'projectFolder' | 'worktreeOf'>,
): { root: string; keys: string[] | null } {
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
  return { root, keys };
}
