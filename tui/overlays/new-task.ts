import { addTask } from '../actions/tasks.ts';
import { type Step, step } from '../actions/transition.ts';
import { edited, insert } from '../state/input.ts';
import type { NewTask, State } from '../state/model.ts';
import { cleanLines, fill, wrap } from '../text/text.ts';
import { type Line, span } from '../text/theme.ts';

const FIELDS = ['who', 'project', 'title', 'prompt', 'criteria', 'context', 'ledger'] as const;
type Field = (typeof FIELDS)[number];

/** One line, typed here. */
const isLine = (field: Field | undefined): field is 'title' | 'ledger' =>
  field === 'title' || field === 'ledger';

/** Several lines, from the editor. */
const isText = (field: Field | undefined): field is 'prompt' | 'criteria' | 'context' =>
  field === 'prompt' || field === 'criteria' || field === 'context';

const EDITOR = '(none; Enter here, or Ctrl-E, opens your editor)';
const EMPTY: Readonly<Record<'prompt' | 'criteria' | 'context', string>> = {
  prompt: EDITOR,
  criteria: '(none; one per line: the worker reports each as met or not)',
  context: '(none; what the worker should know beside the prompt)',
};

const turn = (at: number, by: number, count: number): number => (count === 0 ? 0 : (at + by + count) % count);

const edit = (state: State, overlay: NewTask, field: keyof typeof EMPTY): Step =>
  step(state, {
    do: 'edit',
    text: overlay[field],
    name: `${field}.md`,
    after: (now, text) =>
      step(
        now.overlay?.kind === 'new-task'
          ? { ...now, overlay: { ...now.overlay, [field]: text.trimEnd() } }
          : now,
      ),
  });

export function pressInNewTask(state: State, overlay: NewTask, key: string): Step {
  const { agents, templates, projects } = state.data.choices!;
  const put = (change: Partial<NewTask>): Step => step({ ...state, overlay: { ...overlay, ...change } });
  const field = FIELDS[overlay.field];
  if (key === 'esc') return step({ ...state, overlay: null });
  if (key === 'ctrl+e') return edit(state, overlay, isText(field) ? field : 'prompt');
  if (key === 'enter')
    return isText(field) && overlay[field] === '' ? edit(state, overlay, field) : addTask(state);
  if (key === 'tab' || key === 'down') return put({ field: turn(overlay.field, 1, FIELDS.length) });
  if (key === 'shift+tab' || key === 'up') return put({ field: turn(overlay.field, -1, FIELDS.length) });
  const by = key === 'right' || key === 'space' ? 1 : key === 'left' ? -1 : 0;
  if (field === 'who') return put({ who: turn(overlay.who, by, agents.length + templates.length) });
  if (field === 'project') return put({ project: turn(overlay.project, by, projects.length) });
  if (!isLine(field)) return step(state);
  const line = edited(overlay[field], key);
  return line === null ? step(state) : put({ [field]: line });
}

/** Typed or pasted text goes to the field that has the caret; a prompt may have lines. */
export function typeInNewTask(state: State, overlay: NewTask, text: string): State {
  const field = FIELDS[overlay.field];
  if (isLine(field)) return { ...state, overlay: { ...overlay, [field]: insert(overlay[field], text) } };
  return isText(field)
    ? { ...state, overlay: { ...overlay, [field]: overlay[field] + cleanLines(text).join('\n') } }
    : state;
}

function whoOf(state: State, { who }: NewTask): string {
  const { agents, templates } = state.data.choices!;
  const agent = agents[who];
  if (agent !== undefined) return `agent ${agent.id}${agent.installed ? '' : ' (not installed)'}`;
  const template = templates[who - agents.length];
  return `template ${template?.id} (${template?.agent ?? 'no agent'})`;
}

export function newTaskLines(state: State, overlay: NewTask, cells: number): Line[] {
  const project = state.data.choices!.projects[overlay.project];
  const place =
    project === undefined || project.own ? state.link.workspace : `${project.id} (${project.folder})`;
  const row = (name: Field, text: string): Line => {
    const isHere = FIELDS[overlay.field] === name;
    return [
      span(`${isHere ? '▶' : ' '} ${fill(name, 9)}`, isHere ? 'key' : 'dim'),
      span(text, isHere ? 'marked' : undefined),
    ];
  };
  const line = (name: 'title' | 'ledger', empty: string): Line => {
    const { value, caret } = overlay[name];
    const isHere = FIELDS[overlay.field] === name;
    return row(
      name,
      isHere ? `${value.slice(0, caret)}▏${value.slice(caret)}` : value === '' ? empty : value,
    );
  };
  const text = (name: keyof typeof EMPTY): Line[] =>
    overlay[name] === ''
      ? [row(name, FIELDS[overlay.field] === name ? EDITOR : EMPTY[name])]
      : [
          row(name, ''),
          ...cleanLines(overlay[name]).flatMap((each) =>
            wrap(each, cells - 4).map((part): Line => [span('  │ ', 'border'), span(part)]),
          ),
        ];
  return [
    row('who', `◂ ${whoOf(state, overlay)} ▸`),
    row('project', `◂ ${place} ▸`),
    line('title', ''),
    ...text('prompt'),
    ...text('criteria'),
    ...text('context'),
    line('ledger', '(none; a file whose ## Clarify items must be ticked before it runs)'),
    [],
    [span('  This creates a task and spends nothing. Running it is asked for apart.', 'dim')],
  ];
}
