import { createNewTask } from '../actions/tasks.ts';
import { type StateTransition, showMessage, transitionTo } from '../actions/transition.ts';
import { createInput, editInput, editText, insertLines, insertText, showCaret } from '../state/input.ts';
import type { State } from '../state/model.ts';
import { clampNumber, rotateIndex } from '../state/numbers.ts';
import { type NewTaskForm, TASK_PRIORITIES } from '../state/overlays.ts';
import { splitCleanLines, wrapText } from '../text/text.ts';
import { type StyledLine, span } from '../text/theme.ts';
import { renderEditorText, renderFormField } from './form-field.ts';

/** The fields in the order of the form. Enter goes to the next one, and creates the task in the last one. */
const FIELDS = [
  'title',
  'prompt',
  'who',
  'base',
  'priority',
  'timeout',
  'project',
  'criteria',
  'context',
  'ledger',
] as const;
type Field = (typeof FIELDS)[number];
type LineField = 'title' | 'base' | 'timeout' | 'ledger';
type EditorField = 'criteria' | 'context';

const LINE_FIELDS: ReadonlySet<Field> = new Set(['title', 'base', 'timeout', 'ledger']);
const isLineField = (field: Field): field is LineField => LINE_FIELDS.has(field);
/** Fields of several lines that only the editor writes. */
const isEditorField = (field: Field): field is EditorField => field === 'criteria' || field === 'context';

const HINTS: Readonly<Record<Exclude<LineField, 'title'> | EditorField | 'prompt', string>> = {
  prompt: '(what the agent is to do; without it the title)',
  base: '(the branch that is checked out; another, or a pull request such as #12)',
  timeout: "(the agent's own; such as 600, 30m or 2h)",
  criteria: '(none; one per line: the worker reports each as met or not; Ctrl-E)',
  context: '(none; background for the worker, in addition to the prompt; Ctrl-E)',
  ledger: '(none; a file whose ## Clarify items must be ticked before it runs)',
};

/** Opens a field of several lines in the person's editor; for any other field the prompt. */
function editField(state: State, overlay: NewTaskForm, focused: Field): StateTransition {
  const field = isEditorField(focused) ? focused : 'prompt';
  return transitionTo(state, {
    do: 'edit',
    text: field === 'prompt' ? overlay.prompt.value : overlay[field],
    name: `${field}.md`,
    onEdited(now, edited) {
      if (now.overlay?.kind !== 'new-task') return transitionTo(now);
      const text = edited.trimEnd();
      const change = field === 'prompt' ? { prompt: createInput(text) } : { [field]: text };
      return transitionTo({ ...now, overlay: { ...now.overlay, ...change } });
    },
  });
}

const hasText = ({ title, prompt, base, timeout, criteria, context, ledger }: NewTaskForm): boolean =>
  [title, prompt, base, timeout, ledger].some(({ value }) => value !== '') ||
  criteria !== '' ||
  context !== '';

/** Closes the form. Its text comes back when it is opened again. */
const leaveForm = (state: State, overlay: NewTaskForm): StateTransition => {
  const closed = { ...state, overlay: null };
  return transitionTo(
    hasText(overlay)
      ? showMessage({ ...closed, draft: overlay }, 'your text is kept: n brings it back')
      : closed,
  );
};

export function handleNewTaskKey(state: State, overlay: NewTaskForm, key: string): StateTransition {
  const changeNewTask = (change: Partial<NewTaskForm>): StateTransition =>
    transitionTo({ ...state, overlay: { ...overlay, ...change } });
  const goBy = (by: number): StateTransition =>
    changeNewTask({ field: clampNumber(overlay.field + by, 0, FIELDS.length - 1) });
  const field = FIELDS[overlay.field]!;
  if (key === 'esc') return leaveForm(state, overlay);
  if (key === 'ctrl+s') return createNewTask(state);
  if (key === 'tab') return changeNewTask({ field: rotateIndex(overlay.field, 1, FIELDS.length) });
  if (key === 'shift+tab') return changeNewTask({ field: rotateIndex(overlay.field, -1, FIELDS.length) });
  if (field === 'prompt') {
    const prompt = editText(overlay.prompt, key);
    if (prompt !== null) return changeNewTask({ prompt });
  }
  if (key === 'ctrl+e') return editField(state, overlay, field);
  if (key === 'up') return goBy(-1);
  if (key === 'down') return goBy(1);
  if (key === 'enter') return overlay.field === FIELDS.length - 1 ? createNewTask(state) : goBy(1);
  return changeField(state, overlay, field, key);
}

