import type { Socket } from 'node:net';
import { SvcError } from '../core/base/errors.ts';

export const PING_ID = 'ping';
const PING = `${JSON.stringify({ jsonrpc: '2.0', id: PING_ID, method: 'ping' })}\n`;

/** How long an engine may take to welcome a client, ms. */
const WELCOME_MS = 5000;
/** Interval at which a waiting client checks for a sign of life of the engine, ms. */
const LISTEN_MS = 2500;
/** After this many silent checks in a row the engine counts as hung. At the first of them it is pinged. */
const SILENT_LOOKS = 3;
/** How many times as long an engine on another machine may be silent: its connection is noticed as lost before that. */
const FAR = 6;
/** How long a stopped command may take to end its work, ms; then its connection is cut. */
const STOP_MS = 1000;

/** Cuts a connection whose engine does not answer any more, or whose command was stopped. */
export function watchConnection(
  socket: Socket,
  {
    patienceMs,
    stopped,
    isFar,
    hungError,
  }: {
    patienceMs: number | undefined;
    stopped: AbortSignal | undefined;
    isFar: boolean;
    hungError(): SvcError;
  },
) {
  /** Why the engine refused this connection, or why we have cut it. */
  let problem: SvcError | null = null;
  const cutConnection = (why: SvcError): void => {
    problem ??= why;
    socket.destroy();
  };
  const cutHung = (): void => cutConnection(hungError());
  const late = patienceMs === undefined ? undefined : setTimeout(cutHung, patienceMs);
  const unwelcome = setTimeout(cutHung, isFar ? FAR * WELCOME_MS : WELCOME_MS);
  let isWelcome = false;
  let stopping: NodeJS.Timeout | undefined;
  const cutStopped = (): void => cutConnection(new SvcError('cancelled', 'the command was stopped'));
  const onStop = (): void => {
    if (isWelcome) stopping = setTimeout(cutStopped, STOP_MS).unref();
    else cutStopped();
  };
  stopped?.addEventListener('abort', onStop, { once: true });
  let pending = 0;
  let silentLooks = 0;
  // Counted in checks and not by the clock: this process may have been stopped itself.
  const listening = setInterval(() => {
    if (pending === 0) return;
    silentLooks += 1;
    // Any answer is a sign of life.
    if (silentLooks === 1) socket.write(PING);
    else if (silentLooks > (isFar ? FAR * SILENT_LOOKS : SILENT_LOOKS)) cutHung();
  }, LISTEN_MS);
  listening.unref();

  return {
    problem: () => problem,
    setProblem(refused: SvcError): void {
      problem = refused;
    },
    /** Called for everything that the engine sends. */
    noteSign(): void {
      silentLooks = 0;
    },
    welcome(): void {
      isWelcome = true;
      clearTimeout(unwelcome);
    },
    beginRequest(): void {
      if (pending === 0) silentLooks = 0;
      pending += 1;
    },
    endRequest(): void {
      pending -= 1;
    },
    close(): void {
      clearTimeout(late);
      clearTimeout(unwelcome);
      clearTimeout(stopping);
      clearInterval(listening);
      stopped?.removeEventListener('abort', onStop);
    },
  };
}
