import { emitKeypressEvents, type Interface } from 'node:readline';
import { openBrowser } from '../../engine/core/platform/open-browser.ts';
import {
  createKeyCollector,
  type EffectHandlers,
  performEffect,
  runEditor,
  runSvcCommand,
} from '../effects.ts';
import type { DashboardEnd, DashboardOptions } from '../options.ts';
import type { PreferenceFile } from '../preferences/preference-file.ts';
import { createInitialState, createStore } from '../store.ts';
import { createEngineSync } from '../sync/engine-sync.ts';
import { describeChanges, describeCurrentKeys } from './describe-changes.ts';
import { nameReadlineKey, type RawKey } from './readline-keys.ts';

/** Rows of the imaginary screen, which define a page. */
const PAGE_ROWS = 30;
const ESCAPE_MS = 30;
const PASTE_ON = '\u001b[?2004h';
const PASTE_OFF = '\u001b[?2004l';

/** Opens the dashboard as lines of text. Without a terminal for input it prints changes until it is stopped. */
export async function openPlainDashboard(
  options: DashboardOptions,
  file: PreferenceFile,
): Promise<DashboardEnd> {
  const { stdin, stdout } = options;
  const isInteractive = stdin.isTTY === true;
  let endDashboard: () => void = () => undefined;
  let failDashboard: (error: unknown) => void = () => undefined;
  const ended = new Promise<void>((resolve, reject) => {
    endDashboard = resolve;
    failDashboard = reject;
  });

  const handlers: EffectHandlers = {
    call: (effect) => void sync.performCall(effect),
    calls: (effect) => void sync.performCalls(effect.calls),
    edit: (effect) => void runEditor(effect, { ...options, store, borrowTerminal }),
    command: (effect) => void runSvcCommand(effect, { ...options, store, borrowTerminal }),
    'start-engine': () => sync.startEngine(),
    suspend: () => void process.kill(process.pid, 'SIGSTOP'),
    redraw: () => undefined,
    bell: () => void stdout.write('\u0007'),
    copy: () => undefined,
    browse: ({ url }) => openBrowser(url, options.env),
    save: ({ changes }) => file.save(changes, (text) => store.send({ type: 'message', text, tone: 'bad' })),
    // There is no other workspace.
    across: () => undefined,
    quit: () => endDashboard(),
  };
  const size = { columns: stdout.columns || 100, rows: PAGE_ROWS };
  const store = createStore(
    createInitialState({ size, now: Date.now(), preferences: file.preferences, plain: true }),
    {
      run: (effect) => performEffect(handlers, effect),
      crash: failDashboard,
    },
  );
  let printed = store.getState();
  store.subscribe(() => {
    const state = store.getState();
    const lines = describeChanges(printed, state);
    if (printed.link.phase === 'connecting' && state.link.phase === 'live' && isInteractive)
      lines.push(describeCurrentKeys(state));
    printed = state;
    for (const line of lines) stdout.write(`${line}\n`);
  });
  if (options.select) store.send({ type: 'go', ...options.select });

  async function borrowTerminal(use: () => Promise<void>): Promise<void> {
    listenToKeys(false);
    try {
      await use();
    } finally {
      listenToKeys(true);
    }
  }

  const { collect, paste } = createKeyCollector(store);
  let pasted: string | null = null;
  function handleKeypress(text: string | undefined, key: RawKey): void {
    if (key.name === 'paste-start') pasted = '';
    else if (key.name === 'paste-end') {
      paste(pasted ?? '');
      pasted = null;
    } else if (pasted !== null) pasted += text ?? '';
    else collect(nameReadlineKey(text, key));
  }
  function listenToKeys(isOn: boolean): void {
    if (!isInteractive) return;
    stdin.setRawMode(isOn);
    if (isOn) stdin.on('keypress', handleKeypress).resume();
    else stdin.off('keypress', handleKeypress).pause();
    if (stdout.isTTY && options.env.TERM !== 'dumb') stdout.write(isOn ? PASTE_ON : PASTE_OFF);
  }

  // Esc may be the start of another key for this long.
  if (isInteractive) emitKeypressEvents(stdin, { escapeCodeTimeout: ESCAPE_MS } as unknown as Interface);
  const sync = createEngineSync({ store, connect: options.connect, onFirstConnectFailed: failDashboard });
  const onSignal = (): void => endDashboard();
  options.signal.addEventListener('abort', onSignal, { once: true });
  process.once('SIGHUP', onSignal);
  stdout.on('error', onSignal);
  if (options.signal.aborted) endDashboard();
  listenToKeys(true);
  try {
    await ended;
  } finally {
    listenToKeys(false);
    process.off('SIGHUP', onSignal);
    await sync.close();
    await file.close();
    stdout.off('error', onSignal);
  }
  return { farewell: store.getState().farewell };
}