/** Types into a field of one line, or chooses in the others. */
function changeField(state: State, overlay: NewTaskForm, field: Field, key: string): StateTransition {
  const { agents, templates, projects } = state.data.choices!;
  const by = key === 'right' || key === 'space' ? 1 : key === 'left' ? -1 : 0;
  const change = ((): Partial<NewTaskForm> | null => {
    if (field === 'who') return { who: rotateIndex(overlay.who, by, agents.length + templates.length) };
    if (field === 'priority') return { priority: rotateIndex(overlay.priority, by, TASK_PRIORITIES.length) };
    if (field === 'project') return { project: rotateIndex(overlay.project, by, projects.length) };
    const line = isLineField(field) ? editInput(overlay[field], key) : null;
    return line === null ? null : { [field]: line };
  })();
  return transitionTo(change === null ? state : { ...state, overlay: { ...overlay, ...change } });
}

/** Inserts typed or pasted text into the focused field. Fields of several lines keep its line breaks. */
export function insertInNewTask(state: State, overlay: NewTaskForm, text: string): State {
  const field = FIELDS[overlay.field]!;
  if (field === 'prompt')
    return { ...state, overlay: { ...overlay, prompt: insertLines(overlay.prompt, text) } };
  if (isLineField(field))
    return { ...state, overlay: { ...overlay, [field]: insertText(overlay[field], text) } };
  return isEditorField(field)
    ? { ...state, overlay: { ...overlay, [field]: overlay[field] + splitCleanLines(text).join('\n') } }
    : state;
}

function describeAssignee(state: State, { who }: NewTaskForm): string {
  const { agents, templates } = state.data.choices!;
  const agent = agents[who];
  if (agent !== undefined) return `agent ${agent.id}${agent.installed ? '' : ' (not installed)'}`;
  const template = templates[who - agents.length];
  return `template ${template?.id} (${template?.agent ?? 'no agent'})`;
}

/** The lines of the prompt around the caret, at most `rows`. */
function renderPromptLines(
  input: NewTaskForm['prompt'],
  isFocused: boolean,
  cells: number,
  rows: number,
): StyledLine[] {
  const text = isFocused ? showCaret(input) : input.value;
  const lines = splitCleanLines(text).flatMap((line) => wrapText(line, cells - 4));
  const at = isFocused ? lines.findIndex((line) => line.includes('▏')) : 0;
  const top = clampNumber(at - rows + 1, 0, Math.max(0, lines.length - rows));
  return lines.slice(top, top + rows).map((line) => [span('  │ ', 'border'), span(line)]);
}

/** Renders the form. The prompt has the rows that the other fields leave. */
export function renderNewTaskLines(
  state: State,
  overlay: NewTaskForm,
  { cells, rows }: { cells: number; rows: number },
): StyledLine[] {
  const project = state.data.choices!.projects[overlay.project];
  const place =
    project === undefined || project.own ? state.link.workspace : `${project.id} (${project.folder})`;
  const isFocused = (name: Field): boolean => FIELDS[overlay.field] === name;
  const renderField = (name: Field, text: string): StyledLine => renderFormField(name, text, isFocused(name));
  const renderLine = (name: LineField): StyledLine =>
    renderField(
      name,
      isFocused(name)
        ? showCaret(overlay[name])
        : overlay[name].value || (name === 'title' ? '' : HINTS[name]),
    );
  const renderEditorField = (name: EditorField): StyledLine[] =>
    overlay[name] === ''
      ? [renderField(name, HINTS[name])]
      : [renderField(name, ''), ...renderEditorText(overlay[name], cells).slice(0, 3)];
  const below: StyledLine[] = [
    renderField('who', `◂ ${describeAssignee(state, overlay)} ▸`),
    renderLine('base'),
    renderField('priority', `◂ ${TASK_PRIORITIES[overlay.priority]} ▸`),
    renderLine('timeout'),
    renderField('project', `◂ ${place} ▸`),
    ...renderEditorField('criteria'),
    ...renderEditorField('context'),
    renderLine('ledger'),
  ];
  const isEmpty = overlay.prompt.value === '' && !isFocused('prompt');
  const room = Math.max(1, rows - below.length - 2);
  const prompt = isEmpty ? [] : renderPromptLines(overlay.prompt, isFocused('prompt'), cells, room);
  const all = [renderLine('title'), renderField('prompt', isEmpty ? HINTS.prompt : ''), ...prompt, ...below];
  // On a very small screen the focused field stays visible.
  const at = all.findIndex((line) => line[0]?.text.startsWith('▶'));
  return all.slice(clampNumber(at - rows + 2, 0, Math.max(0, all.length - rows)));
}
