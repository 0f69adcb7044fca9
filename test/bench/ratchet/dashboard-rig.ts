import { once } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { connectToEngine } from '../../../engine/index.ts';
import { loadInkAsBuilt } from '../../support/terminals/ink.ts';
import { makeWorkspace, SVC, type TestWorkspace } from '../../support/workspaces/workspace.ts';
import type { GuardedRig } from './operation.ts';

const TASKS = 1000;
const SETTLE_MS = 300;
const SIZE = { columns: 140, rows: 40 };

/** A dashboard in this process, on a terminal that only counts. */
export interface DashboardRig {
  ws: TestWorkspace;
  press(key: string): void;
  /** Resolves with the next output. */
  painted(): Promise<unknown>;
  quit: AbortController;
  ended: Promise<unknown>;
  /** Keys that were pressed. */
  pressed: number;
}

function createTerminal() {
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: () => stdin,
    ref: () => stdin,
    unref: () => stdin,
  });
  const stdout = Object.assign(
    new Writable({
      decodeStrings: false,
      write(chunk: string, _encoding, done) {
        stdout.emit('painted', chunk);
        done();
      },
    }),
    { isTTY: true, ...SIZE },
  );
  return { stdin, stdout };
}

async function open(): Promise<DashboardRig> {
  const ws = await makeWorkspace({ hosted: true, events: [] });
  const engine = await ws.connect();
  const add = (at: number) => engine.call('task.add', { title: `task number ${at}`, body: 'x' });
  await Promise.all(Array.from({ length: TASKS }, (_, at) => add(at)));
  loadInkAsBuilt();
  const { openDashboard } = await import('../../../tui/index.ts');
  const { stdin, stdout } = createTerminal();
  const quit = new AbortController();
  const listed = new Promise<void>((resolve) => {
    stdout.on('painted', (text: string) => {
      if (text.includes('task number ')) resolve();
    });
  });
  const ended = openDashboard({
    env: { ...ws.env, TERM: 'xterm-256color' },
    cwd: ws.root,
    svc: [process.execPath, SVC],
    stdin: stdin as unknown as NodeJS.ReadStream,
    stdout: stdout as unknown as NodeJS.WriteStream,
    stderr: stdout as unknown as NodeJS.WriteStream,
    signal: quit.signal,
    plain: false,
    bell: false,
    connect: () => connectToEngine({ cwd: ws.root, env: ws.env, via: 'tui' }),
  });
  await Promise.race([listed, ended]);
  // It reads more than its first list.
  await delay(SETTLE_MS);
  const painted = () => once(stdout, 'painted');
  return {
    ws,
    press: (key) => void stdin.write(key),
    painted,
    quit,
    ended,
    pressed: 0,
  };
}

/** Keys in the dashboard. */
export const dashboardRig: GuardedRig<DashboardRig> = {
  open,
  async close({ ws, quit, ended }) {
    quit.abort();
    await ended;
    await ws.close();
  },
  operations: {
    'key to paint, 1,000 tasks': {
      calls: 30,
      async call(rig) {
        const painted = rig.painted();
        rig.press(rig.pressed % 2 === 0 ? 'j' : 'k');
        rig.pressed += 1;
        await painted;
      },
    },
  },
};
