import { renderSparkline } from '../../engine/core/base/charts.ts';
import { formatCost, formatCount, formatTokenCount, markEstimate } from '../../engine/core/base/text.ts';
import type { DashboardData, ListedUsageDay } from '../state/rows.ts';
import { cleanText, renderFacts } from '../text/text.ts';
import { definePane } from './pane.ts';

/** The filters of the list, in the order of the key. */
export const USAGE_KINDS = ['session', 'model', 'provider', 'task'] as const;
type UsageKind = (typeof USAGE_KINDS)[number];

type Fact = Parameters<typeof renderFacts>[0][number];
type NamedUsage = ListedUsageDay['groups'][UsageKind][number];

/** Usage of one session, model, provider or task today, or of all of them. */
export interface UsageLine {
  id: string;
  by: UsageKind | 'all';
  name: string;
  usage: NamedUsage;
}

/** Names for calls that belong to none of a kind. */
const NOBODY: Readonly<Record<UsageKind, string>> = {
  session: 'your own agents',
  task: 'your own agents',
  model: 'no model',
  provider: 'the gateway itself',
};

function listLines({ total, groups, of_session: session }: ListedUsageDay): UsageLine[] {
  if (total.calls === 0) return [];
  const all: UsageLine = {
    id: 'all',
    by: 'all',
    name: session === null ? 'today' : 'today, this session',
    usage: { ...total, key: null, label: null },
  };
  return [
    all,
    ...USAGE_KINDS.flatMap((by) =>
      groups[by].map((usage) => ({
        id: `${by}:${usage.key ?? ''}`,
        by,
        name: cleanText(usage.key ?? NOBODY[by]),
        usage,
      })),
    ),
  ];
}

// The data is immutable, so each day is listed once.
const linesOf = new WeakMap<ListedUsageDay, readonly UsageLine[]>();

function listUsageLines({ usage }: Pick<DashboardData, 'usage'>): readonly UsageLine[] {
  if (usage === null) return [];
  const lines = linesOf.get(usage) ?? listLines(usage);
  linesOf.set(usage, lines);
  return lines;
}

const formatTokens = ({ tokens, estimated_tokens: estimated }: Omit<NamedUsage, 'key' | 'label'>): string =>
  markEstimate(formatTokenCount(tokens), estimated > 0);

/** Formats the tokens of today, and the budget if its total is known. */
export function describeDay({
  total,
  budget_tokens_day: budget,
  of_session: session,
}: ListedUsageDay): string {
  const spent = formatTokens(total);
  return budget === 0 || session !== null ? spent : `${spent} of ${formatTokenCount(budget)}`;
}

const isSpent = ({ total, budget_tokens_day: budget, of_session: session }: ListedUsageDay): boolean =>
  budget > 0 && session === null && total.tokens >= budget;

/** The budget is for a day in UTC. */
const describeReset = ({ resets_at: at }: ListedUsageDay): string => `resets at ${at.slice(11, 16)} UTC`;

function describeBudget(day: ListedUsageDay): string {
  const { budget_tokens_day: budget, of_session: session } = day;
  if (budget === 0) return 'none: ai.budget_tokens_day is 0';
  const tokens = session === null ? describeDay(day) : `${formatTokenCount(budget)}`;
  return `${tokens} tokens${session === null ? '' : ' for all sessions'}, ${describeReset(day)}`;
}

/** Cells for the padding of a table with two columns. */
const TABLE_PADDING = 4;

const formatHour = (hour: number): string => `${String(hour).padStart(2, '0')}:00`;

function describeBusiestHour(hours: readonly number[]): string | null {
  const most = Math.max(...hours);
  if (most === 0) return null;
  return `${formatHour(hours.indexOf(most))} UTC, ${formatTokenCount(most)}`;
}

/** Lists facts of the day in addition to its sums. */
const listDayFacts = (day: ListedUsageDay, isPlain: boolean): Fact[] => [
  // A screen reader would read it bar by bar.
  ['hours', isPlain ? null : renderSparkline(day.hours)],
  ['busiest', describeBusiestHour(day.hours)],
  ['budget', describeBudget(day), isSpent(day) ? 'bad' : undefined],
  [
    'gateway',
    `${day.is_running ? day.address : 'does not run; the next routed run starts it'}, mode ${day.mode}`,
  ],
];

