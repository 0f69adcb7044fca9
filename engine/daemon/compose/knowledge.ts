import { join, resolve } from 'node:path';
import { createSessionChanges } from '../../board/review/session-changes.ts';
import { isInsideFolder } from '../../core/base/paths.ts';
import { createForwardedReader, type EngineGateway } from '../../gateway/index.ts';
import { createStoredTexts, type StoredTexts } from '../../knowledge/context/index.ts';
import { createGuard, type Guard } from '../../knowledge/guard/index.ts';
import { createMemory, type Memories, type MemoryDeps } from '../../knowledge/memory/index.ts';
import { createGraph, type Graph, placeShared } from '../../knowledge/symbols/index.ts';
import { createImpactReader, type ReadImpact } from '../../knowledge/symbols/read-impact.ts';
import { findLocalPath } from '../../workers/sessions/index.ts';
import type { SharedDependencies } from './shared-dependencies.ts';
import { isConfiguration, type WorkerModules } from './workers.ts';

export interface KnowledgeModules {
  memory: Memories;
  texts: StoredTexts;
  graph: Graph;
  readImpact: ReadImpact;
  guard: Guard;
  /** Returns the shared path of svc.yaml that contains a path, in any worktree; null for any other. */
  findSharedPath(path: string): string | null;
}

/** Builds the modules of `engine/knowledge`. */
export function createKnowledgeModules(
  shared: SharedDependencies,
  workers: WorkerModules,
  readTask: MemoryDeps['task'],
  embed: EngineGateway['embed'],
): KnowledgeModules {
  const { closing } = shared;
  const { sessions, worktrees, agents } = workers;
  const memory = createMemory({
    storage: shared.storage,
    events: shared.events,
    clock: shared.clock,
    settings: () => readMemorySettings(shared),
    sessionOf: workers.findSession,
    task: readTask,
    paths: workers.workspacePaths,
    callerPaths: workers.callerPaths,
    isConfiguration,
    embeddings() {
      const { mode, embeddings: model } = shared.config().ai;
      return mode === 'live' && model !== '' ? { model, embed: (texts) => embed(model, texts) } : null;
    },
    log: shared.log,
  });
  closing(memory.close);
  const texts = createStoredTexts({
    storage: shared.storage,
    clock: shared.clock,
    settings: () => readTextSettings(shared),
    forwarded: createForwardedReader(shared.paths.data),
    taskOf: (sessionId) => workers.findSession(sessionId)?.taskId ?? null,
    log: shared.log,
  });
  closing(texts.close);
  const sharedPaths = createSharedPaths(shared, workers);
  const graph = createGraph({
    data: shared.paths.data,
    git: workers.git,
    settings: () => ({
      parsers: shared.config().parsers,
      without: listOwnFolders(shared),
      exact: { isOn: shared.config().graph.exact, mustConfine: workers.isStrict() },
      shared: placeShared(
        shared.root,
        sharedPaths.list(),
        agents.listProjects().filter(({ own }) => !own),
      ),
    }),
    folder: agents.resolveFolder,
    sessionOf(sessionId) {
      const session = workers.findSession(sessionId);
      return session === null ? null : { project: session.project, cwd: findLocalPath(session.cwd) };
    },
  });
  closing(graph.close);
  const guard = createGuardModule(shared, workers);
  closing(guard.close);
  return {
    memory,
    texts,
    graph,
    readImpact: createImpactReader(
      graph,
      createSessionChanges({ sessions, worktrees, resolveFolder: agents.resolveFolder }),
    ),
    guard,
    findSharedPath: sharedPaths.find,
  };
}

/** The folders of svc, which hold no code of the workspace. */
const listOwnFolders = ({ paths }: SharedDependencies) => [paths.data, paths.agents, paths.worktrees];

function readMemorySettings({ config, root }: SharedDependencies) {
  const { enabled = true, brief_on_dispatch = true, brief_limit, retention_days, okf_dir } = config().memory;
  return {
    enabled,
    briefLimit: brief_on_dispatch ? brief_limit : 0,
    retentionDays: retention_days,
    root,
    okfDir: resolve(root, okf_dir),
  };
}

function readTextSettings({ config, root, paths, dataId }: SharedDependencies) {
  const { dir, ttl_minutes, guidance, threshold_bytes, hooks } = config().context;
  const folder = resolve(root, dir);
  return {
    data: paths.data,
    // Another workspace may use the same folder, and removes what it does not know.
    folder: isInsideFolder(paths.data, folder) ? folder : join(folder, dataId),
    idleMs: ttl_minutes * 60_000,
    crushes: guidance.crush,
    stores: guidance.externalize,
    longBytes: hooks.post_tool ? threshold_bytes : null,
    protectedTools: guidance.protect_tools,
  };
}

/** The shared paths of svc.yaml. */
function createSharedPaths({ root, config }: SharedDependencies, { workspacePaths }: WorkerModules) {
  const list = (): string[] =>
    [config().paths.shared, ...Object.values(config().shared).flat()].filter((path) => path !== '');
  return {
    list,
    find(path: string): string | null {
      try {
        const { absolute } = workspacePaths.resolveNamed(path);
        return list().find((each) => isInsideFolder(resolve(root, each), absolute)) ?? null;
      } catch {
        return null;
      }
    },
  };
}

function createGuardModule(shared: SharedDependencies, workers: WorkerModules): Guard {
  return createGuard({
    file: join(shared.paths.data, 'guard.db'),
    git: workers.git,
    worktrees: workers.worktrees,
    without: listOwnFolders(shared),
    settings() {
      const { guard, parsers, workspace } = shared.config();
      return {
        guard,
        parsers,
        locale: workspace.locale,
        codeLang: workspace.code_lang,
        primaryLanguages: workspace.primary_languages,
      };
    },
    paths: workers.workspacePaths,
    callerPaths: workers.callerPaths,
    projectFolder: workers.agents.resolveFolder,
    worktreeOf: (sessionId) => findLocalPath(workers.findSession(sessionId)?.worktree ?? null),
    log: shared.log,
  });
}
