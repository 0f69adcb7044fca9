import { emitKeypressEvents, type Interface } from 'node:readline';
import { createBurst, type Doers, edit, perform, runCommand } from '../effects.ts';
import type { DashboardEnd, DashboardOptions } from '../options.ts';
import { createStore, initialState } from '../store.ts';
import { createFeed } from '../sync/engine-sync.ts';
import { changes, keysLine } from './describe-changes.ts';
import { nameOf, type RawKey } from './readline-keys.ts';

/** Rows of a screen that does not exist: what a page is. */
const ROWS = 30;
const ESCAPE_MS = 30;
const PASTE_ON = '\u001b[?2004h';
const PASTE_OFF = '\u001b[?2004l';

/** The dashboard as lines. Without a terminal for input it only tells, until it is stopped. */
export async function openPlain(options: DashboardOptions): Promise<DashboardEnd> {
  const { stdin, stdout } = options;
  const isInteractive = stdin.isTTY === true;
  let end: () => void = () => undefined;
  let fail: (error: unknown) => void = () => undefined;
  const ended = new Promise<void>((resolve, reject) => {
    end = resolve;
    fail = reject;
  });

  const doers: Doers = {
    call: (effect) => feed.call(effect),
    edit: (effect) => void edit(effect, { ...options, store, borrow }),
    command: (effect) => void runCommand(effect, { ...options, store, borrow }),
    'start-engine': () => feed.startEngine(),
    suspend: () => void process.kill(process.pid, 'SIGSTOP'),
    redraw: () => undefined,
    bell: () => void stdout.write('\u0007'),
    quit: () => end(),
  };
  const size = { columns: stdout.columns || 100, rows: ROWS };
  const store = createStore(initialState({ size, now: Date.now(), bell: options.bell, plain: true }), {
    run: (effect) => perform(doers, effect),
    crash: fail,
  });
  let told = store.get();
  store.subscribe(() => {
    const state = store.get();
    const lines = changes(told, state);
    if (told.link.phase === 'connecting' && state.link.phase === 'live' && isInteractive)
      lines.push(keysLine(state));
    told = state;
    for (const line of lines) stdout.write(`${line}\n`);
  });
  if (options.select) store.send({ type: 'go', ...options.select });

  async function borrow(use: () => Promise<void>): Promise<void> {
    listen(false);
    try {
      await use();
    } finally {
      listen(true);
    }
  }

  const collect = createBurst(store);
  let pasted: string | null = null;
  function onKey(text: string | undefined, key: RawKey): void {
    if (key.name === 'paste-start') pasted = '';
    else if (key.name === 'paste-end') {
      store.send({ type: 'paste', text: pasted ?? '' });
      pasted = null;
    } else if (pasted !== null) pasted += text ?? '';
    else collect(nameOf(text, key));
  }
  function listen(isOn: boolean): void {
    if (!isInteractive) return;
    stdin.setRawMode(isOn);
    if (isOn) stdin.on('keypress', onKey).resume();
    else stdin.off('keypress', onKey).pause();
    if (stdout.isTTY) stdout.write(isOn ? PASTE_ON : PASTE_OFF);
  }

  // As long as Esc alone may be the beginning of another key.
  if (isInteractive) emitKeypressEvents(stdin, { escapeCodeTimeout: ESCAPE_MS } as unknown as Interface);
  const feed = createFeed({ store, connect: options.connect, onHopeless: fail });
  const onSignal = (): void => end();
  options.signal.addEventListener('abort', onSignal, { once: true });
  process.once('SIGHUP', onSignal);
  stdout.on('error', onSignal);
  if (options.signal.aborted) end();
  listen(true);
  try {
    await ended;
  } finally {
    listen(false);
    process.off('SIGHUP', onSignal);
    await feed.close();
    stdout.off('error', onSignal);
  }
  return { farewell: store.get().farewell };
}
