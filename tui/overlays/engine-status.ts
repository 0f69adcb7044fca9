import { formatLocalTime, formatZonedTime } from '../../engine/core/base/text.ts';
import { describeLink, isLinkTroubled } from '../../engine/index.ts';
import type { State } from '../state/model.ts';
import { cleanText, renderFacts } from '../text/text.ts';
import { type StyledLine, span } from '../text/theme.ts';

const formatAddress = ({ host, port }: { host: string; port: number }): string => `${host}:${port}`;

/** Cells for the padding of a table with two columns. */
const PADDING = 4;

/** Renders what runs, where it listens and what it uses, for a table of `cells`. */
export function renderEngineLines({ data: { status } }: Pick<State, 'data'>, cells: number): StyledLine[] {
  if (status === null) return [[span('The engine has not answered yet.', 'dim')]];
  const { deliveries, workers } = status;
  return renderFacts(
    [
      ['engine', `pid ${status.pid}, version ${status.version}`],
      ['up since', formatLocalTime(status.started_at)],
      ['memory', `${Math.round(status.memory_bytes / 1024 ** 2)} MB`],
      ['workspace', status.root],
      [
        'restarts',
        status.supervisor === null ? 'not by itself' : `by itself after a crash (pid ${status.supervisor})`,
      ],
      [
        'receiver',
        status.receivers.map(formatAddress).join(', ') ||
          `off: ${status.receiver_problem ?? 'svc webhook serve starts it'}`,
      ],
      ...status.sources.map(
        ({ repository, problem }) =>
          ['source', `${repository}: ${problem ?? 'polled'}`, problem === null ? undefined : 'warn'] as const,
      ),
      ...status.schedules.map(
        ({ id, title, next_at: next, tz, problem }) =>
          [
            'schedule',
            `${id} ${next === null ? 'never' : formatZonedTime(next, tz)}: ${cleanText(problem ?? title)}`,
            problem === null ? undefined : 'warn',
          ] as const,
      ),
      ...status.secrets.map(
        ({ key, name, is_set: isSet }) =>
          [isSet ? 'has' : 'lacks', `${name} (${key})`, isSet ? undefined : 'warn'] as const,
      ),
      ['http', status.http === null ? 'off' : formatAddress(status.http)],
      [
        'tasks',
        Object.entries(status.tasks)
          .map(([name, count]) => `${count} ${name}`)
          .join(', '),
      ],
      ['workers', `${workers.running} running, ${workers.queued} queued, at most ${workers.cap}`],
      [
        'deliveries',
        `${deliveries.pending} pending, ${deliveries.dead} dead`,
        deliveries.dead > 0 ? 'bad' : undefined,
      ],
      ['link', describeLink(status.link) ?? 'to no server', isLinkTroubled(status.link) ? 'warn' : undefined],
      ['svc.yaml', status.config_problem ?? 'in use', status.config_problem === null ? undefined : 'bad'],
      ...status.warnings.map((warning) => ['warning', warning, 'warn'] as const),
    ],
    cells - PADDING,
  );
}
