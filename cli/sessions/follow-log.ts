import { SvcError } from '../../engine/core/base/errors.ts';
import { keepLastState, renderLog, renderLogLine, toPrintable } from '../../engine/core/base/text.ts';
import type { EngineClient } from '../../engine/index.ts';
import type { CommandContext, FlagTable } from '../command.ts';
import { outputFlags } from '../pages.ts';
import type { PaintFunction } from '../paint.ts';
import { describeWait, formatFailure, loadOpenAsks } from './session-text.ts';

interface LogNotification {
  text: string;
  dropped: number;
  ended: boolean;
}

/** Silence after which the reason is shown, ms. */
const QUIET_MS = 2000;

/**
 * Renders a log that arrives in parts, which may end anywhere. A terminal shows the unfinished line, redrawn as the
 * program redraws it; other outputs get complete lines only.
 */
function createLogPrinter(isTerminal: boolean): { print(part: string): string; end(): string } {
  let rest = '';
  let shown = '';
  function drawLine(line: string): string {
    const before = shown;
    shown = line;
    return line.startsWith(before) ? line.slice(before.length) : `\r\x1b[K${line}`;
  }
  return {
    print(part) {
      const lines = (rest + part).split('\n');
      rest = keepLastState(lines.pop() ?? '');
      const whole = lines.map((line) => {
        const text = drawLine(renderLogLine(line));
        shown = '';
        return `${text}\n`;
      });
      return whole.join('') + (isTerminal ? drawLine(renderLogLine(rest)) : '');
    },
    end: () => (isTerminal ? '' : renderLogLine(rest)),
  };
}

/**
 * Writes a session's log, or that of a command in its worktree, to stdout until it ends or the person interrupts. If a
 * session is silent because it waits, prints the reason once.
 */
export async function followLog(
  context: Pick<CommandContext<never>, 'stdout' | 'json' | 'signal' | 'note'>,
  client: EngineClient,
  session: string,
  part: { from?: number; lines?: number; raw?: boolean | undefined; command?: string },
): Promise<void> {
  const { from, lines, raw = false, command } = part;
  let finishFollowing: () => void = () => undefined;
  let failFollowing: (error: unknown) => void = () => undefined;
  const ended = new Promise<void>((resolve, reject) => {
    finishFollowing = resolve;
    failFollowing = reject;
  });
  ended.catch(() => undefined);
  let isQuiet = true;
  const printer = createLogPrinter(context.stdout.isTTY);
  await client.subscribe(
    'log.follow',
    {
      session,
      form: raw ? 'raw' : 'readable',
      ...(from === undefined ? {} : { from }),
      ...(lines === undefined ? {} : { lines }),
      ...(command === undefined ? {} : { command }),
    },
    ({ method, params }) => {
      if (method !== 'log') {
        failFollowing(new SvcError('internal', 'the log can no longer be read'));
        return;
      }
      const { text, dropped, ended: isLast } = params as unknown as LogNotification;
      isQuiet = false;
      if (!context.json) {
        if (dropped > 0) context.stdout.write(`[svc: ${dropped} bytes of earlier output dropped]\n`);
        context.stdout.write(raw ? text : printer.print(text));
      }
      if (isLast) {
        if (!context.json) context.stdout.write(printer.end());
        finishFollowing();
      }
    },
  );
  context.signal.addEventListener('abort', finishFollowing, { once: true });
  void client.closed.then(() =>
    failFollowing(
      new SvcError('engine_unreachable', 'the engine stopped', { hint: 'svc up, then follow again' }),
    ),
  );
  let said: string | null = null;
  async function sayWait(): Promise<void> {
    const row = await client.call('session.show', { session });
    const asks = row.state === 'running' ? await loadOpenAsks(client) : null;
    const wait = describeWait(row, asks?.get(row.session_id));
    if (wait !== null && wait !== said) context.note(toPrintable(`${row.session_id}: ${wait}`));
    said = wait;
  }
  const watch = setInterval(() => {
    if (isQuiet && command === undefined) void sayWait().catch(() => undefined);
    isQuiet = true;
  }, QUIET_MS);
  await ended.finally(() => clearInterval(watch));
}

export const logFlags = {
  follow: { type: 'boolean', short: 'f', about: 'follow until the run ends' },
  lines: { type: 'number', short: 'n', about: 'start this many lines before the end (200)' },
  raw: { type: 'boolean', about: 'raw output, including control characters' },
  ...outputFlags,
} as const satisfies FlagTable;

/** Dims the lines that svc itself has written. */
const paintLog = (text: string, paint: PaintFunction): string =>
  renderLog(text)
    .split('\n')
    .map((line) => (line.startsWith('[svc: ') ? paint('dim', line) : line))
    .join('\n');

/** Throws `not_found` for a session that ended without output: an empty log with exit code 0 would suggest that it ran. */
async function checkEverStarted(client: EngineClient, session: string): Promise<void> {
  const row = await client.call('session.show', { session });
  if (row.state !== 'ended' || row.started_at !== null) return;
  const { end } = await client.call('session.log', { session, lines: 0 });
  if (end > 0) return;
  const why = row.failure === null ? '' : `: ${toPrintable(formatFailure(row.failure))}`;
  throw new SvcError('not_found', `${row.session_id} never started, so it has no log${why}`, {
    hint: `svc task show ${row.task_id} shows what to do next`,
  });
}

/** The result of a command that shows a log. */
export async function showLog(
  context: CommandContext<typeof logFlags>,
  client: EngineClient,
  session: string | undefined,
): Promise<void> {
  const { follow, lines = 200, raw } = context.flags;
  await checkEverStarted(client, session ?? '');
  if (follow) return followLog(context, client, session ?? '', { lines, raw });
  const part = await client.call('session.log', {
    session: session ?? '',
    lines,
    form: raw ? 'raw' : 'readable',
  });
  const text = part.text.replace(/\n$/, '');
  // Explicitly requested, so it bypasses the escaping for terminals.
  if (raw && !context.json) context.stdout.write(text === '' ? '' : `${text}\n`);
  else context.result(part, () => paintLog(text, context.paint));
}
