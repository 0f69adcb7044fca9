import { type EngineClient, printable, SvcError } from '../../engine/index.ts';
import type { Context } from '../command.ts';

interface LogNotification {
  text: string;
  dropped: number;
  ended: boolean;
}

/** Writes a session's log to stdout until its run has ended, or the person has seen enough. */
export async function followLog(
  context: Pick<Context<never>, 'stdout' | 'json' | 'signal'>,
  client: EngineClient,
  session: string,
  { from, lines, raw = false }: { from?: number; lines?: number; raw?: boolean | undefined },
): Promise<void> {
  let finish: () => void = () => undefined;
  let fail: (error: unknown) => void = () => undefined;
  const ended = new Promise<void>((resolve, reject) => {
    finish = resolve;
    fail = reject;
  });
  ended.catch(() => undefined);
  await client.subscribe(
    'log.follow',
    { session, ...(from === undefined ? {} : { from }), ...(lines === undefined ? {} : { lines }) },
    ({ method, params }) => {
      if (method !== 'log') {
        fail(new SvcError('internal', 'the log can no longer be read'));
        return;
      }
      const { text, dropped, ended: isLast } = params as unknown as LogNotification;
      if (!context.json) {
        if (dropped > 0) context.stdout.write(`[svc: ${dropped} bytes of earlier output dropped]\n`);
        context.stdout.write(raw ? text : printable(text, { lines: true }));
      }
      if (isLast) finish();
    },
  );
  context.signal.addEventListener('abort', finish, { once: true });
  void client.closed.then(() =>
    fail(new SvcError('engine_unreachable', 'the engine stopped', { hint: 'svc up, then follow again' })),
  );
  await ended;
}
