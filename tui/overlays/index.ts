import { type StateTransition, transitionTo } from '../actions/transition.ts';
import { getLayout, PREVIEW_EDGE } from '../layout/layout.ts';
import { renderImpactLines } from '../panes/impact-lines.ts';
import { insertText, isCharacterKey, showCaret } from '../state/input.ts';
import type { State } from '../state/model.ts';
import type { OverlayState } from '../state/overlays.ts';
import { wrapText } from '../text/text.ts';
import { type StyledLine, span } from '../text/theme.ts';
import { handleAnswerKey, insertInAnswer, isAnsweredByDigit, renderAnswer } from './answer-ask.ts';
import { handleLineKey, insertInLine, isLineOverlay } from './bottom-line.ts';
import { handleBulkKey, renderBulkQuestion } from './bulk-question.ts';
import { handleAgentKey, renderAgentLines } from './choose-agent.ts';
import { handleCommandKey, renderCommandLines } from './choose-command.ts';
import { handleRacersKey, renderRacers } from './choose-racers.ts';
import { handleCompareKey, MOVES_IN_COMPARE, renderCompare } from './compare-race.ts';
import { renderEngineLines } from './engine-status.ts';
import { handleFollowUpKey, renderFollowUp } from './follow-up.ts';
import { handleFinderKey, renderFinderLines, setFinderQuery } from './key-finder.ts';
import { handleNewTaskKey, insertInNewTask, renderNewTaskLines } from './new-task.ts';
import { handlePreferencesKey, renderPreferences } from './preferences.ts';
import { handlePullRequestKey, renderPullRequest } from './pull-request.ts';
import { handleMessageKey, insertInMessage, renderMessageForm } from './write-message.ts';

/** Handles a key while an overlay has the keyboard. */
export function handleOverlayKey(
  state: State,
  overlay: OverlayState,
  key: string,
  at: number,
): StateTransition {
  if (isLineOverlay(overlay)) return handleLineKey(state, overlay, key);
  switch (overlay.kind) {
    case 'help':
    case 'palette':
      return handleFinderKey(state, overlay, key, at);
    case 'agent':
      return handleAgentKey(state, overlay, key);
    case 'command':
      return handleCommandKey(state, overlay, key);
    case 'new-task':
      return handleNewTaskKey(state, overlay, key);
    case 'answer':
      return handleAnswerKey(state, overlay, key, at);
    case 'write':
      return handleMessageKey(state, overlay, key);
    case 'preferences':
      return handlePreferencesKey(state, overlay, key);
    case 'bulk':
      return handleBulkKey(state, overlay, key, at);
    case 'follow-up':
      return handleFollowUpKey(state, overlay, key, at);
    case 'race':
      return handleRacersKey(state, overlay, key, at);
    case 'compare':
      return handleCompareKey(state, overlay, key, at);
    case 'pull-request':
      return handlePullRequestKey(state, overlay, key, at);
    case 'text':
    case 'impact':
    case 'engine': {
      const { top } = overlay;
      const cells = state.size.columns - 4;
      const last = renderReadOnlyLines(state, overlay, cells).length - (getLayout(state).body - PREVIEW_EDGE);
      if (key === 'j' || key === 'down')
        return transitionTo({
          ...state,
          overlay: { ...overlay, top: Math.max(top, Math.min(top + 1, last)) },
        });
      if (key === 'k' || key === 'up')
        return transitionTo({ ...state, overlay: { ...overlay, top: Math.max(0, Math.min(top, last) - 1) } });
      return transitionTo(
        ['esc', 'enter', 'q', 'i', 'I'].includes(key) ? { ...state, overlay: null } : state,
      );
    }
  }
}

type ReadOnlyKind = 'text' | 'impact' | 'engine';
type ReadOnly = OverlayState & { kind: ReadOnlyKind };

/** Overlays without input: their titles, and all of their lines. */
const READ_ONLY: {
  [K in ReadOnlyKind]: {
    title(overlay: OverlayState & { kind: K }): string;
    render(state: State, overlay: OverlayState & { kind: K }, cells: number): StyledLine[];
  };
} = {
  engine: { title: () => 'Engine', render: (state, _, cells) => renderEngineLines(state, cells) },
  impact: {
    title: ({ session }) => `Impact of ${session}`,
    render: (state, { session }, cells) => renderImpactLines(state, session, cells),
  },
  text: {
    title: ({ title }) => title,
    render: (_, { lines }, cells) =>
      lines.flatMap((line) => wrapText(line, cells).map((part): StyledLine => [span(part)])),
  },
};

const renderReadOnlyLines = (state: State, overlay: ReadOnly, cells: number): StyledLine[] =>
  READ_ONLY[overlay.kind].render(state, overlay as never, cells);

/** Inserts characters that arrived together, typed fast or pasted. Overlays without a text field ignore them. */
export function insertInOverlay(state: State, overlay: OverlayState, text: string): State {
  if (isLineOverlay(overlay)) return insertInLine(state, overlay, text);
  if (overlay.kind === 'help' || overlay.kind === 'palette')
    return setFinderQuery(state, overlay, insertText(overlay.input, text));
  switch (overlay.kind) {
    case 'new-task':
      return insertInNewTask(state, overlay, text);
    case 'answer':
      return insertInAnswer(state, overlay, text);
    case 'write':
      return insertInMessage(state, overlay, text);
    default:
      return state;
  }
}

