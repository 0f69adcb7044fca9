import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { claimDataFolder } from '../data-folder.ts';
import { isErrorCode, SvcError } from '../errors.ts';
import { machineHome } from '../machine-home.ts';
import { makePrivateFolder, openPrivate } from '../private-files.ts';
import { takeStartTurn } from './start-turn.ts';

/** The file descriptor on which a started daemon says that it is ready, or why not. */
export const READY_FD = 3;

/** What it says there, as one line of JSON. */
export type Ready = { ready: true } | { code: string; message: string; hint?: string };

const LONGEST_START_MS = 20_000;

/** What belongs to the caller's own session and must not become the engine's. */
const NOT_INHERITED = /^SVC_(SESSION|TASK|ROLE|AGENT|NAME|SESSION_NAME|RUN_ID|GIT_BASE|LEDGER_FORCE|ACTOR)$/;

interface StartOptions {
  command: readonly string[];
  root: string;
  /** svc.yaml. */
  file: string;
  /** The data folder; what the host prints goes below it. */
  data: string;
  env: NodeJS.ProcessEnv;
}

/**
 * Starts the engine's host in the background and waits until it listens (`ready`). When another client has just started
 * one, or this host finds the workspace taken, it is `taken`: the first may still be opening, or closing. Throws as
 * `claimDataFolder`.
 */
export async function startDaemon(options: StartOptions): Promise<'ready' | 'taken'> {
  const [program, ...args] = options.command;
  if (program === undefined) throw new SvcError('internal', 'no daemon command');
  claimDataFolder(options, options.env);
  const folder = join(options.data, 'log');
  makePrivateFolder(options.data, folder);
  const endTurn = await takeStartTurn(options.data);
  if (endTurn === null) return 'taken';
  try {
    return await launch(program, args, options, folder);
  } finally {
    endTurn();
  }
}

async function launch(
  program: string,
  args: readonly string[],
  options: Pick<StartOptions, 'root' | 'file' | 'env'>,
  folder: string,
): Promise<'ready' | 'taken'> {
  const output = openPrivate(join(folder, 'daemon.out'), 'add');
  const env = Object.fromEntries(Object.entries(options.env).filter(([name]) => !NOT_INHERITED.test(name)));
  const child = spawn(program, [...args, '--ready-fd', String(READY_FD)], {
    cwd: options.root,
    detached: true,
    // Absolute, since the host stands elsewhere.
    env: { ...env, SVC_CONFIG: options.file, SVC_HOME: machineHome(options.env) },
    stdio: ['ignore', output, output, 'pipe'],
  });
  closeSync(output);
  child.unref();
  const said = await firstLine(child.stdio[READY_FD] as Readable, child);
  if ('ready' in said) return 'ready';
  // Its word came before its end: whoever is told that it failed must not find it still there.
  child.ref();
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  if (said.code === 'already_running') return 'taken';
  throw new SvcError(
    isErrorCode(said.code) ? said.code : 'internal',
    said.message,
    said.hint === undefined ? {} : { hint: said.hint },
  );
}

function firstLine(stream: Readable, child: ReturnType<typeof spawn>): Promise<Ready> {
  return new Promise((resolve, reject) => {
    let text = '';
    const timer = setTimeout(() => fail('did not get ready in time'), LONGEST_START_MS);
    function done(): void {
      clearTimeout(timer);
      stream.destroy();
    }
    function fail(what: string): void {
      done();
      reject(new SvcError('engine_unreachable', `the engine ${what}`, { hint: 'see .svc/log/daemon.out' }));
    }
    child.once('error', (error) => fail(`could not be started: ${error.message}`));
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    stream.once('error', () => fail('could not be started'));
    stream.once('end', () => {
      try {
        const said = JSON.parse(text) as Ready;
        done();
        resolve(said);
      } catch {
        fail('ended before it was ready');
      }
    });
  });
}