/** Explains what would fill the list, or why nothing can. */
function explainEmptyUsage({ usage }: DashboardData): string[] {
  if (usage === null) return ['No usage data yet.'];
  const { mode, has_providers: hasProviders } = usage;
  if (mode === 'off')
    return [
      'The gateway is off: ai.mode is off.',
      '',
      'svc config set ai.mode stub answers without a model, live asks real ones.',
    ];
  if (mode === 'live' && !hasProviders)
    return [
      'ai.mode is live, and there is no provider.',
      '',
      'Name one under ai.providers, then svc doctor --live tries it.',
    ];
  if (usage.of_session !== null)
    return [
      'This session has made no model call through the gateway today.',
      '',
      'Only the Chair sees the usage of others.',
    ];
  return [
    'No model call went through the gateway today.',
    '',
    mode === 'stub'
      ? 'ai.mode is stub: answers are canned until svc config set ai.mode live.'
      : 'Agents with agents.auth gateway are counted here.',
    'Try: svc gateway test, or svc gateway run claude',
  ];
}

/** Usage of calls through the gateway: destinations and costs. */
export const usagePane = definePane<UsageLine>({
  id: 'usage',
  digit: '4',
  title: 'Usage',
  dataParts: ['usage'],
  listRows: listUsageLines,
  getRowId: (line) => line.id,
  findRow: (data, id) => listUsageLines(data).find((each) => each.id === id),
  fields: {
    by: (line) => line.by,
    name: (line) => line.name,
    title: (line) => line.usage.label,
  },
  columns: [
    { head: 'by', width: 8, text: ({ by }) => by },
    {
      head: 'tokens',
      width: 6,
      align: 'right',
      isLively: true,
      text: ({ usage }) => formatTokens(usage),
    },
    {
      head: 'cost',
      width: 8,
      align: 'right',
      isLively: true,
      text: ({ usage }) => formatCost(usage.cost_usd, usage),
    },
    {
      head: 'calls',
      width: 5,
      align: 'right',
      minWidth: 52,
      isLively: true,
      text: ({ usage }) => String(usage.calls),
    },
    {
      head: 'failed',
      width: 6,
      align: 'right',
      minWidth: 64,
      isLively: true,
      text: ({ usage }) => String(usage.failed + usage.denied),
      style: ({ usage }) => (usage.failed + usage.denied > 0 ? 'bad' : undefined),
    },
    { head: 'name', text: ({ name, usage }) => [name, usage.label].filter(Boolean).join(' ') },
  ],
  countUnfinished: () => 0,
  isQuietAtZero: true,
  describeTab: ({ data: { usage } }) =>
    usage === null || usage.total.tokens === 0
      ? ''
      : `${isSpent(usage) ? ' !' : ''} ${formatTokens(usage.total)}`,
  note({ data: { usage } }) {
    if (usage === null) return undefined;
    const reset = describeReset(usage);
    if (isSpent(usage)) return `budget used up, ${reset}`;
    const spent = usage.total.tokens === 0 ? '' : `${describeDay(usage)} · `;
    return `${spent}budget ${reset}`;
  },
  empty: explainEmptyUsage,
  renderPreview({ data, isPlain }, { by, name, usage }, cells) {
    const day = data.usage;
    const share = day === null || day.total.tokens === 0 ? 0 : usage.tokens / day.total.tokens;
    return {
      title: name,
      ...(by === 'all' ? {} : { note: `${Math.round(share * 100)}% of today` }),
      lines: renderFacts(
        [
          ['by', by === 'all' ? null : by],
          ['title', usage.label],
          ['tokens', `${formatTokens(usage)} in ${formatCount(usage.calls, 'call')}`],
          ['input', formatTokenCount(usage.input)],
          ['from cache', formatTokenCount(usage.cache_read)],
          ['to cache', formatTokenCount(usage.cache_write)],
          ['output', formatTokenCount(usage.output)],
          ['cost', usage.cost_usd === null ? null : formatCost(usage.cost_usd, usage)],
          [
            'no price',
            usage.unpriced === 0
              ? null
              : `${formatTokenCount(usage.unpriced)} tokens; ai.prices can set their price`,
            'warn',
          ],
          [
            'estimated',
            usage.estimated_tokens === 0 ? null : `${formatTokenCount(usage.estimated_tokens)} tokens`,
          ],
          ['failed', usage.failed === 0 ? null : formatCount(usage.failed, 'call'), 'bad'],
          ['denied', usage.denied === 0 ? null : formatCount(usage.denied, 'call'), 'bad'],
          ...(by === 'all' && day !== null ? listDayFacts(day, isPlain) : []),
        ],
        cells - TABLE_PADDING,
      ),
    };
  },
});
