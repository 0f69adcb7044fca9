import { checkCanAddTask, openNewTask } from './actions/tasks.ts';
import type { DrawnState, DrawnStore } from './all/drawn-store.ts';
import { type EffectHandlers, performEffect, runEditor, runSvcCommand } from './effects.ts';
import type { DashboardEnd, DashboardOptions } from './options.ts';
import { describeWaitingCount } from './panes/waiting.ts';
import type { PreferenceFile } from './preferences/preference-file.ts';
import { getTerminalSize, type ScreenActions, type ShownDashboard, showOnScreen } from './show-on-screen.tsx';
import type { State } from './state/model.ts';
import { createInitialState, createStore, type Store } from './store.ts';
import { createEngineSync } from './sync/engine-sync.ts';

/** Opens the dashboard of a workspace on a terminal. */
export const openScreen = (options: DashboardOptions, file: PreferenceFile): Promise<DashboardEnd> =>
  showOnScreen(options, file, (actions) => createDashboard(options, file, actions));

function createDashboard(
  options: DashboardOptions,
  { preferences }: PreferenceFile,
  { effects, noticeTerminal, borrowTerminal, fail }: ScreenActions,
): ShownDashboard {
  const handlers: EffectHandlers = {
    ...effects,
    call: (effect) => void sync.performCall(effect),
    calls: (effect) => void sync.performCalls(effect.calls),
    edit: (effect) => void runEditor(effect, { ...options, store, borrowTerminal }),
    command: (effect) => void runSvcCommand(effect, { ...options, store, borrowTerminal }),
    'start-engine': () => sync.startEngine(),
    // There is no other workspace.
    across: () => undefined,
  };
  const size = getTerminalSize(options.stdout);
  const store = createStore(createInitialState({ size, now: Date.now(), preferences }), {
    run: (effect) => performEffect(handlers, effect),
    crash: fail,
  });
  if (options.select) store.send({ type: 'go', ...options.select });
  if (options.firstTask) openFirstTask(store);
  const sync = createEngineSync({
    store,
    connect: options.connect,
    noticeTerminal,
    onFirstConnectFailed: fail,
  });
  return {
    store: drawAlone(store),
    describeTitle: () => describeWaitingCount(store.getState()),
    close: () => sync.close(),
  };
}

/** Opens the form of a new task once, as soon as its choices are known. */
function openFirstTask(store: Store): void {
  const stop = store.subscribe(() => {
    if (checkCanAddTask(store.getState()) !== null) return;
    stop();
    store.send({ type: 'replace', change: (state) => openNewTask(state).state });
  });
}

/** The drawn input of the dashboard of one workspace. */
function drawAlone(store: Store): DrawnStore {
  const drawOne = (state: State): DrawnState => ({ state, all: null });
  let drawn = drawOne(store.getState());
  return {
    send: store.send,
    subscribe: store.subscribe,
    getDrawn() {
      const state = store.getState();
      if (drawn.state !== state) drawn = drawOne(state);
      return drawn;
    },
  };
}
