import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { isErrorCode, SvcError } from '../core/base/errors.ts';
import { locateProgram } from '../core/base/own-package.ts';
import { makePrivateFolder, openPrivate } from '../core/base/private-files.ts';
import type { GatewayStart } from './settings.ts';

/**
 * It holds streams, not documents: little lives long, and large bodies outside the heap count as heap growth. V8
 * would collect at every few dozen of them, for half of the processor time; with a heap that may grow to four times
 * its size it hardly ever does. The rest is collected when the gateway is idle.
 */
export const GATEWAY_NODE_OPTIONS = [
  '--max-semi-space-size=4',
  '--initial-old-space-size=16',
  '--heap-growing-percent=300',
  '--expose-gc',
];

/** Large bodies are returned to the system as soon as they are freed (glibc; other libraries ignore this). */
export const GATEWAY_MALLOC = { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072' };

const START_MS = 20_000;

/** The environment of the gateway's process: its own settings arrive on standard input. */
const INHERITED = [
  'PATH',
  'HOME',
  'LANG',
  'TZ',
  'TMPDIR',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  ...['http_proxy', 'https_proxy', 'no_proxy'].flatMap((name) => [name, name.toUpperCase()]),
];

/** Starts the gateway's process and waits until it listens. Throws its own error. */
export async function spawnGateway({
  env,
  ...start
}: GatewayStart & { env: NodeJS.ProcessEnv }): Promise<void> {
  const folder = join(start.data, 'log');
  makePrivateFolder(start.data, folder);
  const output = openPrivate(join(folder, 'gateway.out'), 'add');
  const inherited = Object.fromEntries(
    INHERITED.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])),
  );
  const child = spawn(process.execPath, [...GATEWAY_NODE_OPTIONS, locateProgram('gateway')], {
    cwd: start.data,
    env: { ...inherited, ...GATEWAY_MALLOC, NODE_ENV: 'production' },
    stdio: ['pipe', output, output, 'pipe'],
    detached: true,
  });
  closeSync(output);
  child.unref();
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(JSON.stringify(start satisfies GatewayStart));
  const said = await hearReady(child.stdio[3] as Readable);
  if ('ready' in said) return;
  throw new SvcError(
    isErrorCode(said.code) ? said.code : 'gateway_unreachable',
    `the gateway did not start: ${said.message}`,
    {
      hint: said.hint ?? 'see .svc/log/gateway.out',
    },
  );
}

type Said = { ready: true } | { code: string; message: string; hint?: string };

function hearReady(stream: Readable): Promise<Said> {
  return new Promise((resolve) => {
    let text = '';
    const late = setTimeout(
      () => done({ code: 'gateway_unreachable', message: 'it was not ready in time' }),
      START_MS,
    );
    function done(said: Said): void {
      clearTimeout(late);
      stream.destroy();
      resolve(said);
    }
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    stream.once('error', () =>
      done({ code: 'gateway_unreachable', message: 'its program could not be started' }),
    );
    stream.once('end', () => {
      try {
        done(JSON.parse(text) as Said);
      } catch {
        done({ code: 'gateway_unreachable', message: 'it ended before it was ready' });
      }
    });
  });
}
