import { describeAuthor } from '../../engine/index.ts';
import { hasFactsBox } from '../layout/layout.ts';
import { findDetail } from '../state/details.ts';
import type { State } from '../state/model.ts';
import type { ShownDecision } from '../state/rows.ts';
import { renderFacts } from '../text/text.ts';
import type { TextStyle } from '../text/theme.ts';
import { renderProblem } from './lines.ts';
import type { PanePreview } from './pane.ts';
import { renderAgreement, renderPlanLines, renderPrompt } from './plan.ts';
import { formatTimeSince } from './time.ts';

const ROUTES: Readonly<Record<string, string>> = {
  task: 'POST /task',
  chat: 'POST /chat',
};

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

/** Renders what a decision agrees to, why it waits, and the whole prompt. */
export function renderDecisionPreview(state: State, row: ShownDecision, cells: number): PanePreview {
  const loaded = findDetail(state, 'decision', row.decision_id);
  const detail = loaded?.detail;
  // Events of a code host arrive by hooks, which are signed, or by polling.
  const from = row.source === 'codehost' ? 'the code host' : `from ${row.source}`;
  const sender = ROUTES[row.source] === undefined ? from : `${ROUTES[row.source]}, signed`;
  const agreement =
    detail && renderAgreement({ plan: detail.plan, prompt: detail.task.prompt, hash: row.hash }, cells);
  const stranger = renderFacts([['stranger', row.stranger, 'bad']], cells);
  return {
    title: row.task_id,
    note: `waits for you as ${row.decision_id}`,
    ...(agreement ? { essential: { approve: stranger.length + agreement.lines.length } } : {}),
    facts: [
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
            [
              sender,
              row.source_ref,
              detail && describeAuthor(detail.task),
              formatTimeSince(row.created_at, state.now),
            ]
              .filter(Boolean)
              .join(' · '),
          ],
          ['page', detail?.task.source_url],
          // The title is usually the first line of the prompt, which is shown above.
          ['title', detail?.task.prompt.startsWith(row.title) ? null : row.title],
          ['template', detail?.task.template],
        ],
        cells,
      ),
      ...(loaded?.problem ? renderProblem({ message: loaded.problem }, cells) : []),
    ],
    lines: detail && hasFactsBox(state) ? renderPrompt(detail.task.prompt, cells) : (agreement?.whole ?? []),
  };
}
