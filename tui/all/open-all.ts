import { SvcError } from '../../engine/core/base/errors.ts';
import { settleWithin } from '../../engine/core/base/settle-within.ts';
import type { EngineClient } from '../../engine/index.ts';
import { type EffectHandlers, performEffect, runEditor, runSvcCommand } from '../effects.ts';
import type { DashboardEnd } from '../options.ts';
import type { PreferenceFile } from '../preferences/preference-file.ts';
import {
  getTerminalSize,
  type ScreenActions,
  type ShownDashboard,
  showOnScreen,
} from '../show-on-screen.tsx';
import { createInitialState } from '../store.ts';
import { createEngineSync, type EngineSync } from '../sync/engine-sync.ts';
import { createAllStore } from './all-store.ts';
import { describeAllWaiting } from './header.ts';
import type { AllDashboardOptions } from './options.ts';
import { createAllState, getActive, type WorkspacePlace } from './state.ts';

/** How often to look for workspaces whose engines were started for the first time. */
const LOOK_MS = 2000;
/** How long an engine has to welcome a connection before it counts as stopped; it is tried again. */
const WELCOME_MS = 5000;

/** Opens the dashboard of all workspaces on a terminal. */
export const openAllScreen = (options: AllDashboardOptions, file: PreferenceFile): Promise<DashboardEnd> =>
  showOnScreen(options, file, (actions) => createAllDashboard(options, file, actions));

function createAllDashboard(
  options: AllDashboardOptions,
  { preferences }: PreferenceFile,
  { effects, noticeTerminal, borrowTerminal, fail }: ScreenActions,
): ShownDashboard {
  const { stdout, workspaces, here } = options;
  const now = Date.now();
  const handlers = new Map<string, EffectHandlers>();
  const syncs = new Map<string, EngineSync>();
  const store = createAllStore(
    createAllState(workspaces, { here, now, size: getTerminalSize(stdout), preferences }),
    { run: ({ file, effect }) => performEffect(handlers.get(file)!, effect), crash: fail },
  );

  function followWorkspace(workspace: WorkspacePlace): void {
    const { file } = workspace;
    const own = store.storeOf(file);
    const sync = createEngineSync({
      store: own,
      noticeTerminal,
      // This view must not start any of the engines.
      startsFirst: false,
      connect: (start) => welcomeInTime(options.connect(workspace, start)),
    });
    const lender = { ...options, ...options.placeOf(workspace), store: own, borrowTerminal };
    syncs.set(file, sync);
    handlers.set(file, {
      ...effects,
      call: (effect) => void sync.performCall(effect),
      calls: (effect) => void sync.performCalls(effect.calls),
      edit: (effect) => void runEditor(effect, lender),
      command: (effect) => void runSvcCommand(effect, lender),
      'start-engine': () => sync.startEngine(),
      // The reducer has taken the step.
      across: () => undefined,
    });
  }
  function followNew(): void {
    for (const each of store.getAll().members) if (!syncs.has(each.file)) followWorkspace(each);
  }
  function lookForWorkspaces(): void {
    const known = new Set(store.getAll().members.map(({ file }) => file));
    const places = listQuietly(options).filter(({ file }) => !known.has(file));
    if (places.length === 0) return;
    const { size, preferences: current } = getActive(store.getAll()).state;
    const createState = () => createInitialState({ size, now: Date.now(), preferences: current });
    store.send({ type: 'workspaces', places, createState });
    followNew();
  }
  followNew();
  const timer = setInterval(lookForWorkspaces, LOOK_MS);

  return {
    store,
    describeTitle: () => describeAllWaiting(store.getAll()),
    async close() {
      clearInterval(timer);
      await Promise.all([...syncs.values()].map((each) => each.close()));
    },
  };
}

/** A failed read is repeated a moment later. */
function listQuietly({ listWorkspaces }: AllDashboardOptions): readonly WorkspacePlace[] {
  try {
    return listWorkspaces();
  } catch {
    return [];
  }
}

/** Rejects if the engine does not answer in time; a later connection is closed. */
async function welcomeInTime(connecting: Promise<EngineClient>): Promise<EngineClient> {
  const client = await settleWithin(WELCOME_MS, connecting);
  if (client !== null) return client;
  void connecting.then(
    (client) => client.close(),
    () => undefined,
  );
  throw new SvcError('engine_unreachable', 'the engine does not answer', { hint: 'svc doctor' });
}
