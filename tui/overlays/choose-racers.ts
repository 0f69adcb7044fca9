import { formatCount } from '../../engine/core/base/text.ts';
import { listChosen, listRaceAgents, startRace } from '../actions/races.ts';
import { warnOfPrompt } from '../actions/tasks.ts';
import { type StateTransition, showMessage, transitionTo } from '../actions/transition.ts';
import { TOO_FAST_MS } from '../keymap/run-binding.ts';
import type { State } from '../state/model.ts';
import type { ChooseRacers } from '../state/overlays.ts';
import { cleanText, padText, wrapText } from '../text/text.ts';
import { type StyledLine, span } from '../text/theme.ts';

/** The most sessions that the engine accepts. */
const MOST = 16;

export function handleRacersKey(
  state: State,
  overlay: ChooseRacers,
  key: string,
  at: number,
): StateTransition {
  const agents = listRaceAgents(state);
  const changeChoice = (more: Partial<ChooseRacers>): StateTransition =>
    transitionTo({ ...state, overlay: { ...overlay, ...more } });
  if (overlay.askedAt !== null) {
    if (key !== 'y') return changeChoice({ askedAt: null });
    return at - overlay.askedAt < TOO_FAST_MS ? changeChoice({ askedAt: at }) : startRace(state, overlay);
  }
  const { index, counts } = overlay;
  const agent = agents[index];
  const setCount = (count: number): StateTransition => {
    if (agent === undefined) return transitionTo(state);
    if (!agent.installed) return transitionTo(showMessage(state, `${agent.id} is not installed here`));
    return changeChoice({ counts: { ...counts, [agent.id]: Math.max(0, Math.min(count, MOST)) } });
  };
  const count = counts[agent?.id ?? ''] ?? 0;
  switch (key) {
    case 'esc':
    case 'q':
      return transitionTo({ ...state, overlay: null });
    case 'up':
    case 'k':
      return changeChoice({ index: Math.max(0, index - 1) });
    case 'down':
    case 'j':
      return changeChoice({ index: Math.min(agents.length - 1, index + 1) });
    case 'space':
      return setCount(count === 0 ? 1 : 0);
    case '+':
    case 'right':
      return setCount(count + 1);
    case '-':
    case 'left':
      return setCount(count - 1);
    case 'enter': {
      const chosen = listChosen(state, overlay).length;
      return chosen >= 2 && chosen <= MOST
        ? changeChoice({ askedAt: at })
        : transitionTo(showMessage(state, `a race is for 2 to ${MOST}: Space chooses an agent, + once more`));
    }
    default:
      return transitionTo(state);
  }
}

export function renderRacers(
  state: State,
  overlay: ChooseRacers,
  { cells, rows }: { cells: number; rows: number },
): { title: string; lines: StyledLine[]; keys: string } {
  const agents = listRaceAgents(state);
  const chosen = listChosen(state, overlay);
  const question =
    overlay.askedAt === null
      ? []
      : wrapText(
          `${warnOfPrompt(state, overlay.task)}Race ${overlay.task} with ${chosen.join(', ')}? ${formatCount(chosen.length, 'session')} from the same commit, under one decision; each spends its agent's tokens. You promote one of them.`,
          cells,
        ).map((part): StyledLine => [span(part, 'question')]);
  const room = Math.max(1, rows - question.length - (question.length > 0 ? 1 : 0));
  const top = Math.max(0, Math.min(overlay.index - Math.floor(room / 2), agents.length - room));
  const lines = agents.slice(top, top + room).map((agent, offset): StyledLine => {
    const at = top + offset;
    const count = overlay.counts[agent.id] ?? 0;
    const box = count === 0 ? '[ ]' : count === 1 ? '[x]' : `[${count}]`;
    const text = cleanText(
      `${box} ${padText(agent.id, 12)} ${agent.installed ? 'installed    ' : 'not installed'}  ${agent.command}`,
    );
    return at === overlay.index
      ? [span(padText(`▶ ${text}`, cells), 'selected')]
      : [span(`  ${text}`, agent.installed ? undefined : 'dim')];
  });
  return {
    title: `Race ${overlay.task}`,
    lines: [...question, ...(question.length > 0 ? [[]] : []), ...lines],
    keys:
      overlay.askedAt === null
        ? 'Space choose  + once more  - once less  Enter race  Esc cancel'
        : 'y start (spends tokens)  Esc cancel',
  };
}
