import { createNewTask } from '../actions/tasks.ts';
import { type StateTransition, transitionTo } from '../actions/transition.ts';
import { editInput, insertText, showCaret } from '../state/input.ts';
import type { State } from '../state/model.ts';
import { rotateIndex } from '../state/numbers.ts';
import type { NewTaskForm } from '../state/overlays.ts';
import { splitCleanLines } from '../text/text.ts';
import { type StyledLine, span } from '../text/theme.ts';
import { renderEditorText, renderFormField } from './form-field.ts';

const FIELDS = ['who', 'project', 'title', 'prompt', 'criteria', 'context', 'ledger'] as const;
type Field = (typeof FIELDS)[number];

/** Fields of one line, typed in the form. */
const isLineField = (field: Field | undefined): field is 'title' | 'ledger' =>
  field === 'title' || field === 'ledger';

/** Fields of several lines, written in the editor. */
const isEditorField = (field: Field | undefined): field is 'prompt' | 'criteria' | 'context' =>
  field === 'prompt' || field === 'criteria' || field === 'context';

const EDITOR_HINT = '(none; Enter here, or Ctrl-E, opens your editor)';
const EMPTY_HINTS: Readonly<Record<'prompt' | 'criteria' | 'context', string>> = {
  prompt: EDITOR_HINT,
  criteria: '(none; one per line: the worker reports each as met or not)',
  context: '(none; background for the worker, in addition to the prompt)',
};

const editField = (state: State, overlay: NewTaskForm, field: keyof typeof EMPTY_HINTS): StateTransition =>
  transitionTo(state, {
    do: 'edit',
    text: overlay[field],
    name: `${field}.md`,
    onEdited: (now, text) =>
      transitionTo(
        now.overlay?.kind === 'new-task'
          ? { ...now, overlay: { ...now.overlay, [field]: text.trimEnd() } }
          : now,
      ),
  });

export function handleNewTaskKey(state: State, overlay: NewTaskForm, key: string): StateTransition {
  const { agents, templates, projects } = state.data.choices!;
  const changeNewTask = (change: Partial<NewTaskForm>): StateTransition =>
    transitionTo({ ...state, overlay: { ...overlay, ...change } });
  const field = FIELDS[overlay.field];
  if (key === 'esc') return transitionTo({ ...state, overlay: null });
  if (key === 'ctrl+e') return editField(state, overlay, isEditorField(field) ? field : 'prompt');
  if (key === 'enter')
    return isEditorField(field) && overlay[field] === ''
      ? editField(state, overlay, field)
      : createNewTask(state);
  if (key === 'tab' || key === 'down')
    return changeNewTask({ field: rotateIndex(overlay.field, 1, FIELDS.length) });
  if (key === 'shift+tab' || key === 'up')
    return changeNewTask({ field: rotateIndex(overlay.field, -1, FIELDS.length) });
  const by = key === 'right' || key === 'space' ? 1 : key === 'left' ? -1 : 0;
  if (field === 'who')
    return changeNewTask({ who: rotateIndex(overlay.who, by, agents.length + templates.length) });
  if (field === 'project')
    return changeNewTask({ project: rotateIndex(overlay.project, by, projects.length) });
  if (!isLineField(field)) return transitionTo(state);
  const line = editInput(overlay[field], key);
  return line === null ? transitionTo(state) : changeNewTask({ [field]: line });
}

/** Inserts typed or pasted text into the focused field. Editor fields keep its line breaks. */
export function insertInNewTask(state: State, overlay: NewTaskForm, text: string): State {
  const field = FIELDS[overlay.field];
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

export function renderNewTaskLines(state: State, overlay: NewTaskForm, cells: number): StyledLine[] {
  const project = state.data.choices!.projects[overlay.project];
  const place =
    project === undefined || project.own ? state.link.workspace : `${project.id} (${project.folder})`;
  const isFocused = (name: Field): boolean => FIELDS[overlay.field] === name;
  const renderField = (name: Field, text: string): StyledLine => renderFormField(name, text, isFocused(name));
  const renderLineField = (name: 'title' | 'ledger', emptyHint: string): StyledLine =>
    renderField(name, isFocused(name) ? showCaret(overlay[name]) : overlay[name].value || emptyHint);
  const renderEditorField = (name: keyof typeof EMPTY_HINTS): StyledLine[] =>
    overlay[name] === ''
      ? [renderField(name, isFocused(name) ? EDITOR_HINT : EMPTY_HINTS[name])]
      : [renderField(name, ''), ...renderEditorText(overlay[name], cells)];
  return [
    renderField('who', `◂ ${describeAssignee(state, overlay)} ▸`),
    renderField('project', `◂ ${place} ▸`),
    renderLineField('title', ''),
    ...renderEditorField('prompt'),
    ...renderEditorField('criteria'),
    ...renderEditorField('context'),
    renderLineField('ledger', '(none; a file whose ## Clarify items must be ticked before it runs)'),
    [],
    [span('  This creates a task and spends nothing. Running it is a separate step.', 'dim')],
  ];
}
