import { formatCount } from '../../engine/core/base/text.ts';
import { describeTaskSource, nameSessionState, nameTaskState } from '../../engine/index.ts';
import type { State } from '../state/model.ts';
import { describeWindow } from '../state/windows.ts';
import {
  countOpenItems,
  findWorkItem,
  listWorkItems,
  WORK_SECTIONS,
  type WorkItem,
} from '../state/work-items.ts';
import { renderAskPreview } from './ask-preview.ts';
import { renderDecisionPreview } from './decision-preview.ts';
import { definePane, type PanePreview } from './pane.ts';
import { renderRunPreview } from './run-preview.ts';
import { renderTaskPreview } from './task-preview.ts';
import { describeQuietRuns, getTitle, WORK_COLUMNS } from './work-columns.ts';

/** The words that a filter finds a row by, such as `status:failed` or `status:running`. */
const describeStatus = ({ kind, section, task, session }: WorkItem): string =>
  [
    kind,
    WORK_SECTIONS[section],
    task === null ? null : `${nameTaskState(task)} ${task.status}`,
    session === null ? null : nameSessionState(session),
  ]
    .filter(Boolean)
    .join(' ');

/** Joins the fields that are known. */
const join = (...all: (string | number | null | undefined)[]): string =>
  all.filter((each) => each != null).join(' ');

/** The list of work: each task once, with its run, decision and question. */
export const workPane = definePane<WorkItem>({
  id: 'work',
  digit: '1',
  title: 'Work',
  dataParts: ['tasks', 'sessions', 'decisions', 'asks'],
  sections: WORK_SECTIONS,
  getSection: ({ section }) => section,
  listRows: listWorkItems,
  getRowId: ({ id }) => id,
  findRow: findWorkItem,
  findSubject(data, id) {
    const item = findWorkItem(data, id);
    if (item?.decision != null) return { kind: 'decision', id: item.decision.decision_id };
    if (item?.session != null) return { kind: 'session', id: item.session.session_id };
    return item?.task == null ? null : { kind: 'task', id: item.task.task_id };
  },
  fields: {
    id: ({ id, session, decision, ask }) =>
      join(id, session?.session_id, session?.worker_id, decision?.decision_id, ask?.id),
    agent: ({ session, decision, task }) => session?.agent ?? decision?.agent ?? task?.agent ?? null,
    task: ({ task, session }) => task?.task_id ?? session?.task_id ?? null,
    status: describeStatus,
    model: ({ session }) => session?.model ?? null,
    branch: ({ session }) => session?.branch ?? null,
    project: ({ task, session, decision }) => (task ?? session ?? decision)?.project ?? null,
    template: ({ task }) => task?.template ?? null,
    source: ({ task, decision }) => {
      const from = task ?? decision;
      return from === null ? null : describeTaskSource(from);
    },
    from: ({ ask }) => ask?.from_session ?? null,
    question: ({ ask }) => ask?.question ?? null,
    title: getTitle,
  },
  columns: WORK_COLUMNS,
  countUnfinished: countOpenItems,
  empty: [
    'Nothing waits for you.',
    '',
    'n creates a task; so do svc task add and signed requests.',
    'Try: svc webhook test --route task --agent claude --prompt "say hello"',
  ],
  note: (state) =>
    [
      describeShown(state),
      describeQuietRuns(state),
      describeWindow('sessions', state.data.sessions.size) === undefined
        ? ''
        : `${describeWindow('sessions', state.data.sessions.size)} runs`,
    ]
      .filter(Boolean)
      .join(', '),
  renderPreview: renderItemPreview,
});

function describeShown({ data, lists: { work } }: State): string {
  const rows = `${work.ids.length}${data.complete ? '' : '…'}`;
  return work.filter === '' ? formatCount(work.ids.length, 'row').replace(/^\d+/, rows) : `${rows} match`;
}

function renderItemPreview(state: State, item: WorkItem, cells: number): PanePreview {
  const { kind, task, session, decision, ask } = item;
  switch (kind) {
    case 'ask':
      return renderAskPreview(state, ask!, cells);
    case 'decision':
      return renderDecisionPreview(state, decision!, cells);
    case 'task':
    case 'race':
      return renderTaskPreview(state, task!, cells);
    case 'live':
    case 'ended':
    case 'over':
      return renderRunPreview(state, session!, cells);
  }
}
