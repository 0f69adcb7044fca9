import { closeSync, writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs } from '../base/backoff.ts';
import { readDataFolderId } from '../workspace/data-folder.ts';
import { SUPERVISOR_VARIABLE } from '../workspace/own-supervisor.ts';
import { childEnded, READY_FD, type Ready, startHost } from './host-start.ts';

// The program that whoever starts an engine leaves behind: it has the person's environment, and starts the host again
// after a crash. A worker that did so would give the engine its own. It stays for as long as the engine, so it loads no
// package. `node supervisor.js <data folder> <program> <argument>…`, in the workspace's folder.

const PAUSES = { firstMs: 100, longestMs: 30_000 };
/** An engine that lived that long has not failed at its start. */
const HEALTHY_MS = 60_000;
/** In a row; with the pauses between them that is about seven minutes. */
const MOST_FAILURES = 20;

const [, , data = '', ...command] = process.argv;

let isOver = false;
/** A client waits for the engine. */
let isAwaited = false;
/** Why the last start was refused; null when there was none, or it went well. */
let refusal: string | null = null;
let pause = new AbortController();
let host: ReturnType<typeof startHost>['child'] | null = null;

const end = (): void => {
  isOver = true;
  host?.kill('SIGTERM');
  pause.abort();
};
process.on('SIGTERM', end).on('SIGINT', end);
// Sent by a client that finds no engine. Where starts are refused it is to hear the reason itself, so it starts one.
process.on('SIGHUP', () => {
  isAwaited = true;
  if (refusal !== null) end();
  pause.abort();
});

process.exitCode = await supervise();

/** Keeps an engine running until it ends by intention. Resolves with this program's exit code. */
async function supervise(): Promise<number> {
  let dataId: string | null = null;
  let failures = 0;
  for (let isFirst = true; ; isFirst = false) {
    const startedAt = performance.now();
    const started = startHost({
      command: [...command, '--ready-fd', String(READY_FD)],
      cwd: process.cwd(),
      // Each thread of glibc's keeps what it once had; two arenas are enough for a program of one busy thread.
      env: { MALLOC_ARENA_MAX: '2', ...process.env, [SUPERVISOR_VARIABLE]: String(process.pid) },
      output: 'inherit',
      detached: false,
    });
    host = started.child;
    const said = await started.said;
    const isReady = 'ready' in said;
    if (isReady) refusal = null;
    if (isFirst) {
      // Its end comes first: whoever is told that it failed must not find it still there.
      if (!isReady) await childEnded(host);
      tellStarter(said);
      if (!isReady) return 1;
      dataId = dataFolderId();
    }
    await childEnded(host);
    const { exitCode, signalCode } = host;
    host = null;
    if (isOver || (isReady && exitCode === 0)) return 0;
    // Somebody else hosts it by now, or there is nothing left to be hosted.
    if ((!isReady && said.code === 'already_running') || dataFolderId() !== dataId) return 0;

    refusal = isReady ? null : said.message;
    if (refusal !== null && isAwaited) return 1;
    failures = performance.now() - startedAt >= HEALTHY_MS ? 1 : failures + 1;
    const why = refusal ?? `it ended with ${signalCode ?? `exit code ${exitCode}`}`;
    if (failures > MOST_FAILURES) {
      log(`the engine is not started again after ${MOST_FAILURES} failures: ${why}; svc up starts it`);
      return 1;
    }
    log(refusal === null ? `the engine is started again: ${why}` : `the engine could not be started: ${why}`);
    if (!isAwaited) await sleep(backoffMs(failures, PAUSES));
    isAwaited = false;
    if (isOver) return 0;
  }
}

async function sleep(ms: number): Promise<void> {
  pause = new AbortController();
  await delay(ms, undefined, { signal: pause.signal }).catch(() => undefined);
}

function tellStarter(said: Ready): void {
  try {
    writeSync(READY_FD, JSON.stringify(said));
    closeSync(READY_FD);
  } catch {
    // Whoever waited is gone.
  }
}

/** Null also for a folder that is gone. */
function dataFolderId(): string | null {
  try {
    return readDataFolderId(data);
  } catch {
    return null;
  }
}

function log(line: string): void {
  process.stdout.write(`${new Date().toISOString()} ${line}\n`);
}