/** Reports whether letters are text in an overlay, not commands. */
export const takesText = (overlay: OverlayState): boolean =>
  isLineOverlay(overlay) || ['help', 'palette', 'new-task', 'answer', 'write'].includes(overlay.kind);

/** Reports whether a single key would do something in the overlay other than moving or typing. */
function choosesBy(overlay: OverlayState, key: string): boolean {
  if (overlay.kind === 'answer') return isAnsweredByDigit(overlay.ask) && isCharacterKey(key);
  if (overlay.kind === 'compare') return !MOVES_IN_COMPARE.test(key);
  if (overlay.kind === 'command') return key === 'x';
  return (overlay.kind === 'race' || overlay.kind === 'pull-request') && isCharacterKey(key);
}

/** Handles keys that arrived together. Enter and single-key choices are dropped: no person meant them. */
export function handleOverlayBurst(
  state: State,
  overlay: OverlayState,
  keys: readonly string[],
  at: number,
): StateTransition {
  const text = keys
    .filter((key) => isCharacterKey(key) || key === 'space')
    .map((key) => (key === 'space' ? ' ' : key));
  if (text.length === keys.length && overlay.kind !== 'compare')
    return transitionTo(insertInOverlay(state, overlay, text.join('')));
  return keys
    .filter((key) => key !== 'enter' && !choosesBy(overlay, key))
    .reduce<StateTransition>(
      (sofar, key) =>
        sofar.state.overlay === null ? sofar : handleOverlayKey(sofar.state, sofar.state.overlay, key, at),
      transitionTo(state),
    );
}

/** Renders an overlay in a frame, with its keys; null for overlays on the bottom line. */
export function renderOverlay(
  state: State,
  overlay: OverlayState,
  { cells, rows }: { cells: number; rows: number },
): { title: string; note?: string; lines: StyledLine[]; keys: string } | null {
  switch (overlay.kind) {
    case 'help':
    case 'palette': {
      const query: StyledLine = [span('> ', 'key'), span(showCaret(overlay.input))];
      return {
        title: overlay.kind === 'help' ? 'Help' : 'Commands',
        note: 'type to search, Enter runs',
        lines: [query, [], ...renderFinderLines(state, overlay, cells, Math.max(1, rows - 2))],
        keys: '↑ ↓ choose  Enter run  Esc close',
      };
    }
    case 'agent':
      return {
        title: `Agent for ${overlay.task}`,
        lines: renderAgentLines(state, overlay, cells, rows),
        keys: '↑ ↓ choose  Enter assign (nothing runs yet)  Esc cancel',
      };
    case 'command':
      return {
        title: `Run in the worktree of ${overlay.task} ${overlay.session}`,
        note: 'it ends with the engine, and before the worktree is removed',
        lines: renderCommandLines(overlay, cells),
        keys: '↑ ↓ choose  Enter start, or show its log  x stop  Esc close',
      };
    case 'new-task':
      return {
        title: 'New task',
        note: 'creating it spends nothing; running it is asked next',
        lines: renderNewTaskLines(state, overlay, { cells, rows }),
        keys: 'Tab next  ←→ choose  Ctrl-E editor  Ctrl-S create  Esc close and keep the text',
      };
    case 'answer':
      return renderAnswer(state, overlay, { cells, rows });
    case 'write':
      return {
        title: overlay.parent === null ? 'New message' : `Reply to ${overlay.parent.id}`,
        lines: renderMessageForm(overlay, state.data.sessions, cells),
        keys: '←→ choose  Tab next  Ctrl-E editor  Enter send  Esc cancel',
      };
    case 'preferences':
      return {
        title: 'Preferences',
        note: 'stored in ui.yaml of the machine home',
        lines: renderPreferences(state, overlay, { cells, rows }),
        keys: '↑ ↓ choose  Enter change  Esc close',
      };
    case 'bulk':
      return renderBulkQuestion(state, overlay, { cells, rows });
    case 'text':
    case 'impact':
    case 'engine': {
      const lines = renderReadOnlyLines(state, overlay, cells);
      const below = lines.length - overlay.top - rows;
      return {
        title: READ_ONLY[overlay.kind].title(overlay as never),
        ...(below > 0 ? { note: `▼ ${below} more` } : {}),
        lines: lines.slice(overlay.top, overlay.top + rows),
        keys: '↑ ↓ scroll  Esc close',
      };
    }
    case 'follow-up':
      return renderFollowUp(overlay, { cells, rows });
    case 'race':
      return renderRacers(state, overlay, { cells, rows });
    case 'compare':
      return renderCompare(state, overlay, { cells, rows });
    case 'pull-request':
      return renderPullRequest(overlay, { cells, rows });
    case 'comment':
    case 'prompt':
    case 'memory':
    case 'filter':
    case 'search':
    case 'reason':
    case 'unconfined':
      return null;
  }
}
