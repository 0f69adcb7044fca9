import { renderBar, renderSparkline } from '../../engine/core/base/charts.ts';
import { formatElapsed } from '../../engine/core/base/text.ts';
import {
  describeFigures,
  describeQueue,
  describeReach,
  describeRework,
  describeSuccess,
  foldValues,
  formatGroupCost,
  formatGroupTokens,
} from '../../engine/index.ts';
import type { DashboardData, ListedStats } from '../state/rows.ts';
import { cleanText, renderFacts } from '../text/text.ts';
import { type StyledLine, span, type TextStyle } from '../text/theme.ts';
import { renderHeading } from './lines.ts';
import { definePane } from './pane.ts';

type Figures = ListedStats['total'];

/** All figures, or those of one agent, project or day. */
export interface StatsRow {
  id: string;
  name: string;
  isTotal: boolean;
  figures: Figures;
}

const NOBODY: Readonly<Record<ListedStats['by'], string>> = {
  agent: '(no agent)',
  project: '(this workspace)',
  day: '(no day)',
};

function listRows(stats: ListedStats): StatsRow[] {
  const { by, total, groups } = stats;
  if (total.tasks === 0) return [];
  const rows = groups.map((figures): StatsRow => {
    const name = cleanText(figures.key ?? NOBODY[by]);
    return { id: `${by}:${figures.key ?? ''}`, name, isTotal: false, figures };
  });
  // The newest day is the most relevant one.
  if (by === 'day') rows.reverse();
  return [{ id: 'all', name: 'all', isTotal: true, figures: total }, ...rows];
}

// The data is immutable, so each report is listed once.
const rowsOf = new WeakMap<ListedStats, readonly StatsRow[]>();

function listStatsRows({ stats }: Pick<DashboardData, 'stats'>): readonly StatsRow[] {
  if (stats === null) return [];
  const rows = rowsOf.get(stats) ?? listRows(stats);
  rowsOf.set(stats, rows);
  return rows;
}

const TONES = { done: 'good', failed: 'bad', denied: 'warn', cancelled: 'dim', unfinished: 'live' } as const;

/** Renders a bar for each outcome, next to its count. */
function renderOutcomes({ outcomes }: Figures, cells: number): StyledLine[] {
  const shown = Object.entries(outcomes).filter(([, count]) => count > 0);
  const most = Math.max(0, ...shown.map(([, count]) => count));
  const countCells = String(most).length;
  return shown.map(
    ([name, count]): StyledLine => [
      span(name.padEnd(11), 'dim'),
      span(String(count).padStart(countCells)),
      span(' '),
      span(renderBar(count, most, Math.max(4, cells - 12 - countCells)), TONES[name as keyof typeof TONES]),
    ],
  );
}

/** Renders each kind of end as a line of columns, one for a day or for several adjacent ones. */
function renderDays({ days }: ListedStats, cells: number): StyledLine[] {
  if (days.length < 2) return [];
  const columns = Math.max(8, cells - 11);
  const kinds = (['done', 'failed', 'denied', 'cancelled'] as const).filter((name) =>
    days.some(({ ended }) => ended[name] > 0),
  );
  const drawn = kinds.map((name) =>
    foldValues(
      days.map(({ ended }) => ended[name]),
      columns,
    ),
  );
  const perColumn = Math.ceil(days.length / columns);
  return [
    renderHeading(
      `${days[0]!.day} to ${days.at(-1)!.day}${perColumn === 1 ? '' : `, ${perColumn} days to a column`}`,
    ),
    ...kinds.map(
      (name, at): StyledLine => [
        span(name.padEnd(11), 'dim'),
        span(renderSparkline(drawn[at]!), TONES[name]),
      ],
    ),
  ];
}

const countTokens = ({ tokens }: Figures): number => tokens.input + tokens.output;

const toShare = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);

/** Statistics of all stored tasks. */
export const statsPane = definePane<StatsRow>({
  id: 'stats',
  digit: '7',
  title: 'Stats',
  dataParts: ['stats'],
  listRows: listStatsRows,
  getRowId: (row) => row.id,
  findRow: (data, id) => listStatsRows(data).find((each) => each.id === id),
  fields: { name: (row) => row.name },
  columns: [
    {
      head: 'tasks',
      width: 6,
      align: 'right',
      value: ({ figures }) => figures.tasks,
      text: ({ figures }) => String(figures.tasks),
    },
    {
      head: 'success',
      width: 7,
      align: 'right',
      value: ({ figures: { outcomes } }) => toShare(outcomes.done, outcomes.done + outcomes.failed),
      text: ({ figures }) => describeSuccess(figures),
    },
    {
      head: 'rework',
      width: 6,
      align: 'right',
      minWidth: 44,
      value: ({ figures }) => toShare(figures.reworked, figures.tasks),
      text: ({ figures }) => describeRework(figures),
    },
    {
      head: 'to end',
      width: 6,
      align: 'right',
      minWidth: 52,
      value: ({ figures }) => figures.to_end.median_sec,
      text: ({ figures }) => formatElapsed(figures.to_end.median_sec),
    },
    {
      head: 'tokens',
      width: 7,
      align: 'right',
      minWidth: 38,
      value: ({ figures }) => (figures.runs === figures.untold_tokens ? null : countTokens(figures)),
      text: ({ figures }) => formatGroupTokens(figures),
    },
    {
      head: 'cost',
      width: 9,
      align: 'right',
      minWidth: 62,
      value: ({ figures }) => figures.cost_usd,
      text: ({ figures }) => formatGroupCost(figures),
    },
    { head: 'name', text: ({ name }) => name },
  ],
  countUnfinished: () => 0,
  isQuietAtZero: true,
  note: ({ data: { stats } }) => (stats === null ? undefined : `by ${stats.by} · b: another`),
  empty: ['There are no tasks to count.', '', 'Try: svc task add "fix the typo" --run'],
  renderPreview({ data: { stats }, isPlain }, { isTotal, name, figures }, cells) {
    const isWhole = isTotal && stats !== null;
    const charts = isPlain
      ? []
      : [
          [],
          renderHeading('how tasks ended'),
          ...renderOutcomes(figures, cells),
          ...(isWhole && stats.days.length > 1 ? [[] as StyledLine, ...renderDays(stats, cells)] : []),
        ];
    const facts = [
      ...(isWhole
        ? [['since', describeReach(stats)] as const, ['queue', describeQueue(stats)] as const]
        : []),
      ...describeFigures(figures),
    ].map(([fact, text]) => [fact, text, styleOf(fact, figures)] as const);
    return { title: isTotal ? 'everything' : name, lines: [...renderFacts(facts, cells), ...charts] };
  },
});

const styleOf = (fact: string, { outcomes }: Figures): TextStyle | undefined =>
  fact === 'success' && outcomes.failed > outcomes.done ? 'bad' : undefined;
