import { renderBar, renderSparkline } from '../../../engine/core/base/charts.ts';
import { formatElapsed } from '../../../engine/core/base/text.ts';
import {
  describeFigures,
  describeQueue,
  describeReach,
  describeRework,
  describeSuccess,
  foldValues,
  formatGroupCost,
  formatGroupTokens,
  type StatsFigures,
  type StatsReport,
  type WireValue,
} from '../../../engine/index.ts';
import { parseMoment } from '../../arguments/moment.ts';
import { defineCommand } from '../../command.ts';
import { outputFlags } from '../../pages.ts';
import { formatFacts, formatRows } from '../../print.ts';

const NOBODY: Readonly<Record<StatsReport['by'], string>> = {
  agent: '(no agent)',
  project: '(this workspace)',
  day: '(no day)',
};

const BAR_CELLS = 12;

/** Formats the days as one line each: how many tasks were done, and how many failed. */
function formatDays({ days }: WireValue<StatsReport>, cells: number): [string, string | null][] {
  if (days.length < 2) return [];
  const drawBar = (name: 'done' | 'failed'): string =>
    renderSparkline(
      foldValues(
        days.map(({ ended }) => ended[name]),
        cells,
      ),
    );
  return [
    ['done by day', drawBar('done')],
    ['failed by day', days.some(({ ended }) => ended.failed > 0) ? drawBar('failed') : null],
  ];
}

export const statsCommand = defineCommand({
  name: 'stats',
  about: 'show statistics: outcomes, times, rework, tokens and money, and when the queue is likely to end',
  flags: {
    by: { type: 'string', short: 'b', about: 'group by (agent)', choices: ['agent', 'project', 'day'] },
    since: { type: 'string', value: 'when', about: 'only tasks since then: an age such as 30d, or a date' },
    ...outputFlags,
  },
  examples: ['stats', 'stats --by day --since 30d', 'stats --by project --json'],
  async run(context) {
    const { by = 'agent', since } = context.flags;
    const client = await context.engine();
    const report = await client.call('stats.read', {
      by,
      ...(since === undefined ? {} : { since: parseMoment(since, 'since') }),
    });
    const most = Math.max(0, ...report.groups.map(({ tasks }) => tasks));
    const table = await formatRows(
      report.groups,
      [
        { head: by, value: ({ key }) => key ?? NOBODY[by] },
        { head: 'tasks', value: ({ tasks }) => tasks, right: true },
        { head: 'done', value: ({ outcomes }) => outcomes.done, right: true },
        { head: 'failed', value: ({ outcomes }) => outcomes.failed, right: true },
        { head: 'success', value: describeSuccess, right: true },
        { head: 'rework', value: describeRework, right: true },
        {
          head: 'to approval',
          value: ({ to_approval: span }) => formatElapsed(span.median_sec),
          right: true,
        },
        { head: 'to end', value: ({ to_end: span }) => formatElapsed(span.median_sec), right: true },
        { head: 'tokens', value: formatGroupTokens, right: true },
        { head: 'cost', value: formatGroupCost, right: true },
        ...(context.stdout.isTTY
          ? [
              {
                head: 'share',
                value: ({ tasks }: WireValue<StatsFigures>) => renderBar(tasks, most, BAR_CELLS),
              },
            ]
          : []),
      ],
      context.stdout,
      context.paint,
    );
    const cells = Math.max(10, Math.min(60, (context.stdout.columns ?? 80) - 16));
    context.result(report, (all) =>
      [
        formatFacts(
          [
            ['since', describeReach(all)],
            ...describeFigures(all.total),
            ...formatDays(all, cells),
            ['queue', describeQueue(all)],
          ],
          context.paint,
        ),
        ...(table === '' ? [] : ['', table]),
      ].join('\n'),
    );
  },
});
