import { closeSync, writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs } from '../core/base/backoff.ts';
import { readDataFolderId } from '../core/workspace/data-folder.ts';
import { SUPERVISOR_VARIABLE } from '../core/workspace/own-supervisor.ts';
import { READY_FD, type StartReport, startHost, waitForChild } from './start-host.ts';

// The program that restarts the host after a crash, with the environment of the person who started the engine; a
// worker that restarted it would pass on its own. It lives as long as the engine, so it loads no package. Run in the
// workspace's folder as `node supervisor.js <data folder> <program> <argument>…`.

const PAUSES = { firstMs: 100, longestMs: 30_000 };
/** An engine that ran this long, ms, has not failed to start. */
const HEALTHY_MS = 60_000;
/** Failures in a row before giving up; with the pauses in between, about seven minutes. */
const MOST_FAILURES = 20;

const [, , data = '', ...command] = process.argv;

let isOver = false;
/** True if a client waits for the engine. */
let isAwaited = false;
/** Why the last start was refused; null if there was none, or it succeeded. */
let refusal: string | null = null;
let pause = new AbortController();
let host: ReturnType<typeof startHost>['child'] | null = null;

const endSupervision = (): void => {
  isOver = true;
  host?.kill('SIGTERM');
  pause.abort();
};
process.on('SIGTERM', endSupervision).on('SIGINT', endSupervision);
// Sent by a client that finds no engine. If starts are refused, we end, so that it starts one and gets the reason itself.
process.on('SIGHUP', () => {
  isAwaited = true;
  if (refusal !== null) endSupervision();
  pause.abort();
});

void superviseHost().then((code) => {
  process.exitCode = code;
});

/** Keeps an engine running until it is stopped on purpose. Resolves with this program's exit code. */
async function superviseHost(): Promise<number> {
  let dataId: string | null = null;
  let failures = 0;
  for (let isFirst = true; ; isFirst = false) {
    const startedAt = performance.now();
    const started = startHost({
      command: [...command, '--ready-fd', String(READY_FD)],
      cwd: process.cwd(),
      // Each glibc arena keeps memory once it has it; two are enough for a program with one busy thread.
      env: { MALLOC_ARENA_MAX: '2', ...process.env, [SUPERVISOR_VARIABLE]: String(process.pid) },
      output: 'inherit',
      detached: false,
    });
    host = started.child;
    const said = await started.said;
    const isReady = 'ready' in said;
    if (isReady) refusal = null;
    if (isFirst) {
      // Waits for its end first: a caller that receives the failure must not find it still running.
      if (!isReady) await waitForChild(host);
      tellStarter(said);
      if (!isReady) return 1;
      dataId = readCurrentDataId();
    }
    await waitForChild(host);
    const { exitCode, signalCode } = host;
    host = null;
    if (isOver || (isReady && exitCode === 0)) return 0;
    // Another process hosts it by now, or its data folder is gone.
    if ((!isReady && said.code === 'already_running') || readCurrentDataId() !== dataId) return 0;

    refusal = isReady ? null : said.message;
    if (refusal !== null && isAwaited) return 1;
    failures = performance.now() - startedAt >= HEALTHY_MS ? 1 : failures + 1;
    const why = refusal ?? `it ended with ${signalCode ?? `exit code ${exitCode}`}`;
    if (failures > MOST_FAILURES) {
      logLine(`the engine is not restarted after ${MOST_FAILURES} failures: ${why}; svc up starts it`);
      return 1;
    }
    logLine(refusal === null ? `the engine is restarted: ${why}` : `the engine could not be started: ${why}`);
    if (!isAwaited) await pauseFor(backoffMs(failures, PAUSES));
    isAwaited = false;
    if (isOver) return 0;
  }
}

async function pauseFor(ms: number): Promise<void> {
  pause = new AbortController();
  await delay(ms, undefined, { signal: pause.signal }).catch(() => undefined);
}

function tellStarter(said: StartReport): void {
  try {
    writeSync(READY_FD, JSON.stringify(said));
    closeSync(READY_FD);
  } catch {
    // No one waits for the report any more.
  }
}

/** Returns null also for a missing folder. */
function readCurrentDataId(): string | null {
  try {
    return readDataFolderId(data);
  } catch {
    return null;
  }
}

function logLine(line: string): void {
  process.stdout.write(`${new Date().toISOString()} ${line}\n`);
}
