import { type Step, step } from '../actions/transition.ts';
import { layoutOf, PREVIEW_EDGE } from '../layout/layout.ts';
import { insert, isText } from '../state/input.ts';
import type { Overlay, State } from '../state/model.ts';
import { wrap } from '../text/text.ts';
import { type Line, span } from '../text/theme.ts';
import { answerView, pressInAnswer, takesDigit, typeInAnswer } from './answer-ask.ts';
import { isLine, pressInLine, withInput } from './bottom-line.ts';
import { agentLines, pressInAgents } from './choose-agent.ts';
import { engineLines } from './engine-status.ts';
import { finderLines, pressInFinder, withQuery } from './key-finder.ts';
import { newTaskLines, pressInNewTask, typeInNewTask } from './new-task.ts';
import { pressInWrite, typeInWrite, writeLines } from './write-message.ts';

/** A key while an overlay has the keyboard. */
export function pressInOverlay(state: State, overlay: Overlay, key: string, at: number): Step {
  if (isLine(overlay)) return pressInLine(state, overlay, key);
  switch (overlay.kind) {
    case 'help':
    case 'palette':
      return pressInFinder(state, overlay, key, at);
    case 'agent':
      return pressInAgents(state, overlay, key);
    case 'new-task':
      return pressInNewTask(state, overlay, key);
    case 'answer':
      return pressInAnswer(state, overlay, key, at);
    case 'write':
      return pressInWrite(state, overlay, key);
    case 'text':
    case 'engine': {
      const { top } = overlay;
      const cells = state.size.columns - 4;
      const last = textOf(state, overlay, cells).length - (layoutOf(state).body - PREVIEW_EDGE);
      if (key === 'j' || key === 'down')
        return step({ ...state, overlay: { ...overlay, top: Math.max(top, Math.min(top + 1, last)) } });
      if (key === 'k' || key === 'up')
        return step({ ...state, overlay: { ...overlay, top: Math.max(0, Math.min(top, last) - 1) } });
      return step(['esc', 'enter', 'q', 'i'].includes(key) ? { ...state, overlay: null } : state);
    }
  }
}

/** All lines of an overlay that is only read. */
const textOf = (state: State, overlay: Overlay & { kind: 'text' | 'engine' }, cells: number): Line[] =>
  overlay.kind === 'engine'
    ? engineLines(state, cells)
    : overlay.lines.flatMap((line) => wrap(line, cells).map((part): Line => [span(part)]));

/** Several characters at once, typed fast or pasted: text for whoever takes text, nothing for all others. */
export function typeInOverlay(state: State, overlay: Overlay, text: string): State {
  if (isLine(overlay)) return withInput(state, overlay, insert(overlay.input, text));
  if (overlay.kind === 'help' || overlay.kind === 'palette')
    return withQuery(state, overlay, insert(overlay.input, text));
  switch (overlay.kind) {
    case 'new-task':
      return typeInNewTask(state, overlay, text);
    case 'answer':
      return typeInAnswer(state, overlay, text);
    case 'write':
      return typeInWrite(state, overlay, text);
    default:
      return state;
  }
}

/** Keys that came together while an overlay has the keyboard. None of them is a person's Enter, or a person's choice. */
export function burstInOverlay(state: State, overlay: Overlay, keys: readonly string[], at: number): Step {
  const text = keys
    .filter((key) => isText(key) || key === 'space')
    .map((key) => (key === 'space' ? ' ' : key));
  if (text.length === keys.length) return step(typeInOverlay(state, overlay, text.join('')));
  const choosesByKey = overlay.kind === 'answer' && takesDigit(overlay.ask);
  return keys
    .filter((key) => key !== 'enter' && !(choosesByKey && isText(key)))
    .reduce<Step>(
      (sofar, key) =>
        sofar.state.overlay === null ? sofar : pressInOverlay(sofar.state, sofar.state.overlay, key, at),
      step(state),
    );
}

/** What an overlay shows in a frame of its own, and its keys; null for those that live on the bottom line. */
export function overlayView(
  state: State,
  overlay: Overlay,
  { cells, rows }: { cells: number; rows: number },
): { title: string; note?: string; lines: Line[]; keys: string } | null {
  switch (overlay.kind) {
    case 'help':
    case 'palette': {
      const { value, caret } = overlay.input;
      const query: Line = [span('> ', 'key'), span(`${value.slice(0, caret)}▏${value.slice(caret)}`)];
      return {
        title: overlay.kind === 'help' ? 'Help' : 'Commands',
        note: 'type to search, Enter runs',
        lines: [query, [], ...finderLines(state, overlay, cells, Math.max(1, rows - 2))],
        keys: '↑ ↓ choose  Enter run  Esc close',
      };
    }
    case 'agent':
      return {
        title: `Agent for ${overlay.task}`,
        lines: agentLines(state, overlay, cells, rows),
        keys: '↑ ↓ choose  Enter assign (nothing runs yet)  Esc leave it',
      };
    case 'new-task':
      return {
        title: 'New task',
        lines: newTaskLines(state, overlay, cells),
        keys: '←→ choose  Tab next  Ctrl-E editor  Enter create  Esc drop it',
      };
    case 'answer':
      return answerView(state, overlay, { cells, rows });
    case 'write':
      return {
        title: overlay.parent === null ? 'New message' : `Reply to ${overlay.parent.message_id}`,
        lines: writeLines(overlay, cells),
        keys: '←→ choose  Tab next  Ctrl-E editor  Enter send  Esc drop it',
      };
    case 'text':
    case 'engine': {
      const lines = textOf(state, overlay, cells);
      const below = lines.length - overlay.top - rows;
      return {
        title: overlay.kind === 'engine' ? 'Engine' : overlay.title,
        ...(below > 0 ? { note: `▼ ${below} more` } : {}),
        lines: lines.slice(overlay.top, overlay.top + rows),
        keys: '↑ ↓ scroll  Esc close',
      };
    }
    case 'filter':
    case 'search':
    case 'reason':
    case 'unconfined':
      return null;
  }
}
