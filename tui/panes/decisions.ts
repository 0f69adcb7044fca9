import { findDetail } from '../state/details.ts';
import { parseIdNumber } from '../state/numbers.ts';
import type { DashboardData, ShownDecision } from '../state/rows.ts';
import { renderFacts } from '../text/text.ts';
import type { TextStyle } from '../text/theme.ts';
import { renderProblem } from './lines.ts';
import { definePane } from './pane.ts';
import { renderAgreement, renderPlanLines } from './plan.ts';
import { formatTimeSince } from './time.ts';

const ROUTES: Readonly<Record<string, string>> = {
  task: 'POST /task',
  codehost: 'POST /codehost',
  chat: 'POST /chat',
};

/** The receiver's route or, for a code host or chat, the reference there. */
const describeSource = ({ source, source_ref: ref, stranger }: ShownDecision): string =>
  source === 'task' || ref === null
    ? (ROUTES[source] ?? source)
    : `${stranger === null ? '' : 'stranger: '}${ref}`;

/** Lists inputs that have changed since the request. An approval covers the new values. */
const listInputChanges = (
  name: string,
  changes: ShownDecision['changes'],
): [name: string, text: string | null, style?: TextStyle][] =>
  changes.map(({ input, before, after }, index) => [
    index === 0 ? name : '',
    `${input}: was ${JSON.stringify(before)}, now ${JSON.stringify(after)}`,
    'warn',
  ]);

const listPendingDecisions = (data: DashboardData): ShownDecision[] =>
  [...data.decisions.values()]
    .filter((each) => each.state === 'pending')
    .sort((one, other) => parseIdNumber(one.decision_id) - parseIdNumber(other.decision_id));

export const decisionsPane = definePane<ShownDecision>({
  id: 'decisions',
  digit: '2',
  title: 'Decisions',
  dataParts: ['decisions'],
  markedAs: 'decision',
  listRows: listPendingDecisions,
  getRowId: (decision) => decision.decision_id,
  findRow: (data, id) => data.decisions.get(id),
  fields: {
    id: (decision) => decision.decision_id,
    task: (decision) => decision.task_id,
    agent: (decision) => decision.agent,
    project: (decision) => decision.project,
    source: (decision) => `${decision.source} ${decision.source_ref ?? ''}`,
    title: (decision) => decision.title,
  },
  columns: [
    { head: 'id', width: 6, text: (decision) => decision.decision_id },
    { head: 'task', width: 6, minWidth: 52, text: (decision) => decision.task_id },
    { head: 'agent', width: 9, minWidth: 40, text: (decision) => decision.agent ?? '-' },
    { head: 'from', width: 12, minWidth: 56, text: (decision) => describeSource(decision) },
    {
      head: 'age',
      width: 4,
      align: 'right',
      text: (decision, { now }) => formatTimeSince(decision.created_at, now),
    },
    { head: 'title', text: (decision) => decision.title },
  ],
  countUnfinished: (data) => listPendingDecisions(data).length,
  empty: [
    'Nothing waits for you.',
    '',
    'A decision appears here when a signed request is not approved in advance.',
    'Try: svc webhook test --route task --agent claude --prompt "say hello" --dispatch',
  ],
  note: ({ lists: { decisions } }) =>
    decisions.ids.length === 0 ? '' : `${decisions.index + 1} of ${decisions.ids.length}, oldest first`,
  renderPreview(state, row, cells) {
    const loaded = findDetail(state, 'decision', row.decision_id);
    const detail = loaded?.detail;
    const sender = ROUTES[row.source] === undefined ? `from ${row.source}` : `${ROUTES[row.source]}, signed`;
    const agreement =
      detail && renderAgreement({ plan: detail.plan, prompt: detail.task.prompt, hash: row.hash }, cells);
    const stranger = renderFacts([['stranger', row.stranger, 'bad']], cells);
    return {
      title: row.decision_id,
      note: row.task_id,
      ...(agreement ? { essential: { approve: stranger.length + agreement.lines.length } } : {}),
      lines: [
        ...stranger,
        ...(agreement ? agreement.lines : renderFacts([['agent', row.agent ?? 'none']], cells)),
        ...(detail ? renderPlanLines(detail.plan, state, cells) : []),
        ...renderFacts(
          [
            ...listInputChanges('changed', row.changes),
            ...listInputChanges('changed since', detail?.changes ?? []),
            ['needs approval', row.why],
            [
              'from',
              [sender, row.source_ref, formatTimeSince(row.created_at, state.now)]
                .filter(Boolean)
                .join(' · '),
            ],
            // The title is usually the first line of the prompt, which is shown above.
            ['title', detail?.task.prompt.startsWith(row.title) ? null : row.title],
            ['template', detail?.task.template],
          ],
          cells,
        ),
        ...(loaded?.problem ? renderProblem({ message: loaded.problem }, cells) : []),
        ...(agreement?.whole ?? []),
      ],
    };
  },
});
