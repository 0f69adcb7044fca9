import type { PlannedWrite } from '../../bus/hooks/index.ts';
import type { Caller } from '../../core/api/operation.ts';
import type { CallerPaths } from '../../core/workspace/caller-paths.ts';
import type { WorkspacePaths } from '../../core/workspace/workspace-path.ts';
import { createLanguageTable } from '../sources/index.ts';
import { isDocument } from './language/wanted-languages.ts';
import type { createGuardThread } from './thread/thread.ts';
import type { WantedChecks, WriteReport } from './writes/check-writes.ts';

/** Milliseconds that an agent waits for the comparison before it writes; the thread stops a little earlier. */
const DEADLINE_MS = 40;
const BUDGET_MS = 32;

/** Gives the writes of agents to the thread, grouped by the folders that they belong to. */
export function createWriteLook({
  thread,
  parsers,
  paths,
  callerPaths,
  log,
}: {
  thread: ReturnType<typeof createGuardThread>;
  /** `parsers` of svc.yaml. */
  parsers(): Readonly<Record<string, string>>;
  paths: Pick<WorkspacePaths, 'findSourceFolder'>;
  callerPaths: Pick<CallerPaths, 'isOwnFolder'>;
  log: { warn(facts: object, text: string): void };
}) {
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

  /** Reports whether a path can be code or a document of a project; others need no thread. */
  function isLookedAt(path: string): boolean {
    return createLanguageTable(parsers())(path) !== null || isDocument(path);
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
      lost: reports.flatMap((report) => report?.lost ?? []),
      files: reports.reduce((sum, report) => sum + (report?.files ?? 0), 0),
    };
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

  return { isLookedAt, checkInTime, readTouched };
}
