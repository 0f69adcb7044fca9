import { type EngineClient, printable, SvcError } from '../../engine/index.ts';
import type { Context, FlagTable } from '../command.ts';

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
    {
      session,
      form: raw ? 'raw' : 'readable',
      ...(from === undefined ? {} : { from }),
      ...(lines === undefined ? {} : { lines }),
    },
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

export const logFlags = {
  follow: { type: 'boolean', short: 'f', about: 'go on until the run has ended' },
  lines: { type: 'number', short: 'n', about: 'begin this many lines before the end (200)' },
  raw: { type: 'boolean', about: 'as the agent printed it, escape sequences too' },
} as const satisfies FlagTable;

/** What a command prints that shows a log. */
export async function showLog(
  context: Context<typeof logFlags>,
  client: EngineClient,
  session: string | undefined,
): Promise<void> {
  const { follow, lines = 200, raw } = context.flags;
  if (follow) return followLog(context, client, session ?? '', { lines, raw });
  const part = await client.call<{ text: string }>('session.log', {
    session,
    lines,
    form: raw ? 'raw' : 'readable',
  });
  context.result(part, () => (raw ? part.text : printable(part.text, { lines: true })).replace(/\n$/, ''));
}
