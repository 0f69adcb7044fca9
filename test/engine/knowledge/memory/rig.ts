import assert from 'node:assert/strict';
import { join } from 'node:path';
import { createOperations } from '../../../../engine/core/api/dispatcher.ts';
import type { ApiOf, OperationsOf } from '../../../../engine/core/api/operation.ts';
import { isTool } from '../../../../engine/core/api/tool.ts';
import { createCallerPaths } from '../../../../engine/core/workspace/caller-paths.ts';
import { createWorkspacePaths } from '../../../../engine/core/workspace/workspace-path.ts';
import { createMemory, type MemoryDeps } from '../../../../engine/knowledge/memory/index.ts';
import { memoryOperations } from '../../../../engine/knowledge/memory/operations.ts';
import { listUnknownNames } from '../../../../engine/knowledge/symbols/known-names.ts';
import {
  findSensitiveKind,
  isPrivatePath,
} from '../../../../engine/workers/runner/worktrees/inspect/sensitive.ts';
import { fakeClock } from '../../../support/clock.ts';
import { temporaryFolder } from '../../../support/workspaces/git.ts';
import { openSpine } from '../../../support/workspaces/spine.ts';

type MemoryApi = ApiOf<OperationsOf<typeof memoryOperations>>;

const isConfiguration = (path: string): boolean => findSensitiveKind(path) !== null;

/** The memory alone, with a frozen clock, a trusted worker s-1, and a worker s-2 of a task from a chat. */
export function memoryRig(
  retentionDays: Record<string, number> = {},
  embeddings: ReturnType<MemoryDeps['embeddings']> = null,
) {
  const folder = temporaryFolder('svc-memory-');
  const graphs = join(folder, 'graph');
  const clock = fakeClock();
  const spine = openSpine(join(folder, 'svc.db'), clock);
  const paths = createWorkspacePaths({
    root: folder,
    worktrees: join(folder, 'worktrees'),
    projects: () => [],
    repositoryOf: () => null,
  });
  const worktreeOf = (id: string): string => join(folder, 'worktrees', id);
  const callerPaths = createCallerPaths({
    paths,
    root: folder,
    closed: [],
    worktrees: join(folder, 'worktrees'),
    projects: () => [],
    foldersOf: (id) => ({
      worktree: worktreeOf(id),
      cwd: worktreeOf(id),
      repository: folder,
      project: folder,
    }),
    isPrivate: isPrivatePath,
    isConfiguration,
  });
  const memory = createMemory({
    ...spine,
    clock,
    settings: () => ({
      enabled: true,
      briefLimit: 8,
      retentionDays,
      root: folder,
      okfDir: join(folder, 'okf'),
    }),
    sessionOf: (id) =>
      ({
        's-1': { taskId: 't-1', agent: 'claude', model: 'opus' },
        's-2': { taskId: 't-2', agent: 'codex', model: null },
      })[id] ?? null,
    task: (id) => ({ source: id === 't-2' ? 'chat' : 'cli', stranger: null }),
    paths,
    callerPaths,
    isConfiguration,
    embeddings: () => embeddings,
    log: { warn: () => undefined },
  });
  const declared = memoryOperations({
    memory,
    paths,
    callerPaths,
    clock,
    listUnknownNames: (names) => listUnknownNames(graphs, names),
  });
  const operations = createOperations(declared, {
    calls: spine.storage.calls,
    policy: () => ({ mode: 'solo', actors: [] }),
  });
  const as = (sessionId: string | null) => ({
    call: <K extends keyof MemoryApi>(
      name: K,
      input: MemoryApi[K]['input'],
    ): Promise<MemoryApi[K]['output']> =>
      operations.call(name, input, {
        seat: sessionId === null ? 'chair' : 'worker',
        actor: 'ada',
        via: 'tool',
        sessionId,
        project: null,
        env: {},
      }) as Promise<never>,
  });
  return {
    clock,
    memory,
    person: as(null),
    worker: as('s-1'),
    stranger: as('s-2'),
    folder,
    worktreeOf,
    /** Returns an answer as the text for agents. */
    say(name: keyof MemoryApi, answer: object): string {
      const tool = declared.find((each) => each.name === name);
      assert.ok(tool !== undefined && isTool(tool));
      return tool.say?.(answer as never) ?? '';
    },
    /** The folder for code indexes. */
    graphs,
    storage: spine.storage,
    close() {
      memory.close();
      spine.storage.close();
    },
  };
}
