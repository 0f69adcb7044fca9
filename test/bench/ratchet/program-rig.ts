import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type McpClient, stdioClient } from '../../support/agents/mcp.ts';
import { until } from '../../support/wait.ts';
import { takePart } from '../../support/workspaces/seats.ts';
import { makeWorkspace, SVC, type TestWorkspace } from '../../support/workspaces/workspace.ts';
import { openPty } from '../pty.ts';
import type { GuardedOperation, GuardedRig } from './operation.ts';

/** A workspace whose engine is a separate process, and programs that use it. */
export interface ProgramRig {
  ws: TestWorkspace;
  /** A workspace without an engine. */
  idle: TestWorkspace;
  stdio: McpClient;
  /** Copies that were written. */
  copied: number;
}

const PROJECT = fileURLToPath(new URL('../../../../', import.meta.url));
const SHORTEST = 2000;
/** Files of this project: a session hears of each copy once. */
const ORIGINALS = globSync('engine/board/**/*.ts', { cwd: PROJECT })
  .sort()
  .map((path) => readFileSync(join(PROJECT, path), 'utf8'))
  .filter(({ length }) => length > SHORTEST)
  .slice(0, 40);

interface Place {
  cwd: string;
  env: NodeJS.ProcessEnv;
}

/** Runs a program that reads `input`; resolves with its output. */
async function run(args: readonly string[], { cwd, env }: Place, input = ''): Promise<string> {
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  child.stdin.on('error', () => undefined).end(input);
  await once(child, 'close');
  return text;
}

/** Runs a program until it reports that it is ready. */
async function runUntilReady(args: readonly string[], { cwd, env }: Place): Promise<void> {
  const child = spawn(process.execPath, args, {
    cwd,
    env,
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  });
  const ended = once(child, 'exit');
  await Promise.race([once(child.stdio[3] as NodeJS.ReadableStream, 'data'), ended]);
  child.kill('SIGTERM');
  await ended;
}

/** The hook's answer of a machine that is too slow for the whole check, such as one that is traced. */
const UNFINISHED = 'could be checked in time';

const describeWrite = (ws: TestWorkspace, path: string, content: string): string =>
  JSON.stringify({
    cwd: ws.root,
    tool_name: 'Write',
    tool_input: { file_path: join(ws.root, path), content },
  });

const placeOf = ({ root, env }: TestWorkspace): Place => ({ cwd: root, env });

const hook = (
  path: string,
  content: (rig: ProgramRig) => string,
  says: RegExp,
): GuardedOperation<ProgramRig> => ({
  calls: 3,
  warm: 1,
  async call(rig) {
    const { ws } = rig;
    const place = { cwd: ws.root, env: { ...ws.env, SVC_SESSION: 'ada' } };
    const words = [SVC, 'hook', 'pre-write', '--agent', 'claude'];
    const text = await run(words, place, describeWrite(ws, path, content(rig)));
    if (!says.test(text) && !text.includes(UNFINISHED)) throw new Error(`the hook said: ${text}`);
  },
  reference: ({ ws }) => run(['-e', '0'], placeOf(ws)),
});

async function open(): Promise<ProgramRig> {
  const ws = await makeWorkspace({ events: [] });
  ws.repository.commit(Object.fromEntries(ORIGINALS.map((text, at) => [`app/original-${at}.ts`, text])));
  const engine = await ws.connect();
  for (let at = 0; at < 20; at += 1) await engine.call('task.add', { title: `task number ${at}` });
  await takePart(ws, 'bob');
  await engine.call('lock.acquire', { holder: 'bob', path: 'held.ts' });
  // The first answers come before all files are read.
  await until(async () => {
    const path = join(ws.root, 'app', 'copy.ts');
    const { context } = await engine.call('hook.look', {
      event: 'pre-write',
      agent: 'claude',
      cwd: ws.root,
      paths: [path],
      tool: 'Write',
      writes: [{ path, text: ORIGINALS.at(-1) ?? '' }],
    });
    return context.length > 0;
  });
  return { ws, idle: await makeWorkspace({ events: [] }), stdio: await stdioClient(ws), copied: 0 };
}

const nextCopy = (rig: ProgramRig): string => ORIGINALS[rig.copied++ % ORIGINALS.length] ?? '';

const BARE_SERVER = `require('node:http').createServer((q,s)=>s.end()).listen(0,()=>require('node:fs').writeSync(3,'ready'))`;

/** Whole programs, compared with the start of Node. */
export const programRig: GuardedRig<ProgramRig> = {
  open,
  async close({ ws, idle, stdio }) {
    await stdio.close();
    await ws.close();
    await idle.close();
  },
  pids: ({ ws, stdio }) => [ws.daemonPid(), stdio.pid].filter((pid) => pid !== null),
  operations: {
    'task_list over stdio': { calls: 100, call: ({ stdio }) => stdio.read('task_list') },
    'svc task list': {
      calls: 3,
      warm: 1,
      call: ({ ws }) => run([SVC, 'task', 'list'], placeOf(ws)),
      reference: ({ ws }) => run(['-e', '0'], placeOf(ws)),
    },
    'svc hook pre-write, a free path': hook('free.ts', () => 'x'.repeat(4000), /^\s*$/),
    'svc hook pre-write, a held path': hook('held.ts', () => 'x'.repeat(4000), /bob/),
    'svc hook pre-write, a copy': hook('app/copy.ts', nextCopy, /repeats/),
    'engine, start to listening': {
      calls: 1,
      warm: 1,
      call: ({ idle }) => runUntilReady([SVC, 'daemon', '--ready-fd', '3'], placeOf(idle)),
      reference: ({ idle }) => runUntilReady(['-e', BARE_SERVER], placeOf(idle)),
    },
    'svc dash, first frame': {
      calls: 1,
      warm: 1,
      async call({ ws }) {
        const own = Object.entries(ws.env).filter(([name]) => name.startsWith('SVC_'));
        const pty = openPty({
          ...{ columns: 140, rows: 40, cwd: ws.root },
          command: [process.execPath, SVC, 'dash'],
          env: Object.fromEntries(own) as Record<string, string>,
        });
        await pty.prints(/task number 19/);
        await pty.close();
      },
      reference: ({ ws }) => run(['-e', '0'], placeOf(ws)),
    },
  },
};
