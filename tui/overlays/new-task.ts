import { type Step, step } from '../acts/step.ts';
import { addTask } from '../acts/tasks.ts';
import { edited, insert } from '../state/input.ts';
import type { NewTask, State } from '../state/model.ts';
import { cleanLines, fill, wrap } from '../text.ts';
import { type Line, span } from '../theme.ts';

const FIELDS = ['who', 'project', 'title', 'prompt'] as const;

const turn = (at: number, by: number, count: number): number => (count === 0 ? 0 : (at + by + count) % count);

const editPrompt = (state: State, overlay: NewTask): Step =>
  step(state, {
    do: 'edit',
    text: overlay.prompt,
    name: 'prompt.md',
    after: (now, text) =>
      step(
        now.overlay?.kind === 'new-task'
          ? { ...now, overlay: { ...now.overlay, prompt: text.trimEnd() } }
          : now,
      ),
  });

export function pressInNewTask(state: State, overlay: NewTask, key: string): Step {
  const { agents, templates, projects } = state.data.choices!;
  const put = (change: Partial<NewTask>): Step => step({ ...state, overlay: { ...overlay, ...change } });
  const field = FIELDS[overlay.field];
  if (key === 'esc') return step({ ...state, overlay: null });
  if (key === 'ctrl+e' || (key === 'enter' && field === 'prompt' && overlay.prompt === ''))
    return editPrompt(state, overlay);
  if (key === 'enter') return addTask(state);
  if (key === 'tab' || key === 'down') return put({ field: turn(overlay.field, 1, FIELDS.length) });
  if (key === 'shift+tab' || key === 'up') return put({ field: turn(overlay.field, -1, FIELDS.length) });
  const by = key === 'right' || key === 'space' ? 1 : key === 'left' ? -1 : 0;
  if (field === 'who') return put({ who: turn(overlay.who, by, agents.length + templates.length) });
  if (field === 'project') return put({ project: turn(overlay.project, by, projects.length) });
  if (field !== 'title') return step(state);
  const title = edited(overlay.title, key);
  return title === null ? step(state) : put({ title });
}

/** Typed or pasted text goes to the field that has the caret; a prompt may have lines. */
export function typeInNewTask(state: State, overlay: NewTask, text: string): State {
  const field = FIELDS[overlay.field];
  if (field === 'title') return { ...state, overlay: { ...overlay, title: insert(overlay.title, text) } };
  return field === 'prompt'
    ? { ...state, overlay: { ...overlay, prompt: overlay.prompt + cleanLines(text).join('\n') } }
    : state;
}

export function newTaskLines(state: State, overlay: NewTask, cells: number): Line[] {
  const { agents, templates, projects } = state.data.choices!;
  const agent = agents[overlay.who];
  const template = templates[overlay.who - agents.length];
  const who =
    agent !== undefined
      ? `agent ${agent.id}${agent.installed ? '' : ' (not installed)'}`
      : `template ${template?.id} (${template?.agent ?? 'no agent'})`;
  const project = projects[overlay.project];
  const { value, caret } = overlay.title;
  const row = (index: number, name: string, text: string): Line => {
    const isHere = overlay.field === index;
    return [
      span(`${isHere ? '▶' : ' '} ${fill(name, 9)}`, isHere ? 'key' : 'dim'),
      span(text, isHere ? 'marked' : undefined),
    ];
  };
  const prompt =
    overlay.prompt === '' ? ['(none; Enter here, or Ctrl-E, opens your editor)'] : cleanLines(overlay.prompt);
  return [
    row(0, 'who', `◂ ${who} ▸`),
    row(
      1,
      'project',
      `◂ ${project === undefined || project.own ? state.link.workspace : `${project.id} (${project.folder})`} ▸`,
    ),
    row(2, 'title', overlay.field === 2 ? `${value.slice(0, caret)}▏${value.slice(caret)}` : value),
    row(3, 'prompt', ''),
    ...prompt.flatMap((line) =>
      wrap(line, cells - 4).map((part): Line => [span('  │ ', 'border'), span(part)]),
    ),
    [],
    [span('  This creates a task and spends nothing. Running it is asked for apart.', 'dim')],
  ];
}
