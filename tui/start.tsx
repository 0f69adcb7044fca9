import { render } from 'ink';
import { asSvcError } from '../engine/index.ts';
import type { Effect } from './acts/step.ts';
import { App, type Terminal } from './app.tsx';
import { usesColour } from './colours.ts';
import { editText } from './editor.ts';
import { createFeed } from './feed.ts';
import type { DashboardEnd, DashboardOptions } from './index.ts';
import { createStore, initialState } from './store.ts';

const BELL = '\u0007';

const sizeOf = (out: NodeJS.WriteStream) => ({ columns: out.columns || 80, rows: out.rows || 24 });

/** The dashboard on a terminal, in its alternate screen. */
export async function openScreen(options: DashboardOptions): Promise<DashboardEnd> {
  const { env, stdin, stdout, stderr } = options;
  let terminal: Terminal | null = null;
  let isAway = false;

  const run = (effect: Effect): void => {
    switch (effect.do) {
      case 'call':
        return feed.call(effect);
      case 'edit':
        return void edit(effect);
      case 'start-engine':
        return feed.startEngine();
      case 'suspend':
        return void away(stopped);
      case 'redraw':
        return void away(async () => undefined);
      case 'bell':
        return void stdout.write(BELL);
      case 'quit':
        return terminal?.exit();
    }
  };

  const guarded = (effect: Effect): void => {
    try {
      run(effect);
    } catch (error) {
      terminal?.exit(asSvcError(error));
    }
  };
  const store = createStore(
    initialState({ size: sizeOf(stdout), now: Date.now(), bell: options.bell }),
    guarded,
  );
  if (options.select) store.send({ type: 'go', ...options.select });

  /** Someone else has the terminal until `use` settles. One at a time. */
  async function away(use: () => Promise<void>): Promise<void> {
    if (terminal === null || isAway) return;
    isAway = true;
    try {
      await terminal.suspend(use);
    } finally {
      isAway = false;
      store.send({ type: 'resize', size: sizeOf(stdout) });
    }
  }

  async function edit(effect: Extract<Effect, { do: 'edit' }>): Promise<void> {
    let text: string | null = null;
    try {
      await away(async () => {
        text = await editText(effect.text, effect.name, env);
      });
      if (text !== null) store.send({ type: 'edited', effect, text });
    } catch (error) {
      const { message, hint } = asSvcError(error);
      store.send({ type: 'said', text: message, tone: 'bad', hint });
    }
  }

  let hopeless: unknown = null;
  const feed = createFeed({
    store,
    connect: options.connect,
    onHopeless(error) {
      hopeless = error;
      terminal?.exit();
    },
  });

  const onResize = (): void => store.send({ type: 'resize', size: sizeOf(stdout) });
  const onStop = (): void => void away(stopped);
  const onBroken = (): void => terminal?.exit();
  stdout.on('resize', onResize).on('error', onBroken);
  options.signal.addEventListener('abort', onBroken, { once: true });
  // Ctrl-Z is a key here; this is the signal that another program sends.
  process.on('SIGTSTP', onStop);
  const app = render(
    <App
      store={store}
      colours={usesColour(env, stdout)}
      onTerminal={(given) => {
        terminal = given;
        if (hopeless !== null) given.exit();
      }}
    />,
    {
      stdin,
      stdout,
      stderr,
      exitOnCtrlC: false,
      alternateScreen: true,
      incrementalRendering: true,
      maxFps: 60,
      // A terminal in a CI job is one too: Ink would show its last frame only.
      interactive: true,
    },
  );
  try {
    await app.waitUntilExit();
  } finally {
    process.off('SIGTSTP', onStop);
    stdout.off('resize', onResize);
    await feed.close();
    stdout.off('error', onBroken);
  }
  if (hopeless !== null) throw hopeless;
  return { farewell: store.get().farewell };
}

/** The program stops, as under any shell, and settles when it is continued. SIGSTOP, since the other signal is ours. */
function stopped(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGCONT', () => resolve());
    process.kill(process.pid, 'SIGSTOP');
  });
}
