import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { backoffMs } from '../core/base/backoff.ts';
import type { Clock } from '../core/base/clock.ts';
import { asSvcError } from '../core/base/errors.ts';
import type { Log } from '../core/base/log.ts';
import { makePrivateFolder, replacePrivate } from '../core/base/private-files.ts';
import { type PrepareCommand, runShortCommand } from '../workers/runner/processes/index.ts';
import { locateBrokerFiles } from './broker/broker-paths.ts';

export interface MachineStartDeps {
  clock: Pick<Clock, 'monotonic'>;
  log: Log;
  /** The data folder. */
  data: string;
  /** The workspace's folder, in which the command runs. */
  root: string;
  /** Splits a command into words. */
  splitWords(command: string): string[];
  prepareCommand: PrepareCommand;
  /** Returns the command that starts machines of a pool; empty for none. */
  findStart(pool: string): string;
  /** Creates a line by which one machine joins a pool. Rejects if this fleet has no broker. */
  invite(pool: string): Promise<string>;
  /** Called when a command has failed. @param problem a sentence */
  onFailed(pool: string, problem: string): void;
}

const MOST_LINES = 10;
const LIMIT_MS = 60_000;
/** A machine that was started needs some time to join. */
const PAUSE_MS = 60_000;
const FAILED_PAUSES = { firstMs: 60_000, longestMs: 3_600_000 };

/** Starts more machines of a pool by the command of its person, one at a time. */
export interface MachineStarts {
  /** Called while sessions have waited too long for a slot. */
  want(pool: string, count: number): void;
  close(): Promise<void>;
}

export function createMachineStarts(deps: MachineStartDeps): MachineStarts {
  const closing = new AbortController();
  const next = new Map<string, { at: number; failures: number }>();
  let running: Promise<void> | null = null;

  async function runStart(pool: string, command: string, count: number): Promise<string | null> {
    const { folder } = locateBrokerFiles(deps.data);
    makePrivateFolder(deps.data, folder);
    const file = join(folder, `join-${pool}`);
    try {
      const lines: string[] = [];
      for (let made = 0; made < Math.min(count, MOST_LINES); made += 1) lines.push(await deps.invite(pool));
      replacePrivate(file, `${lines.join('\n')}\n`);
      return await runShortCommand(deps.splitWords(command), {
        ...{ cwd: deps.root, prepare: deps.prepareCommand, limitMs: LIMIT_MS, signal: closing.signal },
        variables: { SVC_POOL: pool, SVC_WANTED: String(count), SVC_JOIN_FILE: file },
      });
    } catch (error) {
      return asSvcError(error).message;
    } finally {
      rmSync(file, { force: true });
    }
  }

  async function start(pool: string, command: string, count: number): Promise<void> {
    const { failures } = next.get(pool) ?? { failures: 0 };
    deps.log.info({ pool, count }, 'more machines are started');
    const problem = await runStart(pool, command, count);
    if (closing.signal.aborted) return;
    const pause = problem === null ? PAUSE_MS : backoffMs(failures + 1, FAILED_PAUSES);
    next.set(pool, { at: deps.clock.monotonic() + pause, failures: problem === null ? 0 : failures + 1 });
    if (problem !== null) deps.onFailed(pool, problem);
  }

  return {
    want(pool, count) {
      const command = deps.findStart(pool);
      const isDue = deps.clock.monotonic() >= (next.get(pool)?.at ?? Number.NEGATIVE_INFINITY);
      if (command === '' || !isDue || running !== null || closing.signal.aborted) return;
      running = start(pool, command, count).finally(() => {
        running = null;
      });
    },
    async close() {
      closing.abort();
      await running;
    },
  };
}
