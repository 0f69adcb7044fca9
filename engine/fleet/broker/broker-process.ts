import { execFile, spawn } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join, parse as parsePath } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { z } from 'zod';
import { backoffMs } from '../../core/base/backoff.ts';
import { asSvcError, SvcError } from '../../core/base/errors.ts';
import { findProgram } from '../../core/base/find-program.ts';
import type { Log } from '../../core/base/log.ts';
import { readPrivate, replacePrivate } from '../../core/base/private-files.ts';
import { findOwnAddress, formatAddress, type NetworkAddress } from '../../core/base/values/address.ts';
import { isAtLeast } from '../../core/base/versions.ts';
import { isListening } from '../../core/http/is-listening.ts';
import { isStillRunning } from '../../workers/runner/processes/own.ts';
import { locateBrokerFiles } from './broker-paths.ts';

const PROGRAM = 'nats-server';
/** Its packages install it where not every person's PATH leads. */
const MORE_FOLDERS = ['/usr/local/sbin', '/usr/sbin', '/usr/local/bin', '/usr/bin'];
/** The oldest version that this was tried with. */
const OLDEST = '2.9.10';
const START_MS = 10_000;
const END_MS = 5000;
const LOOK_MS = 1000;
const PAUSES = { firstMs: 500, longestMs: 30_000 };

const record = z.object({ pid: z.int().positive(), pidStart: z.string().max(200) });

/** The broker's own process, which outlives an engine that is killed. */
export interface BrokerProcess {
  /** Starts it, or takes over one that runs, and makes that read again who may connect. Throws `tool_missing`, `broker_unreachable`. */
  start(): Promise<void>;
  /** Makes it read again who may connect. */
  reload(): void;
  /** Ends it. */
  stop(): Promise<void>;
}

/** Finds nats-server in a version that can be used. Throws `tool_missing`. */
async function findBrokerProgram(env: NodeJS.ProcessEnv): Promise<string> {
  const path = [env.PATH ?? '', ...MORE_FOLDERS].filter((each) => each !== '').join(':');
  const program = findProgram(PROGRAM, { cwd: '/', path });
  const missing = (why: string): SvcError =>
    new SvcError('tool_missing', why, { hint: `install the package nats-server, ${OLDEST} or later` });
  if (program === undefined) throw missing('nats-server is not installed');
  const { stdout } = await promisify(execFile)(program, ['--version'], { timeout: 5000 }).catch(() => ({
    stdout: '',
  }));
  const version = /v(\d+\.\d+\.\d+)/.exec(stdout)?.[1] ?? '';
  if (version === '' || !isAtLeast(version, OLDEST))
    throw missing(`${program} is ${version || 'of an unknown version'}, which is too old`);
  return program;
}

export function createBrokerProcess({
  data,
  env,
  log,
  readListen,
  readStartTime,
  writeFiles,
}: {
  data: string;
  env: NodeJS.ProcessEnv;
  log: Log;
  readListen(): NetworkAddress;
  /** Returns when a process was started; null if there is none. */
  readStartTime(pid: number): string | null;
  /** Writes all that it is started with: its files may have been removed, or be of an earlier version. */
  writeFiles(): Promise<void>;
}): BrokerProcess {
  const files = locateBrokerFiles(data);
  let isWanted = false;
  let isStarting = false;
  let failures = 0;
  let pausedUntil = 0;
  let timer: NodeJS.Timeout | null = null;

  function findRunning(): z.infer<typeof record> | null {
    try {
      const found = record.parse(JSON.parse(readPrivate(files.process, 1000) ?? 'null'));
      return isStillRunning(found) ? found : null;
    } catch {
      // None was started, or the file is damaged.
      return null;
    }
  }

  /** nats-server keeps every log that was full. */
  function removeOldLogs(): void {
    const { dir, base } = parsePath(files.output);
    if (!existsSync(dir)) return;
    const old = readdirSync(dir).filter((name) => name.startsWith(`${base}.`));
    for (const name of old.sort().slice(0, -1)) rmSync(join(dir, name), { force: true });
  }

  /** Restarts it if it has ended. */
  async function look(): Promise<void> {
    removeOldLogs();
    if (!isWanted || isStarting || performance.now() < pausedUntil || findRunning() !== null) return;
    failures += 1;
    pausedUntil = performance.now() + backoffMs(failures, PAUSES);
    log.warn({}, 'the broker has ended, and is restarted');
    await launch().then(
      () => {
        failures = 0;
      },
      (error: unknown) => log.warn({ error: asSvcError(error).message }, 'the broker was not started'),
    );
  }

  async function launch(): Promise<void> {
    isStarting = true;
    try {
      const program = await findBrokerProgram(env);
      const { host, port } = findOwnAddress(readListen());
      if (await isListening(host, port))
        throw new SvcError('address_in_use', `another program listens at ${formatAddress(readListen())}`, {
          hint: 'svc fleet init --listen names another address',
        });
      await writeFiles();
      const child = spawn(program, ['-c', files.config], {
        cwd: files.folder,
        env: { PATH: env.PATH, HOME: env.HOME },
        stdio: 'ignore',
        detached: true,
      });
      let hasEnded = false;
      child.once('exit', () => {
        hasEnded = true;
      });
      child.once('error', () => {
        hasEnded = true;
      });
      child.unref();
      const { pid } = child;
      const pidStart = pid === undefined ? null : readStartTime(pid);
      if (pid !== undefined && pidStart !== null)
        replacePrivate(files.process, JSON.stringify({ pid, pidStart }));
      const deadline = performance.now() + START_MS;
      while (!hasEnded && performance.now() < deadline) {
        if (await isListening(host, port)) return;
        await delay(50);
      }
      throw new SvcError('broker_unreachable', 'the broker did not start', { hint: `see ${files.output}` });
    } finally {
      isStarting = false;
    }
  }

  function reload(): void {
    const running = findRunning();
    if (running !== null) process.kill(running.pid, 'SIGHUP');
  }

  return {
    async start() {
      isWanted = true;
      timer ??= setInterval(() => {
        look().catch((error: unknown) =>
          log.warn({ error: asSvcError(error).message }, 'the broker was not looked at'),
        );
      }, LOOK_MS).unref();
      if (findRunning() === null) await launch();
      else reload();
    },
    reload,
    async stop() {
      isWanted = false;
      if (timer !== null) clearInterval(timer);
      timer = null;
      const running = findRunning();
      if (running === null) return;
      process.kill(running.pid, 'SIGTERM');
      const deadline = performance.now() + END_MS;
      while (isStillRunning(running) && performance.now() < deadline) await delay(20);
    },
  };
}
