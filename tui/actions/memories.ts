import { findMemoryEdits, writeMemoryText } from '../../engine/index.ts';
import type { State } from '../state/model.ts';
import type { WriteMemory } from '../state/overlays.ts';
import type { ListedMemory } from '../state/rows.ts';
import { cleanText, truncateText } from '../text/text.ts';
import { setFormAside } from './set-aside.ts';
import {
  callEngine,
  closeOverlay,
  type ScreenQuestion,
  type StateTransition,
  showMessage,
  transitionTo,
} from './transition.ts';

const QUOTED_CELLS = 48;

export function getSelectedMemory(state: State): ListedMemory | undefined {
  const { selected } = state.lists.memories;
  return selected === null ? undefined : state.data.memories?.memories.find((each) => each.id === selected);
}

export const checkIsSelected = (state: State): string | null =>
  getSelectedMemory(state) === undefined ? 'no memory is selected' : null;

export function checkCanKeep(state: State): string | null {
  const memory = getSelectedMemory(state);
  if (memory === undefined) return checkIsSelected(state);
  return memory.unreviewed === null && memory.against.length === 0 && memory.maybe_replaced_by === null
    ? `${memory.id} is already kept, and nothing contradicts it`
    : null;
}

const quoteTitle = ({ title }: ListedMemory): string => `"${truncateText(cleanText(title), QUOTED_CELLS)}"`;

export function askToKeep(state: State): ScreenQuestion {
  const memory = getSelectedMemory(state)!;
  const { id, against, unreviewed } = memory;
  const others = against.map((each) => each.id).join(', ');
  const isSettled = against.length > 0;
  return {
    subject: { kind: 'memory', id },
    text: `Keep ${id} ${quoteTitle(memory)}?${unreviewed === null ? '' : ' It may enter briefs.'}${isSettled ? ` It supersedes ${others}.` : ''}`,
    answers: [
      {
        key: 'y',
        label: 'keep',
        run: (now) =>
          isSettled
            ? callEngine(now, {
                operation: 'memory.settle',
                input: { id },
                busy: id,
                doing: `keeping ${id}`,
                describeAnswer: ({ superseded }) => `${id} supersedes ${superseded.join(', ')}`,
              })
            : callEngine(now, {
                operation: 'memory.keep',
                input: { id },
                busy: id,
                doing: `keeping ${id}`,
                describeAnswer: () => `${id} is kept`,
              }),
      },
    ],
  };
}

export function askToForget(state: State): ScreenQuestion {
  const memory = getSelectedMemory(state)!;
  const { id } = memory;
  return {
    subject: { kind: 'memory', id },
    text: `Forget ${id} ${quoteTitle(memory)}?`,
    answers: [
      {
        key: 'y',
        label: 'forget',
        run: (now) =>
          callEngine(now, {
            operation: 'memory.forget',
            input: { id },
            busy: id,
            doing: `forgetting ${id}`,
            describeAnswer: () => `${id} is forgotten; svc memory show ${id} still shows it`,
          }),
      },
    ],
  };
}

export function checkCanEdit(state: State): string | null {
  const memory = getSelectedMemory(state);
  if (memory === undefined) return checkIsSelected(state);
  return memory.text_chars > memory.text.length
    ? `it is too long for this list: svc memory edit ${memory.id}`
    : null;
}

/** Opens title and text in the person's editor. */
export function editMemory(state: State): StateTransition {
  const memory = getSelectedMemory(state)!;
  return editMemoryText(state, { kind: 'memory', memory, long: writeMemoryText(memory) });
}

/** Opens the editor for a memory; the edited text is saved. */
export const editMemoryText = (state: State, overlay: WriteMemory): StateTransition =>
  transitionTo(state, {
    do: 'edit',
    text: overlay.long,
    name: `${overlay.memory.id}.md`,
    onEdited: (now, text) => saveMemory(closeOverlay(now, overlay), { ...overlay, long: text }),
  });

/** Saves the text. */
export function saveMemory(state: State, overlay: WriteMemory): StateTransition {
  const { memory, long } = overlay;
  const { id } = memory;
  const edits = findMemoryEdits(memory, long);
  if (edits === null) return transitionTo(showMessage(state, `${id} is unchanged`));
  if (edits.title?.trim() === '' || edits.text?.trim() === '')
    return transitionTo(
      showMessage(setFormAside(state, overlay), `${id} is unchanged: it needs a title and a text`, 'bad'),
    );
  return callEngine(state, {
    operation: 'memory.edit',
    input: { id, ...edits },
    form: overlay,
    busy: id,
    doing: `saving ${id}`,
    describeAnswer: ({ memory: edit }) => `${edit.id} replaces ${id}`,
    onAnswer: (later, { memory: edit }) => ({ ...later, jump: { pane: 'memories', id: edit.id } }),
  });
}
