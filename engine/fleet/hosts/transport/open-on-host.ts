import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { Duplex } from 'node:stream';
import { SvcError } from '../../../core/base/errors.ts';
import { checkAddress, type HostAddress, nameHost, quoteLastLines, unreachableError } from './address.ts';
import { startTransport, type Transport, type TransportEnd } from './start-transport.ts';

/** A script that runs in a POSIX sh of the host. */
export interface HostProcess {
  /** stdin and stdout of the script, after the marker. */
  readonly stream: Duplex;
  /** Resolves when the transport's process has ended; never rejects. stderr is its last 8 KiB. */
  readonly ended: Promise<TransportEnd>;
  /** Ends the local transport process (SIGTERM, then SIGKILL after 2 s). */
  kill(): void;
}

export interface HostOptions {
  /** The environment of ssh, or of the command that replaces it. */
  environment: NodeJS.ProcessEnv;
  /** Ends the process; opening then rejects with `cancelled`. */
  signal?: AbortSignal;
  /** How long to wait for the script's start; default 30 s. */
  startMs?: number;
}

const START_MS = 30_000;
/** Limit of banners and other output before the marker. */
const MOST_NOISE = 1024 * 1024;
const KEPT_OF_NOISE = 2048;
/** Lines for a start file of the host's shell that reads standard input. */
const SPARE_LINES = ':\n'.repeat(16);

/**
 * Runs a script in a POSIX sh of the host, and resolves once it has started. The script has to end when its stdin ends.
 * Rejects with `runner_unreachable`, `tool_missing`, `spawn_failed`, `cancelled`, `usage`.
 */
export async function openOnHost(
  address: HostAddress,
  script: string,
  options: HostOptions,
): Promise<HostProcess> {
  checkAddress(address);
  checkWanted(address, options.signal);
  const transport = await startTransport(address, options.environment);
  const { child, ended, kill } = transport;
  options.signal?.addEventListener('abort', kill, { once: true });
  void ended.then(() => options.signal?.removeEventListener('abort', kill));
  if (options.signal?.aborted) kill();
  const nonce = randomBytes(12).toString('hex');
  // One compound command is read whole before its first line runs, so nothing after it is taken for a command. The
  // marker is written in two parts, so that an echo of the script is none.
  child.stdin.write(`${SPARE_LINES}{ printf '%s%s\\n' svc-on- ${nonce}\n${script}\nexit\n}\n`);
  try {
    await awaitMarker(address, transport, `svc-on-${nonce}`, options);
  } catch (error) {
    kill();
    child.stdout.resume();
    await ended;
    checkWanted(address, options.signal);
    throw error;
  }
  return { stream: joinStreams(child, kill), ended, kill };
}

function checkWanted(address: HostAddress, signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new SvcError('cancelled', `the call to ${nameHost(address)} was cancelled`);
}

/** Skips the output before the marker. Rejects if it does not come in time, or too much else does. */
async function awaitMarker(
  address: HostAddress,
  { child, ended }: Transport,
  marker: string,
  { startMs = START_MS }: HostOptions,
): Promise<void> {
  const { stdout } = child;
  const name = nameHost(address);
  let noise: Buffer = Buffer.alloc(0);
  let skipped = 0;
  let timer: NodeJS.Timeout | undefined;
  let receive = (_chunk: Buffer): void => undefined;
  const found = new Promise<void>((resolve, reject) => {
    timer = setTimeout(() => {
      const said = quoteLastLines(noise.toString('utf8'));
      const detail = said === '' ? '' : `; its last output: ${said}`;
      reject(unreachableError(address, `${name} started no shell within ${startMs / 1000} s${detail}`));
    }, startMs);
    receive = (chunk) => {
      noise = Buffer.concat([noise, chunk]);
      const at = noise.indexOf(`${marker}\n`);
      if (at >= 0) {
        const rest = noise.subarray(at + marker.length + 1);
        stdout.pause();
        if (rest.length > 0) stdout.unshift(Buffer.from(rest));
        return resolve();
      }
      if (noise.includes(`${marker}\r`))
        reject(
          unreachableError(address, `${name} is reached through a terminal, which would change what is sent`),
        );
      skipped += chunk.length;
      noise = Buffer.from(noise.subarray(-KEPT_OF_NOISE));
      if (skipped > MOST_NOISE)
        reject(unreachableError(address, `${name} prints endless text instead of starting a shell`));
    };
    stdout.on('data', receive);
    void ended.then((end) => reject(endedError(address, end, noise)));
  });
  try {
    await found;
  } finally {
    clearTimeout(timer);
    stdout.off('data', receive);
  }
}

/** The error for a transport that ended before the script started, with its own message. */
function endedError(address: HostAddress, { code, signal, stderr }: TransportEnd, noise: Buffer): SvcError {
  const said =
    quoteLastLines(stderr) ||
    quoteLastLines(noise.toString('utf8')) ||
    `ended with ${signal ?? `code ${code}`}`;
  return unreachableError(address, `cannot reach ${nameHost(address)}: ${said}`, {
    data: { exit_code: code },
  });
}

/** Joins both pipes of a child to one stream, which ends the child if it is destroyed before the child's output ends. */
function joinStreams({ stdin, stdout }: ChildProcessWithoutNullStreams, kill: () => void): Duplex {
  let isOver = false;
  const stream = new Duplex({
    read: () => void stdout.resume(),
    // Of a broken pipe, the end of the output is the only sign: the script may have ended with an answer.
    write: (chunk: Buffer, _encoding, done) => void stdin.write(chunk, () => done()),
    // A destroyed stream would never call back.
    final: (done) => void (stdin.destroyed ? done() : stdin.end(() => done())),
    destroy(error, done) {
      if (!isOver) kill();
      done(error);
    },
  });
  const finish = (): void => {
    if (isOver) return;
    isOver = true;
    stream.push(null);
  };
  stdout.on('data', (chunk: Buffer) => {
    if (!stream.destroyed && !stream.push(chunk)) stdout.pause();
  });
  stdout.once('end', finish).once('close', finish);
  // A caller that destroys it with an error must not crash.
  stream.on('error', () => undefined);
  return stream;
}
