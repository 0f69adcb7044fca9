import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { SvcError } from '../../../core/base/errors.ts';
import { settleWithin } from '../../../core/base/settle-within.ts';
import { quoteForShell } from '../../../core/base/text.ts';
import { type HostAddress, nameHost, quoteLastLines, unreachableError } from './address.ts';
import { type HostOptions, type HostProcess, openOnHost } from './open-on-host.ts';

export interface RunOnHostOptions extends HostOptions {
  /**
   * Time limit after the start; default 60 s. With `input`, of a time in which none of it is accepted; all of it may
   * take 30 times as long.
   */
  timeoutMs?: number;
  /** Becomes the script's stdin; without it, that is empty. */
  input?: Readable;
}

/** The result of a script on the host. */
export interface HostResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

const TIMEOUT_MS = 60_000;
/** Limits a host that accepts the input ever so slowly. */
const MOST_TIMEOUTS = 30;
const MOST_BYTES = 1024 * 1024;
const DRAIN_MS = 2000;
const LONGEST_MARK = 64;

/** Reports the exit code in the output, because not every transport passes it on. */
const reportEnd = (nonce: string): string => `printf '\\n%s%s %s\\n' svc-end- ${nonce} "$svc_code"`;

/** Runs a script, and ends its processes once stdin ends: all of `$1`, or the script alone without that. */
const runWatched = (script: string, nonce: string): string => `exec 3<&0 </dev/null
sh -c ${quoteForShell(script)} 3<&- &
svc_run=$!
{ while read -r svc_line; do :; done
trap '' TERM
kill -TERM "\${1:-$svc_run}"
sleep 2
kill -KILL "\${1:-$svc_run}"; } <&3 >/dev/null 2>&1 &
svc_watch=$!
exec 3<&-
wait "$svc_run"
svc_code=$?
kill "$svc_watch" 2>/dev/null
${reportEnd(nonce)}`;

/**
 * Builds a script that also ends as soon as its stdin does: a lost connection leaves nothing running. It has a separate
 * session, so that a signal to its group (0) reaches its processes and no others, and one to the transport's group
 * does not end the watch before the rest.
 */
const wrapWithoutInput = (script: string, nonce: string): string => `exec 3<&0 </dev/null
svc_new=
command -v setsid >/dev/null 2>&1 && svc_new=setsid
$svc_new sh -c ${quoteForShell(runWatched(script, nonce))} svc \${svc_new:+0} <&3 3<&- &
exec 3<&-
wait "$!"`;

const wrapWithInput = (script: string, nonce: string): string => `(
${script}
)
svc_code=$?
${reportEnd(nonce)}`;

/**
 * Runs a script on the host to its end; caps the output (1 MiB) and the time. Rejects as `openOnHost`, and with
 * `runner_unreachable` if the connection ends first, or a limit is reached.
 */
export async function runOnHost(
  address: HostAddress,
  script: string,
  options: RunOnHostOptions,
): Promise<HostResult> {
  const { input, timeoutMs = TIMEOUT_MS, signal } = options;
  const nonce = randomBytes(12).toString('hex');
  // Read later; until then its failure must not crash the process.
  input?.on('error', () => undefined);
  const wrap = input === undefined ? wrapWithoutInput : wrapWithInput;
  let host: HostProcess;
  try {
    host = await openOnHost(address, wrap(script, nonce), options);
  } catch (error) {
    input?.destroy();
    throw error;
  }
  const limit = startLimit(timeoutMs, host.kill);
  const sending = new AbortController();
  /** The error of `input` itself. */
  let inputError: unknown = null;
  if (input !== undefined)
    sendInput(input, host, { signal: sending.signal, onProgress: limit.restart }).catch((error: unknown) => {
      if (sending.signal.aborted || host.stream.destroyed) return;
      inputError = error;
      host.kill();
    });
  try {
    const output = await collectOutput(host, new RegExp(`\\nsvc-end-${nonce} (\\d{1,3})\\n`));
    const isLate = limit.isReached();
    limit.stop();
    sending.abort();
    if (output.end !== null) {
      host.stream.end();
      if ((await settleWithin(DRAIN_MS, host.ended)) === null) host.kill();
    } else host.kill();
    const { stderr } = await host.ended;
    if (inputError !== null) throw inputError;
    if (signal?.aborted) throw new SvcError('cancelled', `the call to ${nameHost(address)} was cancelled`);
    // After the limit, an end is one by our signal.
    if (output.end !== null && !isLate) return { code: Number(output.end[1]), stdout: output.text, stderr };
    throw unreachableError(address, describeCut(address, { ...output, isLate, timeoutMs, stderr }));
  } finally {
    limit.stop();
    sending.abort();
    input?.destroy();
    host.stream.destroy();
  }
}

function describeCut(
  address: HostAddress,
  facts: { isFull: boolean; isLate: boolean; timeoutMs: number; stderr: string },
): string {
  const name = nameHost(address);
  if (facts.isFull) return `${name} answered with more than ${MOST_BYTES} bytes`;
  if (facts.isLate) return `${name} did not answer within ${facts.timeoutMs / 1000} s`;
  const said = quoteLastLines(facts.stderr);
  return `the connection to ${name} ended before its answer${said === '' ? '' : `: ${said}`}`;
}

/** Sends the whole input, then ends the script's stdin. Rejects with an error of the input, or once `signal` aborts. */
async function sendInput(
  input: Readable,
  { stream }: HostProcess,
  { signal, onProgress }: { signal: AbortSignal; onProgress(): void },
): Promise<void> {
  for await (const chunk of input as AsyncIterable<Buffer>) {
    signal.throwIfAborted();
    if (!stream.write(chunk)) await once(stream, 'drain', { signal });
    onProgress();
  }
  stream.end();
}

/** Reads the output up to the end mark, which is not part of the text. */
function collectOutput(
  { stream }: HostProcess,
  endMark: RegExp,
): Promise<{ text: string; end: RegExpExecArray | null; isFull: boolean }> {
  const chunks: Buffer[] = [];
  let length = 0;
  /** The last bytes, in which the mark is looked for. */
  let tail = '';
  return new Promise((resolve) => {
    const finish = (isFull: boolean): void => {
      stream.off('data', receive).off('end', finishShort).off('close', finishShort);
      // Reads the rest to the end, and drops it.
      stream.resume();
      const text = Buffer.concat(chunks).toString('utf8');
      const end = endMark.exec(text);
      resolve({ text: end === null ? text : text.slice(0, end.index), end, isFull });
    };
    const finishShort = (): void => finish(false);
    const receive = (chunk: Buffer): void => {
      chunks.push(chunk);
      length += chunk.length;
      tail = tail.slice(-LONGEST_MARK) + chunk.toString('latin1');
      if (length > MOST_BYTES) finish(true);
      else if (endMark.test(tail)) finish(false);
    };
    stream.on('data', receive).once('end', finishShort).once('close', finishShort);
  });
}

/** Starts a timer that ends the run. It can be restarted, but not for ever. */
function startLimit(ms: number, end: () => void): { restart(): void; isReached(): boolean; stop(): void } {
  const last = performance.now() + (MOST_TIMEOUTS - 1) * ms;
  let isReached = false;
  let isStopped = false;
  const timer = setTimeout(() => {
    isReached = true;
    end();
  }, ms);
  return {
    restart() {
      if (!isReached && !isStopped && performance.now() < last) timer.refresh();
    },
    isReached: () => isReached,
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
