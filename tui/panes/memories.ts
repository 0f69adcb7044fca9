import { formatCount, formatLocalTime } from '../../engine/core/base/text.ts';
import type { State } from '../state/model.ts';
import type { ListedMemories, ListedMemory } from '../state/rows.ts';
import { padText, renderFacts, splitCleanLines, wrapText } from '../text/text.ts';
import { type StyledLine, span, toPlainText } from '../text/theme.ts';
import { renderHeading, renderQuote } from './lines.ts';
import { definePane } from './pane.ts';
import { formatTimeSince } from './time.ts';

/** Minimum width of each text for showing two of them side by side. */
const LEAST_SIDE = 30;

const describeMemoryState = ({ unreviewed, against, is_in_brief: isInBrief }: ListedMemory): string =>
  unreviewed !== null ? 'waits' : against.length > 0 ? 'conflict' : isInBrief ? 'brief' : '';

const describeBrief = ({ brief }: ListedMemories): string =>
  brief === null
    ? 'no worker has received any yet'
    : `${formatCount(brief.ids.length, 'memory', 'memories')}, about ${formatCount(brief.tokens, 'token')} (${brief.bytes} bytes), to ${brief.session_id} for ${brief.task_id}, ${formatLocalTime(brief.at)}`;

const describeAuthor = ({ session_id: session, agent, task_id: task, actor }: ListedMemory): string =>
  session === null
    ? actor
    : `${session}${agent === null ? '' : ` (${agent})`}${task === null ? '' : ` for ${task}`}`;

type Side = Pick<ListedMemory, 'id' | 'text' | 'changed_at'>;

const renderSide = (side: Side, now: number, cells: number): StyledLine[] => [
  [span(`${side.id} (${formatTimeSince(side.changed_at, now)})`, 'title')],
  ...splitCleanLines(side.text).flatMap((line) =>
    wrapText(line, cells).map((part): StyledLine => [span(part)]),
  ),
];

/** Renders contradicting texts next to one another, or below if there is no room. */
function renderConflict(row: ListedMemory, now: number, cells: number): StyledLine[] {
  const width = Math.floor((cells - 3) / 2);
  return row.against.flatMap((other) => {
    if (width < LEAST_SIDE)
      return [...renderSide(row, now, cells), [], ...renderSide(other, now, cells), [] as StyledLine];
    const [left, right] = [renderSide(row, now, width), renderSide(other, now, width)];
    const lines = Array.from(
      { length: Math.max(left.length, right.length) },
      (_, at): StyledLine => [
        span(padText(toPlainText(left[at] ?? []), width), at === 0 ? 'title' : undefined),
        span(' │ ', 'border'),
        ...(right[at] ?? []),
      ],
    );
    return [...lines, [] as StyledLine];
  });
}

/** Memories that outlive a session. */
export const memoriesPane = definePane<ListedMemory>({
  id: 'memories',
  digit: '5',
  title: 'Memory',
  dataParts: ['memories'],
  findSubject: (_, id) => ({ kind: 'memory', id }),
  listRows: ({ memories }) => memories?.memories ?? [],
  getRowId: (row) => row.id,
  findRow: (data, id) => data.memories?.memories.find((each) => each.id === id),
  fields: { type: (row) => row.type, title: (row) => row.title, text: (row) => row.text },
  isSearchedByEngine: true,
  columns: [
    { head: 'type', width: 10, text: (row) => row.type },
    {
      head: 'state',
      width: 8,
      text: describeMemoryState,
      style: (row) => (row.unreviewed !== null || row.against.length > 0 ? 'warn' : 'dim'),
    },
    { head: 'age', width: 4, align: 'right', text: (row, { now }) => formatTimeSince(row.changed_at, now) },
    { head: 'title', text: (row) => row.title },
  ],
  countUnfinished: ({ memories }) => memories?.unreviewed ?? 0,
  empty: ({ memories }) =>
    memories !== null && memories.active > 0
      ? ['Nothing is remembered about it.']
      : [
          'Nothing is remembered yet.',
          '',
          'Agents store what later sessions need to know with memory_remember,',
          'people with svc memory add.',
        ],
  note({ data: { memories }, lists }: State) {
    if (memories === null) return undefined;
    const parts = [
      `${lists.memories.ids.length} of ${memories.active}`,
      ...(memories.unreviewed === 0 ? [] : [`${memories.unreviewed} wait`]),
      ...(memories.conflicts === 0 ? [] : [formatCount(memories.conflicts, 'conflict')]),
    ];
    return parts.join(' · ');
  },
  renderPreview(state, row, cells) {
    const essential = [
      ...renderFacts(
        [
          ['title', row.title],
          ['type', row.type],
          ['waits', row.unreviewed, 'warn'],
          ['newer', row.maybe_replaced_by, 'warn'],
        ],
        cells,
      ),
      [],
      ...(row.against.length > 0
        ? [
            renderHeading('same title, different text: K keeps this one'),
            ...renderConflict(row, state.now, cells),
          ]
        : [...renderQuote(splitCleanLines(row.text), cells), []]),
    ];
    const { memories } = state.data;
    const cut = row.text_chars - row.text.length;
    return {
      title: row.id,
      note: row.type,
      essential: { 'keep-memory': essential.length },
      lines: [
        ...essential,
        ...(cut > 0 ? [renderHeading(`and ${cut} more characters: svc memory show ${row.id}`), []] : []),
        ...renderFacts(
          [
            ['tags', row.tags.join(', ')],
            ['source', row.source],
            ['by', describeAuthor(row)],
            ['changed', formatLocalTime(row.changed_at)],
            ['kept', row.kept_by === null ? null : `by ${row.kept_by}, ${formatLocalTime(row.kept_at)}`],
            ['last brief', memories === null ? null : describeBrief(memories)],
            ['in it', memories?.brief == null ? null : row.is_in_brief ? 'yes' : 'no'],
          ],
          cells,
        ),
      ],
    };
  },
});
